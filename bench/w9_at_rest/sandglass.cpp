#include "subjects/sandglass.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("at_rest/timer/sandglass", bench::at_rest<bench::threaded_wheel>),
    bench::add("at_rest/timer/sandglass_pool", bench::at_rest<bench::pooled_wheel>),
};

}  // namespace
