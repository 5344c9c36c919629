#include "subjects/sandglass.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("memory/timer/sandglass", bench::memory<bench::threaded_wheel>),
    bench::add("memory/timer/sandglass_pool", bench::memory<bench::pooled_wheel>),
    bench::add("memory/loop/sandglass", bench::memory<bench::queue_in_loop>),
    bench::add("memory/bare/sandglass", bench::memory<bench::bare_wheel>),
};

}  // namespace
