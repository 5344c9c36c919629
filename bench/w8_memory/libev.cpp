#include "subjects/libev.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("memory/loop/libev", bench::memory<bench::libev_timers>),
};

}  // namespace
