#include "subjects/list_scan.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm_cancel<bench::bare_list_scan>)->Name("arm_cancel/bare/list_scan")->Apply(bench::small_sizes);
BENCHMARK(bench::arm_cancel<bench::threaded_list_scan>)->Name("arm_cancel/timer/list_scan")->Apply(bench::small_sizes);
