#include "subjects/sandglass.hpp"
#include "support/driven.hpp"

namespace {

using bench::threaded_wheel;

[[maybe_unused]] const bool added[] = {
    bench::add("at_rest/timer/sandglass/slots:8192", bench::at_rest<threaded_wheel>),
    bench::add("at_rest/timer/sandglass/slots:65536", bench::at_rest_with_slots<threaded_wheel, 65'536>),
    bench::add("at_rest/timer/sandglass/slots:1048576", bench::at_rest_with_slots<threaded_wheel, 1'048'576>),
    bench::add("at_rest/timer/sandglass_pool/slots:8192", bench::at_rest<bench::pooled_wheel>),
};

}  // namespace
