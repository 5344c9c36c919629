#include "subjects/libevent.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm<bench::libevent_timers>)->Name("arm/loop/libevent")->Apply(bench::up_to_a_million);
