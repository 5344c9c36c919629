#include "subjects/asio.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("at_rest/timer/asio", bench::at_rest<bench::asio_timers>),
};

}  // namespace
