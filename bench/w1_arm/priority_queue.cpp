#include "support/priority_queue.hpp"

BENCHMARK(bench::arm<bench::bare_priority_queue>)->Name("W1_arm/bare/priority_queue")->Apply(bench::configure);
BENCHMARK(bench::arm<bench::threaded_priority_queue>)->Name("W1_arm/timer/priority_queue")->Apply(bench::configure);
