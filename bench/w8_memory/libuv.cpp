#include "subjects/libuv.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("memory/loop/libuv", bench::memory<bench::libuv_timers>),
};

}  // namespace
