#include <sandglass/options.hpp>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <sandglass/clock.hpp>
#include <sandglass/timer_queue.hpp>
#include <sandglass/wheel_timer.hpp>

#include <support/catch.hpp>

namespace {

using namespace std::chrono_literals;
using sandglass::wheel_options;

static_assert(std::is_aggregate_v<wheel_options> && std::is_aggregate_v<sandglass::repeat_options>);

// What a constructor says to options that it does not take; empty if it takes them.
template <class Timer>
std::string refusal(const wheel_options& options) {
    try {
        const Timer timer(options);
        return {};
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
}

// Whoever takes options checks them.
std::string refusal(const wheel_options& options) {
    const std::string by_queue = refusal<sandglass::timer_queue<>>(options);
    CHECK(refusal<sandglass::wheel_timer>(options) == by_queue);
    return by_queue;
}

TEST_CASE("the defaults are a tick of a millisecond, 8192 slots, no limit, no hooks", "[options]") {
    const wheel_options options;
    CHECK(options.tick == 1ms);
    CHECK(options.slots == 8192);
    CHECK(options.max_pending == 0);
    CHECK(options.thread_name == "sandglass-wheel");
    CHECK_FALSE(options.on_thread_start);
    CHECK_FALSE(options.on_error);
    CHECK(options.slow_tick == 0ns);
    CHECK(options.slow_callback == 0ns);
    CHECK_FALSE(options.on_slow);
    CHECK(refusal(options).empty());

    const sandglass::repeat_options repeat;
    CHECK_FALSE(repeat.first.has_value());
    CHECK(repeat.mode == sandglass::repeat::fixed_rate);
}

TEST_CASE("options may be given by name", "[options]") {
    const sandglass::wheel_timer timer;
    const sandglass::wheel_timer fine{
        {.tick = 100us, .slots = 65536, .max_pending = 1'000'000, .thread_name = "orders"}};
    CHECK(timer.stats().turn == 8192ms);
    CHECK(fine.stats().turn == 65536 * 100us);

    sandglass::manual_clock clock;
    sandglass::timer_queue queue{wheel_options{.tick = 1s, .slots = 60}, sandglass::inline_executor{}, std::ref(clock)};
    CHECK(queue.stats().turn == 64s);  // rounded up to a power of two
    int runs = 0;
    queue.schedule_every(1s, [&] { ++runs; }, {.first = 0s, .mode = sandglass::repeat::fixed_delay});
    queue.schedule_every(1s, [&] { runs += 10; }, {.first = 5min});
    queue.schedule_every(1s, [&] { runs += 100; }, {.mode = sandglass::repeat::fixed_delay});
    queue.poll();
    CHECK(runs == 1);
    clock.advance(1s);
    queue.poll();
    CHECK(runs == 102);
}

TEST_CASE("a tick out of range is refused by the name of the option, its value and what is allowed", "[options]") {
    const std::string allowed = "; allowed is 1 ns to 86400000000000 ns";
    CHECK(refusal({.tick = 0ns}) == "sandglass: wheel_options::tick is 0 ns" + allowed);
    CHECK(refusal({.tick = -1ms}) == "sandglass: wheel_options::tick is -1000000 ns" + allowed);
    CHECK(refusal({.tick = 24h + 1ns}) == "sandglass: wheel_options::tick is 86400000000001 ns" + allowed);
    CHECK(refusal({.tick = (std::chrono::nanoseconds::max)()}) ==
          "sandglass: wheel_options::tick is 9223372036854775807 ns" + allowed);
    CHECK(refusal({.tick = 1ns}).empty());
    CHECK(refusal({.tick = 24h}).empty());
}

TEST_CASE("a number of slots out of range is refused by the name of the option, its value and what is allowed",
          "[options]") {
    const std::string allowed = "; allowed is 1 to 16777216";
    CHECK(refusal({.slots = 0}) == "sandglass: wheel_options::slots is 0" + allowed);
    CHECK(refusal({.slots = 16'777'217}) == "sandglass: wheel_options::slots is 16777217" + allowed);
    CHECK(refusal({.slots = static_cast<std::size_t>(-1)}) ==
          "sandglass: wheel_options::slots is 18446744073709551615" + allowed);
    CHECK(refusal({.slots = 1}).empty());
    CHECK(refusal({.slots = 3}).empty());
}

TEST_CASE("a negative threshold is refused by the name of the option, its value and what is allowed", "[options]") {
    CHECK(refusal({.slow_tick = -1ns}) ==
          "sandglass: wheel_options::slow_tick is -1 ns; allowed is 0 ns (off) or more");
    CHECK(refusal({.slow_callback = -1s}) ==
          "sandglass: wheel_options::slow_callback is -1000000000 ns; allowed is 0 ns (off) or more");
    CHECK(refusal({.slow_tick = 1ns, .slow_callback = (std::chrono::nanoseconds::max)()}).empty());
}

TEST_CASE("any limit and any name of the thread are taken", "[options]") {
    CHECK(refusal({.max_pending = 1}).empty());
    CHECK(refusal({.max_pending = static_cast<std::size_t>(-1)}).empty());
    CHECK(refusal({.thread_name = ""}).empty());
    CHECK(refusal({.thread_name = std::string(1000, 'x')}).empty());
}

}  // namespace
