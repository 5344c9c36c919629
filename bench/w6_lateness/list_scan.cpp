#include "subjects/list_scan.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("lateness/timer/list_scan", bench::lateness<bench::threaded_list_scan>),
};

}  // namespace
