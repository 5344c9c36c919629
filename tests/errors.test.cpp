#include <sandglass/errors.hpp>

#include <chrono>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <sandglass/clock.hpp>
#include <sandglass/timer_queue.hpp>

#include <support/catch.hpp>

namespace {

using namespace std::chrono_literals;

static_assert(std::is_base_of_v<std::runtime_error, sandglass::pending_limit_reached>);
static_assert(std::is_base_of_v<std::runtime_error, sandglass::timer_stopped>);
static_assert(std::is_base_of_v<std::runtime_error, sandglass::executor_full>);

template <class Error>
std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

TEST_CASE("whoever exceeds the limit is told what it is", "[errors]") {
    sandglass::manual_clock clock;
    sandglass::timer_queue queue{sandglass::wheel_options{.max_pending = 2}, sandglass::inline_executor{},
                                 std::ref(clock)};
    queue.schedule_after(1s, [] {});
    queue.schedule_every(1s, [] {});
    CHECK(message_of<sandglass::pending_limit_reached>([&] { queue.schedule_after(1s, [] {}); }) ==
          "sandglass: wheel_options::max_pending is 2 and as many timers are pending");
}

TEST_CASE("whoever schedules too late is told so", "[errors]") {
    sandglass::manual_clock clock;
    sandglass::timer_queue queue{sandglass::wheel_options{}, sandglass::inline_executor{}, std::ref(clock)};
    queue.stop();
    CHECK(message_of<sandglass::timer_stopped>([&] { queue.schedule_after(1s, [] {}); }) ==
          "sandglass: schedule after stop()");
}

TEST_CASE("whoever passes what makes no sense is told the argument, its value and what is allowed", "[errors]") {
    sandglass::manual_clock clock;
    sandglass::timer_queue queue{sandglass::wheel_options{}, sandglass::inline_executor{}, std::ref(clock)};
    const auto message = [](const std::function<void()>& call) { return message_of<std::invalid_argument>(call); };
    const std::chrono::duration<double> no_number(std::nan(""));
    const std::function<void()> null;
    CHECK(message([&] { queue.schedule_every(0s, [] {}); }) == "sandglass: period is 0 ns; allowed is more than 0");
    CHECK(message([&] { queue.schedule_every(-1ms, [] {}); }) ==
          "sandglass: period is -1000000 ns; allowed is more than 0");
    CHECK(message([&] { queue.schedule_after(no_number, [] {}); }) ==
          "sandglass: delay is not a number; allowed is any duration or time");
    CHECK(message([&] { queue.schedule_after(1s, null); }) ==
          "sandglass: callable is null; allowed is one that can be called");
    CHECK(queue.approx_pending() == 0);
}

}  // namespace
