#include "subjects/asio.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::fire<bench::asio_timers>)->Name("fire/timer/asio")->Apply(bench::up_to_a_million);
