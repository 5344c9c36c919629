#include "support/priority_queue.hpp"

BENCHMARK(bench::fire<bench::bare_priority_queue>)->Name("W4_fire/bare/priority_queue")->Apply(bench::configure);
BENCHMARK(bench::fire<bench::threaded_priority_queue>)->Name("W4_fire/timer/priority_queue")->Apply(bench::configure);
