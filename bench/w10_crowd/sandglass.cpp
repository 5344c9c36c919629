#include "subjects/sandglass.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("crowd/timer/sandglass", bench::crowd<bench::threaded_wheel>),
    bench::add("crowd/timer/sandglass_pool", bench::crowd<bench::pooled_wheel>),
};

}  // namespace
