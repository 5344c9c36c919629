#include "subjects/sandglass.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm<bench::bare_wheel>)->Name("arm/bare/sandglass")->Apply(bench::every_size);
BENCHMARK(bench::arm<bench::queue_in_loop>)->Name("arm/loop/sandglass")->Apply(bench::every_size);
BENCHMARK(bench::arm<bench::threaded_wheel>)->Name("arm/timer/sandglass")->Apply(bench::every_size);
BENCHMARK(bench::arm<bench::pooled_wheel>)->Name("arm/timer/sandglass_pool")->Apply(bench::up_to_a_million);
