#include "subjects/priority_queue.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::fire<bench::bare_priority_queue>)->Name("fire/bare/priority_queue")->Apply(bench::up_to_a_million);
BENCHMARK(bench::fire<bench::threaded_priority_queue>)
    ->Name("fire/timer/priority_queue")
    ->Apply(bench::up_to_a_million);
BENCHMARK(bench::fire<bench::threaded_priority_queue_slab>)
    ->Name("fire/timer/priority_queue_slab")
    ->Apply(bench::up_to_a_million);
