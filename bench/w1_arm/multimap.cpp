#include "subjects/multimap.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm<bench::bare_multimap>)->Name("arm/bare/multimap")->Apply(bench::up_to_a_million);
BENCHMARK(bench::arm<bench::threaded_multimap>)->Name("arm/timer/multimap")->Apply(bench::up_to_a_million);
