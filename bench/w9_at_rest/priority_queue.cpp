#include "subjects/priority_queue.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("at_rest/timer/priority_queue", bench::at_rest<bench::threaded_priority_queue>),
    bench::add("at_rest/timer/priority_queue_slab", bench::at_rest<bench::threaded_priority_queue_slab>),
};

}  // namespace
