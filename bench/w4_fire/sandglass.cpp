#include "support/sandglass.hpp"

BENCHMARK(bench::fire<bench::bare_wheel>)->Name("W4_fire/bare/sandglass")->Apply(bench::configure);
BENCHMARK(bench::fire<bench::queue_on_own_loop>)->Name("W4_fire/timer/sandglass_queue")->Apply(bench::configure);
BENCHMARK(bench::fire<bench::threaded_wheel>)->Name("W4_fire/timer/sandglass")->Apply(bench::configure);
