#include "subjects/priority_queue.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("lateness/timer/priority_queue", bench::lateness<bench::threaded_priority_queue>),
    bench::add("lateness/timer/priority_queue_slab", bench::lateness<bench::threaded_priority_queue_slab>),
};

}  // namespace
