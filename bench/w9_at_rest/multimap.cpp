#include "subjects/multimap.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("at_rest/timer/multimap", bench::at_rest<bench::threaded_multimap>),
};

}  // namespace
