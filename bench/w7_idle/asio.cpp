#include "subjects/asio.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("idle/timer/asio", bench::idle<bench::asio_timers>),
};

}  // namespace
