#include "subjects/multimap.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::long_horizon<bench::bare_multimap>)->Name("long_horizon/bare/multimap")->Apply(bench::once);
