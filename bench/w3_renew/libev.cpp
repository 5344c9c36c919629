#include "subjects/libev.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::renew<bench::libev_timers>)->Name("renew/loop/libev")->Apply(bench::up_to_a_million);
