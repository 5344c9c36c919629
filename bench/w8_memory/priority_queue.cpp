#include "subjects/priority_queue.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("memory/timer/priority_queue", bench::memory<bench::threaded_priority_queue>),
    bench::add("memory/timer/priority_queue_slab", bench::memory<bench::threaded_priority_queue_slab>),
    bench::add("memory/bare/priority_queue", bench::memory<bench::bare_priority_queue>),
};

}  // namespace
