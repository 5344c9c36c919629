#include <sandglass/stats.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sandglass/timer_queue.hpp>
#include <support/catch.hpp>
#include <support/hand_turned.hpp>

namespace {

using namespace std::chrono_literals;
using sandglass::manual_clock;
using sandglass::timer_handle;
using sandglass::timer_stats;
using sandglass::wheel_options;
using std::chrono::nanoseconds;

using support::hand_turned;

bool balanced(const timer_stats& s) {
    return s.scheduled == s.fired + s.cancelled + s.rejected + s.discarded + s.pending;
}

}  // namespace

TEST_CASE("a new queue has nothing to report but its turn", "[stats]") {
    {
        // Memory that served another queue before must not show.
        hand_turned before;
        for (int i = 0; i < 10; ++i) before.queue.schedule_after(1ms, [] {});
        before.go(5ms);
    }
    hand_turned t;
    const timer_stats s = t.stats();
    CHECK(s.pending == 0);
    CHECK(s.scheduled == 0);
    CHECK(s.fired == 0);
    CHECK(s.cancelled == 0);
    CHECK(s.rejected == 0);
    CHECK(s.discarded == 0);
    CHECK(s.failed == 0);
    CHECK(s.slow == 0);
    CHECK(s.missed == 0);
    CHECK(s.unreclaimed == 0);
    CHECK(s.longest_slot == 0);
    CHECK(s.mean_slot == 0.0);
    CHECK(s.last_tick == 0ns);
    CHECK(s.longest_tick == 0ns);
    CHECK(s.worst_lateness == 0ns);
    CHECK(s.turn == 8192 * 1ms);
}

// C030
TEST_CASE("the counts of what was scheduled and cancelled and fired are exact at a quiet point", "[stats]") {
    hand_turned t;
    std::vector<timer_handle> handles;
    for (int i = 0; i < 20; ++i) handles.push_back(t.queue.schedule_after(100ms, [] {}));
    for (int i = 0; i < 80; ++i) handles.push_back(t.queue.schedule_after(1h, [] {}));
    for (std::size_t i = 20; i < 50; ++i) handles[i].cancel();
    t.go(150ms);  // 50 ms late
    timer_stats s;
    std::thread([&] { s = t.stats(); }).join();
    CHECK(s.scheduled == 100);
    CHECK(s.pending == 50);
    CHECK(s.fired == 20);
    CHECK(s.cancelled == 30);
    CHECK(s.worst_lateness == 50ms);
    CHECK(t.queue.approx_pending() == 50);
    CHECK(balanced(s));
}

TEST_CASE("a series counts as scheduled once for each of its runs", "[stats]") {
    hand_turned t;
    timer_handle h = t.queue.schedule_every(1ms, [] {});
    CHECK(t.stats().scheduled == 1);
    for (int i = 0; i < 5; ++i) t.go(1ms);
    CHECK(t.stats().scheduled == 6);
    CHECK(t.stats().fired == 5);
    CHECK(t.stats().pending == 1);
    h.cancel();
    CHECK(t.stats().cancelled == 1);
    CHECK(t.stats().pending == 0);
    CHECK(balanced(t.stats()));
}

TEST_CASE("moving a timer changes no count", "[stats]") {
    hand_turned t;
    timer_handle h = t.queue.schedule_after(10ms, [] {});
    for (int i = 1; i < 20; ++i) h.reschedule_after(i % 2 == 0 ? i * 1ms : i * 10ms);
    const timer_stats s = t.stats();
    CHECK(s.scheduled == 1);
    CHECK(s.pending == 1);
    CHECK(s.cancelled == 0);
    CHECK(balanced(s));
}

TEST_CASE("a running timer is no longer pending but not yet reclaimed and a running series is", "[stats]") {
    hand_turned t;
    timer_stats in_once;
    timer_stats in_series;
    t.queue.schedule_after(1ms, [&] { in_once = t.stats(); });
    t.go(1ms);
    CHECK(in_once.pending == 0);
    CHECK(in_once.fired == 1);
    CHECK(in_once.unreclaimed == 1);
    CHECK(t.stats().unreclaimed == 0);
    t.queue.schedule_every(1ms, [&] { in_series = t.stats(); });
    t.go(1ms);
    CHECK(in_series.pending == 1);
    CHECK(t.stats().unreclaimed == 0);
}

TEST_CASE("what failed or was rejected or discarded is counted", "[stats]") {
    bool refuse = false;
    manual_clock clock;
    const auto executor = [&](sandglass::expired_timer&& task) {
        if (refuse) throw std::runtime_error("no");
        task();
    };
    sandglass::timer_queue queue{wheel_options{.on_error = [](const sandglass::timer_error&) {}}, executor,
                                 std::ref(clock)};
    queue.schedule_after(1ms, [] { throw 1; });
    queue.schedule_after(1ms, [] {});
    clock.advance(1ms);
    queue.poll();
    CHECK(queue.stats().failed == 1);
    CHECK(queue.stats().fired == 2);
    refuse = true;
    queue.schedule_after(1ms, [] {});
    clock.advance(1ms);
    queue.poll();
    CHECK(queue.stats().rejected == 1);
    CHECK(queue.stats().fired == 2);
    queue.schedule_after(1ms, [] {});
    queue.schedule_every(1ms, [] {});
    queue.stop();
    const timer_stats s = queue.stats();
    CHECK(s.discarded == 2);
    CHECK(s.pending == 0);
    CHECK(s.scheduled == 5);
    CHECK(balanced(s));
}

TEST_CASE("what was refused to schedule is not counted", "[stats]") {
    hand_turned t({.max_pending = 1});
    t.queue.schedule_after(1ms, [] {});
    CHECK_FALSE(t.queue.try_schedule_after(1ms, [] {}));
    CHECK_THROWS(t.queue.schedule_every(1ms, [] {}));
    CHECK_THROWS(t.queue.schedule_every(0ms, [] {}));
    CHECK(t.stats().scheduled == 1);
    t.queue.stop();
    CHECK_FALSE(t.queue.try_schedule_after(1ms, [] {}));
    CHECK(t.stats().scheduled == 1);
    CHECK(balanced(t.stats()));
}

TEST_CASE("missed counts the runs that another one made up for", "[stats]") {
    hand_turned t;
    t.queue.schedule_every(10ms, [] {});
    t.queue.schedule_every(10ms, [] {}, {.mode = sandglass::repeat::fixed_delay});
    t.go(10ms);
    CHECK(t.stats().missed == 0);
    t.go(45ms);  // due at 20 ms, now 55 ms: 30, 40 and 50 are over
    CHECK(t.stats().missed == 3);
    CHECK(balanced(t.stats()));
}

TEST_CASE("unreclaimed counts cancelled timers whose place in the wheel is not cleared yet", "[stats]") {
    hand_turned t;
    std::vector<timer_handle> handles;
    for (int i = 0; i < 10; ++i) handles.push_back(t.queue.schedule_after(1h, [] {}));
    t.queue.poll();
    CHECK(t.stats().unreclaimed == 0);
    for (int i = 0; i < 3; ++i) handles[static_cast<std::size_t>(i)].cancel();
    CHECK(t.stats().unreclaimed == 3);
    CHECK(t.stats().pending == 7);
    t.queue.poll();
    CHECK(t.stats().unreclaimed == 0);
}

TEST_CASE("the slot figures tell how crowded the wheel is", "[stats]") {
    hand_turned t({.slots = 8});
    for (int i = 0; i < 4; ++i) t.queue.schedule_after(3ms, [] {});
    t.queue.schedule_after(4ms, [] {});
    t.queue.schedule_after(5ms, [] {});
    static_cast<void>(t.queue.next_deadline());  // looks at what was scheduled
    CHECK(t.stats().mean_slot == 2.0);           // six entries in three slots
    t.go(5ms);
    CHECK(t.stats().mean_slot == 0.0);

    // Three entries of different rounds in one slot.
    t.queue.schedule_after(1ms, [] {});
    t.queue.schedule_after(9ms, [] {});
    t.queue.schedule_after(17ms, [] {});
    CHECK(t.go(1ms) == 1);
    CHECK(t.stats().longest_slot == 3);
    CHECK(t.stats().mean_slot == 2.0);
    t.queue.stop();
    CHECK(t.stats().mean_slot == 0.0);
}

TEST_CASE("a turn is the number of slots rounded up to a power of two times the tick", "[stats]") {
    CHECK(hand_turned({.tick = 2ms, .slots = 5}).stats().turn == 16ms);
    CHECK(hand_turned({.tick = 1ns, .slots = 1}).stats().turn == 1ns);
    CHECK(hand_turned({.tick = 24h, .slots = 1 << 18}).stats().turn == (nanoseconds::max)());
}

TEST_CASE("the tick figures tell how long a pass took that handed something out", "[stats]") {
    hand_turned t;
    t.queue.schedule_after(1ms, [&] { t.clock.advance(30ms); });
    t.queue.schedule_after(1ms, [&] { t.clock.advance(5ms); });
    t.go(1ms);
    CHECK(t.stats().last_tick == 35ms);
    CHECK(t.stats().longest_tick == 35ms);
    t.queue.schedule_after(1ms, [&] { t.clock.advance(7ms); });
    t.go(1ms);
    CHECK(t.stats().last_tick == 7ms);
    CHECK(t.stats().longest_tick == 35ms);
    t.go(1ms);  // nothing is due
    CHECK(t.stats().last_tick == 7ms);
}

TEST_CASE("the worst lateness counts from the deadline rounded up to a tick", "[stats]") {
    hand_turned t;
    t.clock.advance(500us);
    t.queue.schedule_after(1ms, [] {});  // due on tick 2
    t.clock.set(manual_clock::time_point(2ms));
    t.queue.poll();
    CHECK(t.stats().worst_lateness == 0ns);
    t.queue.schedule_after(1ms, [] {});
    t.go(4ms);
    CHECK(t.stats().worst_lateness == 3ms);
    t.queue.schedule_after(1ms, [] {});
    t.go(2ms);
    CHECK(t.stats().worst_lateness == 3ms);  // the worst one stays
}

TEST_CASE("the worst lateness of a series and of a self-paced timer also counts from the tick", "[stats]") {
    hand_turned t;
    t.clock.advance(400us);
    t.queue.schedule_every(10ms, [] {});
    t.queue.schedule_after(20ms, [](sandglass::timer_context&) {});
    t.clock.set(manual_clock::time_point(11ms));
    CHECK(t.queue.poll() == 1);
    t.clock.set(manual_clock::time_point(21ms));
    CHECK(t.queue.poll() == 2);
    CHECK(t.stats().worst_lateness == 0ns);
}

// ---- thresholds -------------------------------------------------------------------------------------------------------

namespace {

struct slow_report {
    sandglass::slow_kind kind;
    nanoseconds took;
    timer_handle timer;
    std::string name;
};

}  // namespace

TEST_CASE("a callback that takes longer than slow_callback is counted and reported", "[stats][slow]") {
    std::vector<slow_report> reports;
    hand_turned t({.slow_callback = 5ms, .on_slow = [&](const sandglass::slow_event& e) {
                       reports.push_back({e.kind, e.took, e.timer, std::string(e.name)});
                   }});
    t.queue.schedule_after(1ms, [&] { t.clock.advance(5ms); });  // no longer than that
    timer_handle slow = t.queue.schedule_after(2ms, sandglass::named("sloth", [&] { t.clock.advance(6ms); }));
    t.queue.schedule_after(3ms, [] {});
    t.go(3ms);
    CHECK(t.stats().slow == 1);
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].kind == sandglass::slow_kind::callback);
    CHECK(reports[0].took == 6ms);
    CHECK(reports[0].timer == slow);
    CHECK(reports[0].name == "sloth");
}

TEST_CASE("a slow callback that throws is both slow and failed", "[stats][slow]") {
    int slow = 0;
    hand_turned t({.on_error = [](const sandglass::timer_error&) {},
                   .slow_callback = 1ms,
                   .on_slow = [&](const sandglass::slow_event&) { ++slow; }});
    t.queue.schedule_every(1ms, [&] {
        t.clock.advance(2ms);
        throw std::runtime_error("");
    });
    t.go(1ms);
    CHECK(t.stats().slow == 1);
    CHECK(t.stats().failed == 1);
    CHECK(slow == 1);
}

TEST_CASE("a pass that takes longer than slow_tick is reported", "[stats][slow]") {
    std::vector<slow_report> reports;
    hand_turned t({.slow_tick = 10ms, .on_slow = [&](const sandglass::slow_event& e) {
                       reports.push_back({e.kind, e.took, e.timer, std::string(e.name)});
                   }});
    t.queue.schedule_after(1ms, [&] { t.clock.advance(6ms); });
    t.queue.schedule_after(1ms, [&] { t.clock.advance(6ms); });
    t.go(1ms);
    t.queue.schedule_after(1ms, [&] { t.clock.advance(6ms); });
    t.go(1ms);
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].kind == sandglass::slow_kind::tick);
    CHECK(reports[0].took == 12ms);
    CHECK_FALSE(reports[0].timer);
    CHECK(reports[0].name.empty());
    CHECK(t.stats().slow == 0);  // that counts callbacks
}

TEST_CASE("without thresholds nothing is slow", "[stats][slow]") {
    int reports = 0;
    hand_turned t({.on_slow = [&](const sandglass::slow_event&) { ++reports; }});
    t.queue.schedule_after(1ms, [&] { t.clock.advance(1h); });
    t.go(1ms);
    CHECK(t.stats().slow == 0);
    CHECK(reports == 0);
}

TEST_CASE("without a hook slow callbacks are counted all the same", "[stats][slow]") {
    hand_turned t({.slow_tick = 1ms, .slow_callback = 1ms});
    t.queue.schedule_after(1ms, [&] { t.clock.advance(1h); });
    t.go(1ms);
    CHECK(t.stats().slow == 1);
}
