#include <sandglass/leftover.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sandglass/timer_queue.hpp>
#include <support/catch.hpp>
#include <support/hand_turned.hpp>

namespace {

using namespace std::chrono_literals;
using sandglass::leftover_timer;
using sandglass::manual_clock;
using sandglass::timer_context;
using sandglass::timer_handle;
using std::chrono::nanoseconds;
using time_point = manual_clock::time_point;

using support::hand_turned;

// Counts the objects that hold it.
struct counted {
    explicit counted(int& live) noexcept : live_(&live) { ++*live_; }
    counted(counted&& other) noexcept : live_(other.live_) { ++*live_; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --*live_; }

  private:
    int* live_;
};

}  // namespace

TEST_CASE("a leftover is move-only", "[leftover]") {
    STATIC_REQUIRE(!std::is_copy_constructible_v<leftover_timer>);
    STATIC_REQUIRE(std::is_nothrow_move_constructible_v<leftover_timer>);
    STATIC_REQUIRE(std::is_nothrow_move_assignable_v<leftover_timer>);
}

// C084
TEST_CASE("stop hands what is left to the visitor in the order of the deadlines", "[leftover][stop]") {
    hand_turned t;
    std::vector<timer_handle> handles;
    for (const int ms : {50, 10, 40, 20, 30}) handles.push_back(t.queue.schedule_after(ms * 1ms, [] {}));
    t.queue.poll();
    handles.push_back(t.queue.schedule_after((nanoseconds::max)(), [] {}));
    handles.push_back(t.queue.schedule_after(25ms, [] {}));
    handles.push_back(t.queue.schedule_after(5ms, [] {}));
    t.go(5ms);
    t.clock.advance(10ms);  // 10 ms is overdue by now, and not polled
    std::vector<nanoseconds> deadlines;
    std::vector<nanoseconds> remaining;
    std::vector<timer_handle> seen;
    CHECK(t.queue.stop([&](leftover_timer&& left) {
        deadlines.push_back(left.deadline());
        remaining.push_back(left.remaining());
        seen.push_back(left.handle());
    }) == 7);
    CHECK(deadlines == std::vector<nanoseconds>{10ms, 20ms, 25ms, 30ms, 40ms, 50ms, (nanoseconds::max)()});
    CHECK(remaining == std::vector<nanoseconds>{-5ms, 5ms, 10ms, 15ms, 25ms, 35ms, (nanoseconds::max)()});
    CHECK(seen == std::vector<timer_handle>{handles[1], handles[3], handles[6], handles[4], handles[2], handles[0],
                                            handles[5]});
    for (timer_handle& h : handles) CHECK_FALSE(h.cancel());
    CHECK(t.queue.stats().discarded == 7);
    CHECK(t.queue.stats().pending == 0);
}

TEST_CASE("a leftover can be run or kept or dropped", "[leftover][stop]") {
    std::vector<leftover_timer> kept;
    std::vector<int> ran;
    int live = 0;
    {
        hand_turned t;
        for (int i = 0; i < 6; ++i) {
            t.queue.schedule_after((i + 1) * 1ms, [&ran, i, c = counted(live)] { ran.push_back(i); });
        }
        CHECK(live == 6);
        int seen = 0;
        t.queue.stop([&](leftover_timer&& left) {
            switch (seen++ % 3) {
            case 0:
                left();
                break;
            case 1:
                kept.push_back(std::move(left));
                break;
            default:
                break;
            }
        });
        CHECK(seen == 6);
        CHECK(ran == std::vector<int>{0, 3});
        CHECK(live == 2);
    }
    // They outlive the queue, with their callables.
    REQUIRE(kept.size() == 2);
    CHECK(kept[0].deadline() == 2ms);
    CHECK_FALSE(kept[0].handle().pending());
    kept[0]();
    kept[0]();  // as often as one likes
    kept[1] = std::move(kept[0]);
    CHECK(live == 1);
    kept.clear();
    CHECK(live == 0);
    CHECK(ran == std::vector<int>{0, 3, 1, 1});
}

TEST_CASE("leftovers can be scheduled again with another timer", "[leftover][stop]") {
    hand_turned second;
    std::vector<std::string> ran;
    {
        hand_turned first;
        first.queue.schedule_after(20ms, sandglass::named("b", [&] { ran.emplace_back("b"); }));
        first.queue.schedule_after(10ms, sandglass::named("a", [&] { ran.emplace_back("a"); }));
        first.go(3ms);
        first.queue.stop([&](leftover_timer&& left) {
            const nanoseconds remaining = left.remaining();
            second.queue.schedule_after(remaining, std::move(left));
        });
    }
    CHECK(second.queue.approx_pending() == 2);
    CHECK(second.go(7ms) == 1);
    CHECK(second.go(10ms) == 1);
    CHECK(ran == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a leftover of a series tells its exact deadline and its period", "[leftover][stop]") {
    hand_turned t({}, time_point(300us));
    t.clock.advance(1ns);
    t.queue.schedule_every(10ms, [] {});
    t.queue.schedule_every(20ms, [] {}, {.mode = sandglass::repeat::fixed_delay});
    t.queue.schedule_after(30ms, [] {});
    t.queue.schedule_after(40ms, [](timer_context&) {});
    std::vector<nanoseconds> deadlines;
    std::vector<nanoseconds> periods;
    t.queue.stop([&](leftover_timer&& left) {
        deadlines.push_back(left.deadline());
        periods.push_back(left.period());
        CHECK(left.deadline_time() == time_point(left.deadline()));
    });
    // A plain one-shot keeps its tick only.
    CHECK(deadlines == std::vector<nanoseconds>{10'300'001ns, 20'300'001ns, 31'300us, 40'300'001ns});
    CHECK(periods == std::vector<nanoseconds>{10ms, 20ms, 0ns, 0ns});
}

TEST_CASE("a leftover knows the name of its timer", "[leftover][stop]") {
    hand_turned t;
    t.queue.schedule_after(1ms, sandglass::named("literal", [] {}));
    t.queue.schedule_after(2ms, sandglass::named(std::string("a text of some length, on the heap"), [] {}));
    t.queue.schedule_every(3ms, sandglass::named("series", [](timer_context&) {}));
    t.queue.schedule_after(4ms, [] {});
    std::vector<std::string> names;
    std::optional<leftover_timer> kept;
    t.queue.stop([&](leftover_timer&& left) {
        names.emplace_back(left.name());
        if (names.size() == 2) kept = std::move(left);
    });
    CHECK(names == std::vector<std::string>{"literal", "a text of some length, on the heap", "series", ""});
    REQUIRE(kept.has_value());
    (*kept)();
    CHECK(kept->name() == "a text of some length, on the heap");
}

TEST_CASE("a leftover that is run gets a context that can schedule nothing", "[leftover][stop]") {
    hand_turned t;
    int runs = 0;
    timer_handle h = t.queue.schedule_after(10ms, [&](timer_context& c) {
        ++runs;
        CHECK(c.scheduled() == 10ms);
        CHECK(c.scheduled_delay() == 10ms);
        CHECK(c.lateness() == 0ns);
        CHECK(c.missed() == 0);
        CHECK(c.handle() == h);
        CHECK_FALSE(c.reschedule_after(1ms));
        CHECK_FALSE(c.reschedule_at(time_point(1h)));
        CHECK_FALSE(c.cancel());
    });
    t.queue.stop([](leftover_timer&& left) { left(); });
    CHECK(runs == 1);
}

TEST_CASE("what a leftover throws comes through", "[leftover][stop]") {
    hand_turned t;
    t.queue.schedule_after(1ms, [] { throw std::runtime_error("mine"); });
    bool caught = false;
    t.queue.stop([&](leftover_timer&& left) {
        try {
            left();
        } catch (const std::runtime_error&) {
            caught = true;
        }
    });
    CHECK(caught);
    CHECK(t.queue.stats().failed == 0);
}

TEST_CASE("a visitor that throws is reported and gets the rest", "[leftover][stop]") {
    int reports = 0;
    hand_turned t({.on_error = [&](const sandglass::timer_error& e) {
        reports += e.kind == sandglass::error_kind::hook_failed ? 1 : 100;
    }});
    int live = 0;
    for (int i = 1; i <= 5; ++i) t.queue.schedule_after(i * 1ms, [c = counted(live)] {});
    int seen = 0;
    std::size_t left = 0;
    CHECK_NOTHROW(left = t.queue.stop([&](leftover_timer&&) {
        if (++seen % 2 == 0) throw std::runtime_error("visitor");
    }));
    CHECK(left == 5);
    CHECK(seen == 5);
    CHECK(reports == 2);
    CHECK(live == 0);
}

TEST_CASE("a visitor may use the handles and the stats of the timer that stops", "[leftover][stop]") {
    hand_turned t;
    for (int i = 1; i <= 5; ++i) t.queue.schedule_after(i * 1ms, [] {});
    int wrong = 0;
    t.queue.stop([&](leftover_timer&& left) {
        timer_handle h = left.handle();
        if (h.pending() || h.cancel() || h.reschedule_after(1ms)) ++wrong;
        if (!t.queue.stopped() || t.queue.stats().pending != 0 || t.queue.stop() != 0) ++wrong;
        if (t.queue.try_schedule_after(1ms, [] {})) ++wrong;
    });
    CHECK(wrong == 0);
}

TEST_CASE("an expiry that waits in the executor is left over too and its task does nothing", "[leftover][stop]") {
    std::vector<sandglass::expired_timer> tasks;
    manual_clock clock;
    const auto keep = [&](sandglass::expired_timer&& task) { tasks.push_back(std::move(task)); };
    sandglass::timer_queue queue{sandglass::wheel_options{}, keep, std::ref(clock)};
    int runs = 0;
    queue.schedule_after(1ms, [&] { ++runs; });
    queue.schedule_every(1ms, [&] { ++runs; });
    clock.advance(1ms);
    CHECK(queue.poll() == 2);
    std::vector<leftover_timer> kept;
    CHECK(queue.stop([&](leftover_timer&& left) { kept.push_back(std::move(left)); }) == 2);
    for (auto& task : tasks) task();
    CHECK(runs == 0);
    for (auto& left : kept) left();
    CHECK(runs == 2);
    tasks.clear();
    kept.clear();
    CHECK(queue.stats().unreclaimed == 0);
    CHECK(queue.stats().rejected == 0);
}

TEST_CASE("a callable of a leftover is destroyed when the leftover goes", "[leftover][stop]") {
    std::weak_ptr<int> weak;
    std::vector<leftover_timer> kept;
    {
        hand_turned t;
        auto shared = std::make_shared<int>(1);
        weak = shared;
        t.queue.schedule_every(1ms, [shared = std::move(shared)] { ++*shared; });
        t.queue.stop([&](leftover_timer&& left) { kept.push_back(std::move(left)); });
    }
    CHECK_FALSE(weak.expired());
    leftover_timer moved = std::move(kept.front());
    kept.clear();
    CHECK_FALSE(weak.expired());
    moved();
    CHECK(*weak.lock() == 2);
    { const leftover_timer last = std::move(moved); }
    CHECK(weak.expired());
}

TEST_CASE("many timers are left over in order", "[leftover][stop]") {
    hand_turned t({.slots = 16});
    for (int i = 0; i < 5000; ++i) t.queue.schedule_after(((i * 7919) % 5000) * 1ms, [] {});
    nanoseconds last{-1};
    int wrong = 0;
    CHECK(t.queue.stop([&](leftover_timer&& left) {
        if (left.deadline() < last) ++wrong;
        last = left.deadline();
    }) == 5000);
    CHECK(wrong == 0);
}

TEST_CASE("a visitor may destroy the queue", "[leftover][stop]") {
    manual_clock clock;
    using queue_type = sandglass::timer_queue<sandglass::inline_executor, std::reference_wrapper<manual_clock>>;
    auto queue =
        std::make_unique<queue_type>(sandglass::wheel_options{}, sandglass::inline_executor{}, std::ref(clock));
    int live = 0;
    int ran = 0;
    for (int i = 1; i <= 10; ++i) queue->schedule_after(i * 1ms, [&ran, c = counted(live)] { ++ran; });
    std::size_t seen = 0;
    CHECK(queue->stop([&](leftover_timer&& left) {
        queue.reset();
        ++seen;
        left();
    }) == 10);
    CHECK(seen == 10);
    CHECK(ran == 10);
    CHECK(live == 0);
}
