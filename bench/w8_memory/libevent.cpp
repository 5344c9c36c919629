#include "subjects/libevent.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("memory/loop/libevent", bench::memory<bench::libevent_timers>),
};

}  // namespace
