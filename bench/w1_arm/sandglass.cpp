#include "support/sandglass.hpp"

BENCHMARK(bench::arm<bench::bare_wheel>)->Name("W1_arm/bare/sandglass")->Apply(bench::configure);
BENCHMARK(bench::arm<bench::queue_on_own_loop>)->Name("W1_arm/timer/sandglass_queue")->Apply(bench::configure);
BENCHMARK(bench::arm<bench::threaded_wheel>)->Name("W1_arm/timer/sandglass")->Apply(bench::configure);
