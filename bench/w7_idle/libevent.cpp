#include "subjects/libevent.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("idle/loop/libevent", bench::idle_in_loop<bench::libevent_timers>),
};

}  // namespace
