#include "subjects/libuv.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm_cancel<bench::libuv_timers>)->Name("arm_cancel/loop/libuv")->Apply(bench::up_to_a_million);
