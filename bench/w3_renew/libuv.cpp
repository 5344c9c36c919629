#include "subjects/libuv.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::renew<bench::libuv_timers>)->Name("renew/loop/libuv")->Apply(bench::up_to_a_million);
