#include "subjects/libevent.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::renew<bench::libevent_timers>)->Name("renew/loop/libevent")->Apply(bench::up_to_a_million);
