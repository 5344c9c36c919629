#include "subjects/list_scan.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::fire<bench::bare_list_scan>)->Name("fire/bare/list_scan")->Apply(bench::small_sizes);
BENCHMARK(bench::fire<bench::threaded_list_scan>)->Name("fire/timer/list_scan")->Apply(bench::small_sizes);
