#include "subjects/libevent.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm_cancel<bench::libevent_timers>)->Name("arm_cancel/loop/libevent")->Apply(bench::up_to_a_million);
