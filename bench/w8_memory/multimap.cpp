#include "subjects/multimap.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("memory/timer/multimap", bench::memory<bench::threaded_multimap>),
    bench::add("memory/bare/multimap", bench::memory<bench::bare_multimap>),
};

}  // namespace
