#include "subjects/multimap.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::arm_cancel<bench::bare_multimap>)->Name("arm_cancel/bare/multimap")->Apply(bench::up_to_a_million);
BENCHMARK(bench::arm_cancel<bench::threaded_multimap>)
    ->Name("arm_cancel/timer/multimap")
    ->Apply(bench::up_to_a_million);
