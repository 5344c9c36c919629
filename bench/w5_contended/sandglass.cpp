#include "subjects/sandglass.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::contended<bench::threaded_wheel>)->Name("contended/timer/sandglass")->Apply(bench::producers);
BENCHMARK(bench::contended<bench::pooled_wheel>)->Name("contended/timer/sandglass_pool")->Apply(bench::producers);
