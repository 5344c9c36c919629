#include "subjects/multimap.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("crowd/timer/multimap", bench::crowd<bench::threaded_multimap>),
};

}  // namespace
