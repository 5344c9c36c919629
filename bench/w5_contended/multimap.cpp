#include "subjects/multimap.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::contended<bench::threaded_multimap>)->Name("contended/timer/multimap")->Apply(bench::producers);
