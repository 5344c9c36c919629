#include "subjects/libev.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::fire<bench::libev_timers>)->Name("fire/loop/libev")->Apply(bench::up_to_a_million);
