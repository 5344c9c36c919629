#include "subjects/priority_queue.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::renew<bench::bare_priority_queue>)->Name("renew/bare/priority_queue")->Apply(bench::every_size);
BENCHMARK(bench::renew<bench::threaded_priority_queue>)->Name("renew/timer/priority_queue")->Apply(bench::every_size);
BENCHMARK(bench::renew<bench::threaded_priority_queue_slab>)
    ->Name("renew/timer/priority_queue_slab")
    ->Apply(bench::up_to_a_million);
