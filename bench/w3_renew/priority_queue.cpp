#include "support/priority_queue.hpp"

BENCHMARK(bench::renew<bench::bare_priority_queue>)->Name("W3_renew/bare/priority_queue")->Apply(bench::configure);
BENCHMARK(bench::renew<bench::threaded_priority_queue>)->Name("W3_renew/timer/priority_queue")->Apply(bench::configure);
