#include "support/sandglass.hpp"

BENCHMARK(bench::renew<bench::bare_wheel>)->Name("W3_renew/bare/sandglass")->Apply(bench::configure);
BENCHMARK(bench::renew<bench::queue_on_own_loop>)->Name("W3_renew/timer/sandglass_queue")->Apply(bench::configure);
BENCHMARK(bench::renew<bench::threaded_wheel>)->Name("W3_renew/timer/sandglass")->Apply(bench::configure);
