#include "subjects/list_scan.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::renew<bench::bare_list_scan>)->Name("renew/bare/list_scan")->Apply(bench::small_sizes);
BENCHMARK(bench::renew<bench::threaded_list_scan>)->Name("renew/timer/list_scan")->Apply(bench::small_sizes);
