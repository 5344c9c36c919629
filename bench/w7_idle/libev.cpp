#include "subjects/libev.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("idle/loop/libev", bench::idle_in_loop<bench::libev_timers>),
};

}  // namespace
