#include "subjects/sandglass.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("lateness/timer/sandglass/tick_us:1000", bench::lateness_at_tick<bench::threaded_wheel, 1000>),
    bench::add("lateness/timer/sandglass/tick_us:100", bench::lateness_at_tick<bench::threaded_wheel, 100>),
    bench::add("lateness/timer/sandglass/tick_us:20", bench::lateness_at_tick<bench::threaded_wheel, 20>),
    bench::add("lateness/timer/sandglass_pool/tick_us:1000", bench::lateness<bench::pooled_wheel>),
};

}  // namespace
