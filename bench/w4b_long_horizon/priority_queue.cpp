#include "subjects/priority_queue.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::long_horizon<bench::bare_priority_queue>)
    ->Name("long_horizon/bare/priority_queue")
    ->Apply(bench::once);
