#include "subjects/libuv.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::fire<bench::libuv_timers>)->Name("fire/loop/libuv")->Apply(bench::up_to_a_million);
