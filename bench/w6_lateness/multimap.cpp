#include "subjects/multimap.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("lateness/timer/multimap", bench::lateness<bench::threaded_multimap>),
};

}  // namespace
