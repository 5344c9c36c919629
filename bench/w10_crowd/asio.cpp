#include "subjects/asio.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("crowd/timer/asio", bench::crowd<bench::asio_timers>),
};

}  // namespace
