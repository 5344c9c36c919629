#include "subjects/asio.hpp"
#include "support/driven.hpp"

namespace {

[[maybe_unused]] const bool added[] = {
    bench::add("memory/timer/asio", bench::memory<bench::asio_timers>),
};

}  // namespace
