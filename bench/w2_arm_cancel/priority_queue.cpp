#include "support/priority_queue.hpp"

BENCHMARK(bench::arm_cancel<bench::bare_priority_queue>)
    ->Name("W2_arm_cancel/bare/priority_queue")
    ->Apply(bench::configure);
BENCHMARK(bench::arm_cancel<bench::threaded_priority_queue>)
    ->Name("W2_arm_cancel/timer/priority_queue")
    ->Apply(bench::configure);
