#include "subjects/asio.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm<bench::asio_timers>)->Name("arm/timer/asio")->Apply(bench::up_to_a_million);
