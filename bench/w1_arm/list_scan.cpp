#include "subjects/list_scan.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm<bench::bare_list_scan>)->Name("arm/bare/list_scan")->Apply(bench::small_sizes);
BENCHMARK(bench::arm<bench::threaded_list_scan>)->Name("arm/timer/list_scan")->Apply(bench::small_sizes);
