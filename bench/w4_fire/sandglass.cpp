#include "subjects/sandglass.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::fire<bench::bare_wheel>)->Name("fire/bare/sandglass")->Apply(bench::up_to_a_million);
BENCHMARK(bench::fire<bench::queue_in_loop>)->Name("fire/loop/sandglass")->Apply(bench::up_to_a_million);
BENCHMARK(bench::fire<bench::threaded_wheel>)->Name("fire/timer/sandglass")->Apply(bench::up_to_a_million);
BENCHMARK(bench::fire<bench::pooled_wheel>)->Name("fire/timer/sandglass_pool")->Apply(bench::up_to_a_million);
