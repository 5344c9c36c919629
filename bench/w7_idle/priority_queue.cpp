#include "subjects/priority_queue.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("idle/timer/priority_queue", bench::idle<bench::threaded_priority_queue>),
    bench::add("idle/timer/priority_queue_slab", bench::idle<bench::threaded_priority_queue_slab>),
};

}  // namespace
