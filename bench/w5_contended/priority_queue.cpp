#include "subjects/priority_queue.hpp"
#include "support/benchmarks.hpp"

BENCHMARK(bench::contended<bench::threaded_priority_queue>)
    ->Name("contended/timer/priority_queue")
    ->Apply(bench::producers);
BENCHMARK(bench::contended<bench::threaded_priority_queue_slab>)
    ->Name("contended/timer/priority_queue_slab")
    ->Apply(bench::producers);
