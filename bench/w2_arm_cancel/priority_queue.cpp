#include "subjects/priority_queue.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm_cancel<bench::bare_priority_queue>)
    ->Name("arm_cancel/bare/priority_queue")
    ->Apply(bench::every_size);
BENCHMARK(bench::arm_cancel<bench::threaded_priority_queue>)
    ->Name("arm_cancel/timer/priority_queue")
    ->Apply(bench::every_size);
BENCHMARK(bench::arm_cancel<bench::threaded_priority_queue_slab>)
    ->Name("arm_cancel/timer/priority_queue_slab")
    ->Apply(bench::up_to_a_million);
