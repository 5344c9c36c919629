#include "subjects/asio.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm_cancel<bench::asio_timers>)->Name("arm_cancel/timer/asio")->Apply(bench::up_to_a_million);
