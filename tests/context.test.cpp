#include <sandglass/context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <sandglass/timer_queue.hpp>
#include <support/catch.hpp>
#include <support/hand_turned.hpp>

namespace {

using namespace std::chrono_literals;
using sandglass::manual_clock;
using sandglass::timer_context;
using sandglass::timer_handle;
using std::chrono::nanoseconds;
using time_point = manual_clock::time_point;

using support::hand_turned;

}  // namespace

TEST_CASE("a context is bound to its run", "[context]") {
    STATIC_REQUIRE(!std::is_copy_constructible_v<timer_context>);
    STATIC_REQUIRE(!std::is_move_constructible_v<timer_context>);
    STATIC_REQUIRE(!std::is_copy_assignable_v<timer_context>);
    STATIC_REQUIRE(!std::is_default_constructible_v<timer_context>);
}

TEST_CASE("a context of a one-shot tells its exact time and its lateness and its delay", "[context]") {
    hand_turned t;
    t.clock.advance(1'500'001ns);
    int runs = 0;
    timer_handle h;
    h = t.queue.schedule_after(10ms, [&](timer_context& c) {
        ++runs;
        CHECK(c.scheduled() == 11'500'001ns);
        CHECK(c.scheduled_time() == time_point(11'500'001ns));
        CHECK(c.scheduled_time<std::chrono::time_point<std::chrono::steady_clock, std::chrono::milliseconds>>() ==
              time_point(11ms));
        CHECK(c.scheduled_delay() == 10ms);
        CHECK(c.lateness() == 3'499'999ns);
        CHECK(c.missed() == 0);
        CHECK(c.handle() == h);
    });
    t.clock.set(time_point(15ms));
    t.queue.poll();
    CHECK(runs == 1);
}

TEST_CASE("the delay of a run is what was asked for it", "[context]") {
    hand_turned t;
    std::vector<nanoseconds> delays;
    const auto note = [&](timer_context& c) { delays.push_back(c.scheduled_delay()); };
    timer_handle once = t.queue.schedule_after(1ms, note);
    t.go(1ms);
    once = t.queue.schedule_after(1ms, note);
    CHECK(once.reschedule_after(7ms));
    t.go(7ms);
    once = t.queue.schedule_at(t.clock.now() + 5ms, note);
    t.go(5ms);
    once = t.queue.schedule_at(t.clock.now() + 5ms, note);
    CHECK(once.reschedule_at(t.clock.now() + 4ms));
    t.go(4ms);
    timer_handle series = t.queue.schedule_every(3ms, note, {.first = 2ms});
    t.go(2ms);
    t.go(3ms);
    series.reschedule_after(9ms);
    t.go(9ms);
    t.go(3ms);
    CHECK(delays == std::vector<nanoseconds>{1ms, 7ms, 5ms, 4ms, 2ms, 3ms, 9ms, 3ms});
}

TEST_CASE("a series with a context that reschedules goes on from the new time", "[context]") {
    hand_turned t;
    std::vector<nanoseconds> scheduled;
    t.queue.schedule_every(10ms, [&](timer_context& c) {
        scheduled.push_back(c.scheduled());
        if (scheduled.size() == 1) c.reschedule_at(c.scheduled_time() + 25ms);
        if (scheduled.size() == 2) c.reschedule_after(2ms);
    });
    for (int i = 0; i < 70; ++i) t.go(1ms);
    CHECK(scheduled == std::vector<nanoseconds>{10ms, 35ms, 37ms, 47ms, 57ms, 67ms});
}

TEST_CASE("retry with back-off keeps one handle and ends by itself", "[context]") {
    hand_turned t;
    int attempts = 0;
    std::vector<nanoseconds> at;
    timer_handle h = t.queue.schedule_after(1ms, [&](timer_context& c) {
        at.push_back(t.clock.now().time_since_epoch());
        if (++attempts < 4) c.reschedule_after(c.scheduled_delay() * 2);
    });
    for (int i = 0; i < 20; ++i) t.go(1ms);
    CHECK(at == std::vector<nanoseconds>{1ms, 3ms, 7ms, 15ms});
    CHECK_FALSE(h.pending());
    CHECK(t.queue.approx_pending() == 0);
}

TEST_CASE("a drift-free rhythm is scheduled from the scheduled time and not from now", "[context]") {
    hand_turned t;
    std::vector<nanoseconds> scheduled;
    t.queue.schedule_after(10ms, [&](timer_context& c) {
        scheduled.push_back(c.scheduled());
        if (scheduled.size() < 5) c.reschedule_at(c.scheduled_time() + 10ms);
    });
    for (int i = 0; i < 30; ++i) t.go(3ms);  // always a bit late
    CHECK(scheduled == std::vector<nanoseconds>{10ms, 20ms, 30ms, 40ms, 50ms});
}

TEST_CASE("cancel in a context ends the timer once", "[context]") {
    hand_turned t;
    int runs = 0;
    std::vector<bool> answers;
    timer_handle h = t.queue.schedule_every(1ms, [&](timer_context& c) {
        ++runs;
        answers.push_back(c.cancel());
        answers.push_back(c.cancel());
        answers.push_back(c.reschedule_after(1ms));
        answers.push_back(c.handle().pending());
    });
    for (int i = 0; i < 5; ++i) t.go(1ms);
    CHECK(runs == 1);
    CHECK(answers == std::vector<bool>{true, false, false, false});
    CHECK_FALSE(h.pending());
}

TEST_CASE("cancelled by another thread during a run a context can reschedule no more", "[context]") {
    // The executor lets the test act in the middle of the run.
    hand_turned t;
    timer_handle h;
    std::optional<bool> cancelled;
    std::optional<bool> moved;
    h = t.queue.schedule_after(1ms, [&](timer_context& c) {
        c.reschedule_after(1ms);
        cancelled = h.cancel();  // what another thread would do
        moved = c.reschedule_after(1ms);
    });
    t.go(1ms);
    CHECK(cancelled == true);
    CHECK(moved == false);
    CHECK(t.go(1h) == 0);
}

TEST_CASE("a reschedule from a callback that throws afterwards still counts", "[context]") {
    manual_clock clock;
    int errors = 0;
    sandglass::timer_queue queue{sandglass::wheel_options{.on_error = [&](const sandglass::timer_error&) { ++errors; }},
                                 sandglass::inline_executor{}, std::ref(clock)};
    int runs = 0;
    queue.schedule_after(1ms, [&](timer_context& c) {
        if (++runs < 3) c.reschedule_after(1ms);
        throw std::runtime_error("each time");
    });
    for (int i = 0; i < 10; ++i) {
        clock.advance(1ms);
        queue.poll();
    }
    CHECK(runs == 3);
    CHECK(errors == 3);
    CHECK(queue.approx_pending() == 0);
}

TEST_CASE("after a stop in the same callback a context can reschedule no more", "[context]") {
    hand_turned t;
    int runs = 0;
    timer_handle h = t.queue.schedule_after(1ms, [&](timer_context& c) {
        ++runs;
        t.queue.stop();
        c.reschedule_after(1ms);
    });
    t.go(1ms);
    t.go(1h);
    CHECK(runs == 1);
    CHECK_FALSE(h.pending());
    CHECK(t.queue.approx_pending() == 0);
}

TEST_CASE("the missed count of a fixed delay series is always zero", "[context]") {
    hand_turned t;
    std::uint64_t missed = 0;
    int runs = 0;
    t.queue.schedule_every(1ms,
                           [&](timer_context& c) {
                               ++runs;
                               missed += c.missed();
                           },
                           {.mode = sandglass::repeat::fixed_delay});
    for (int i = 0; i < 5; ++i) t.go(100ms);
    CHECK(runs == 5);
    CHECK(missed == 0);
    CHECK(t.queue.stats().missed == 0);
}
