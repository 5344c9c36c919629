#include "subjects/sandglass.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("idle/timer/sandglass", bench::idle<bench::threaded_wheel>),
    bench::add("idle/timer/sandglass_pool", bench::idle<bench::pooled_wheel>),
    bench::add("idle/loop/sandglass", bench::idle_in_loop<bench::queue_in_loop>),
};

}  // namespace
