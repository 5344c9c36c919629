#include "subjects/libevent.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::fire<bench::libevent_timers>)->Name("fire/loop/libevent")->Apply(bench::up_to_a_million);
