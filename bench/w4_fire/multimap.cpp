#include "subjects/multimap.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::fire<bench::bare_multimap>)->Name("fire/bare/multimap")->Apply(bench::up_to_a_million);
BENCHMARK(bench::fire<bench::threaded_multimap>)->Name("fire/timer/multimap")->Apply(bench::up_to_a_million);
