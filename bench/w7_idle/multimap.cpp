#include "subjects/multimap.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("idle/timer/multimap", bench::idle<bench::threaded_multimap>),
};

}  // namespace
