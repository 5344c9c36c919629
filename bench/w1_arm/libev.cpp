#include "subjects/libev.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm<bench::libev_timers>)->Name("arm/loop/libev")->Apply(bench::up_to_a_million);
