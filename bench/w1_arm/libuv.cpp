#include "subjects/libuv.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm<bench::libuv_timers>)->Name("arm/loop/libuv")->Apply(bench::up_to_a_million);
