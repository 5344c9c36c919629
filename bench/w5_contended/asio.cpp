#include "subjects/asio.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::contended<bench::asio_timers>)->Name("contended/timer/asio")->Apply(bench::producers);
