#include "subjects/list_scan.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("idle/timer/list_scan", bench::idle<bench::threaded_list_scan>),
};

}  // namespace
