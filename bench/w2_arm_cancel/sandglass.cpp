#include "subjects/sandglass.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm_cancel<bench::bare_wheel>)->Name("arm_cancel/bare/sandglass")->Apply(bench::every_size);
BENCHMARK(bench::arm_cancel<bench::queue_in_loop>)->Name("arm_cancel/loop/sandglass")->Apply(bench::every_size);
BENCHMARK(bench::arm_cancel<bench::threaded_wheel>)->Name("arm_cancel/timer/sandglass")->Apply(bench::every_size);
BENCHMARK(bench::arm_cancel<bench::pooled_wheel>)
    ->Name("arm_cancel/timer/sandglass_pool")
    ->Apply(bench::up_to_a_million);
