#include "subjects/sandglass.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::renew<bench::bare_wheel>)->Name("renew/bare/sandglass")->Apply(bench::every_size);
BENCHMARK(bench::renew<bench::queue_in_loop>)->Name("renew/loop/sandglass")->Apply(bench::every_size);
BENCHMARK(bench::renew<bench::threaded_wheel>)->Name("renew/timer/sandglass")->Apply(bench::every_size);
BENCHMARK(bench::renew<bench::pooled_wheel>)->Name("renew/timer/sandglass_pool")->Apply(bench::up_to_a_million);
