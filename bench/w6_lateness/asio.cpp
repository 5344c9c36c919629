#include "subjects/asio.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("lateness/timer/asio", bench::lateness<bench::asio_timers>),
};

}  // namespace
