#include "subjects/asio.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::renew<bench::asio_timers>)->Name("renew/timer/asio")->Apply(bench::up_to_a_million);
