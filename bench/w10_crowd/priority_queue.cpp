#include "subjects/priority_queue.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("crowd/timer/priority_queue", bench::crowd<bench::threaded_priority_queue>),
    bench::add("crowd/timer/priority_queue_slab", bench::crowd<bench::threaded_priority_queue_slab>),
};

}  // namespace
