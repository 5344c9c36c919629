#include "subjects/libuv.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("idle/loop/libuv", bench::idle_in_loop<bench::libuv_timers>),
};

}  // namespace
