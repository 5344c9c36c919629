#include "subjects/libev.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm_cancel<bench::libev_timers>)->Name("arm_cancel/loop/libev")->Apply(bench::up_to_a_million);
