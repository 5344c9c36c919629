#include "subjects/multimap.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::renew<bench::bare_multimap>)->Name("renew/bare/multimap")->Apply(bench::up_to_a_million);
BENCHMARK(bench::renew<bench::threaded_multimap>)->Name("renew/timer/multimap")->Apply(bench::up_to_a_million);
