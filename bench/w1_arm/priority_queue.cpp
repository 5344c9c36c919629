#include "subjects/priority_queue.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm<bench::bare_priority_queue>)->Name("arm/bare/priority_queue")->Apply(bench::every_size);
BENCHMARK(bench::arm<bench::threaded_priority_queue>)->Name("arm/timer/priority_queue")->Apply(bench::every_size);
BENCHMARK(bench::arm<bench::threaded_priority_queue_slab>)
    ->Name("arm/timer/priority_queue_slab")
    ->Apply(bench::up_to_a_million);
