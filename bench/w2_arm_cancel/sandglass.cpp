#include "support/sandglass.hpp"

BENCHMARK(bench::arm_cancel<bench::bare_wheel>)->Name("W2_arm_cancel/bare/sandglass")->Apply(bench::configure);
BENCHMARK(bench::arm_cancel<bench::queue_on_own_loop>)
    ->Name("W2_arm_cancel/timer/sandglass_queue")
    ->Apply(bench::configure);
BENCHMARK(bench::arm_cancel<bench::threaded_wheel>)->Name("W2_arm_cancel/timer/sandglass")->Apply(bench::configure);
