#include <sandglass/handle.hpp>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include <sandglass/timer_queue.hpp>
#include <support/catch.hpp>
#include <support/hand_turned.hpp>

namespace {

using namespace std::chrono_literals;
using sandglass::manual_clock;
using sandglass::scoped_timer;
using sandglass::timer_handle;
using std::chrono::nanoseconds;
using time_point = manual_clock::time_point;

using support::hand_turned;

}  // namespace

TEST_CASE("a handle is 16 bytes that can be copied like bytes", "[handle]") {
    STATIC_REQUIRE(sizeof(timer_handle) == 16);
    STATIC_REQUIRE(std::is_trivially_copyable_v<timer_handle>);
    STATIC_REQUIRE(std::is_trivially_destructible_v<timer_handle>);
    STATIC_REQUIRE(std::is_nothrow_default_constructible_v<timer_handle>);

    hand_turned t;
    timer_handle h = t.queue.schedule_after(1ms, [] {});
    timer_handle copy;
    std::memcpy(&copy, &h, sizeof h);
    CHECK(copy == h);
    CHECK(copy.cancel());
    CHECK_FALSE(h.pending());
}

TEST_CASE("an empty handle answers like a stale one", "[handle]") {
    timer_handle empty;
    CHECK_FALSE(empty);
    CHECK(empty == timer_handle{});
    CHECK_FALSE(empty.pending());
    CHECK_FALSE(empty.cancel());
    CHECK_FALSE(empty.cancel_and_wait());
    CHECK_FALSE(empty.reschedule_after(1ms));
    CHECK_FALSE(empty.reschedule_at(std::chrono::steady_clock::now()));
    CHECK_FALSE(empty.reschedule_at(std::chrono::system_clock::now()));
    CHECK(empty.remaining() == 0ns);
}

// C059
TEST_CASE("dropping and copying and moving a handle changes nothing", "[handle]") {
    hand_turned t;
    int runs = 0;
    t.queue.schedule_after(1ms, [&] { ++runs; });
    {
        timer_handle h = t.queue.schedule_after(1ms, [&] { ++runs; });
        timer_handle copy = h;
        timer_handle moved = std::move(h);
        CHECK(copy == moved);
        h = timer_handle{};
        CHECK(copy.pending());
    }
    CHECK(t.go(1ms) == 2);
    CHECK(runs == 2);
}

TEST_CASE("copies of a handle name the same timer", "[handle]") {
    hand_turned t;
    timer_handle a = t.queue.schedule_after(1ms, [] {});
    timer_handle b = a;
    CHECK(b.reschedule_after(5ms));
    CHECK(a.remaining() == 5ms);
    CHECK(a.cancel());
    CHECK_FALSE(b.cancel());
    CHECK(a == b);  // still, although it is over
    CHECK(a);
}

TEST_CASE("handles compare equal exactly if they name the same timer and hash accordingly", "[handle]") {
    hand_turned t;
    std::unordered_set<timer_handle> all;
    all.insert(timer_handle{});
    std::vector<timer_handle> handles;
    for (int i = 0; i < 2000; ++i) {
        handles.push_back(t.queue.schedule_after(1ms, [] {}));
        // Every other one ends at once, so that its memory is used again.
        if (i % 2 == 0) handles.back().cancel();
    }
    for (const timer_handle& h : handles) all.insert(h);
    CHECK(all.size() == 2001);
    std::size_t found = 0;
    for (const timer_handle& h : handles) found += all.count(timer_handle(h));
    CHECK(found == 2000);
    CHECK(handles[0] != handles[1]);
    CHECK(std::hash<timer_handle>{}(handles[5]) == std::hash<timer_handle>{}(timer_handle(handles[5])));
}

TEST_CASE("remaining counts down to the tick of the next run", "[handle]") {
    hand_turned t;
    t.clock.advance(300us);
    timer_handle h = t.queue.schedule_after(10ms, [] {});  // due at 10.3 ms, hence on tick 11
    CHECK(h.remaining() == 10'700us);
    t.go(4ms);
    CHECK(h.remaining() == 6'700us);
    t.clock.advance(1h);
    CHECK(h.remaining() == 0ns);  // due, but nobody has polled
    CHECK(h.pending());
    t.queue.poll();
    CHECK(h.remaining() == 0ns);
    CHECK_FALSE(h.pending());

    timer_handle series = t.queue.schedule_every(1s, [] {});
    t.go(1s + 1ms);
    CHECK(series.remaining() > 900ms);
    CHECK(series.remaining() <= 1s);
    series.cancel();
    CHECK(series.remaining() == 0ns);
}

// C081
TEST_CASE("a timer can be paused with remaining and moved back", "[handle]") {
    hand_turned t;
    std::vector<nanoseconds> at;
    timer_handle h = t.queue.schedule_after(500ms, [&] { at.push_back(t.clock.now().time_since_epoch()); });
    t.go(200ms);
    const nanoseconds left = h.remaining();
    CHECK(left == 300ms);
    CHECK(h.reschedule_after((nanoseconds::max)()));
    CHECK(t.go(1s) == 0);
    CHECK(h.reschedule_after(left));
    CHECK(h.remaining() == 300ms);
    CHECK(t.go(299ms) == 0);
    CHECK(t.go(1ms) == 1);
    CHECK(at == std::vector<nanoseconds>{1500ms});
}

TEST_CASE("pending says whether a run lies ahead", "[handle]") {
    hand_turned t;
    timer_handle once;
    timer_handle series;
    timer_handle paced;
    std::vector<bool> inside;
    once = t.queue.schedule_after(1ms, [&] { inside.push_back(once.pending()); });
    series = t.queue.schedule_every(1ms, [&] { inside.push_back(series.pending()); });
    paced = t.queue.schedule_after(1ms, [&](sandglass::timer_context& c) {
        inside.push_back(paced.pending());
        c.reschedule_after(1ms);
        inside.push_back(paced.pending());
        c.cancel();
        inside.push_back(paced.pending());
    });
    CHECK(once.pending());
    t.go(1ms);
    CHECK(inside == std::vector<bool>{false, true, false, true, false});
    CHECK_FALSE(once.pending());
    CHECK(series.pending());
}

// ---- scoped_timer -----------------------------------------------------------------------------------------------------

// C059, C095
TEST_CASE("a scoped timer cancels when it goes", "[handle][scoped]") {
    STATIC_REQUIRE(!std::is_copy_constructible_v<scoped_timer>);
    STATIC_REQUIRE(!std::is_copy_assignable_v<scoped_timer>);
    STATIC_REQUIRE(std::is_nothrow_move_constructible_v<scoped_timer>);
    STATIC_REQUIRE(std::is_nothrow_move_assignable_v<scoped_timer>);
    STATIC_REQUIRE(std::is_convertible_v<timer_handle, scoped_timer>);
    hand_turned t;
    int runs = 0;
    {
        scoped_timer guard = t.queue.schedule_after(1ms, [&] { ++runs; });
        CHECK(guard);
        CHECK(guard.pending());
        CHECK(guard.remaining() == 1ms);
        CHECK(t.queue.approx_pending() == 1);
    }
    CHECK(t.queue.approx_pending() == 0);
    CHECK(t.go(1ms) == 0);
    CHECK(runs == 0);
    CHECK(t.queue.stats().cancelled == 1);
}

TEST_CASE("a scoped timer that is moved from or released cancels nothing", "[handle][scoped]") {
    hand_turned t;
    int runs = 0;
    scoped_timer outer;
    CHECK_FALSE(outer);
    CHECK_FALSE(outer.pending());
    CHECK_FALSE(outer.cancel());
    {
        scoped_timer inner = t.queue.schedule_after(1ms, [&] { ++runs; });
        scoped_timer middle = std::move(inner);
        CHECK_FALSE(inner);
        outer = std::move(middle);
        CHECK_FALSE(middle);
        scoped_timer given_up = t.queue.schedule_after(1ms, [&] { ++runs; });
        timer_handle h = given_up.release();
        CHECK_FALSE(given_up);
        CHECK(h.pending());
    }
    CHECK(outer.pending());
    CHECK(t.go(1ms) == 2);
    CHECK(runs == 2);
    CHECK_FALSE(outer.cancel());
    CHECK(t.queue.stats().cancelled == 0);
}

TEST_CASE("a scoped timer that is assigned over cancels what it had", "[handle][scoped]") {
    hand_turned t;
    std::vector<int> runs;
    scoped_timer guard = t.queue.schedule_after(1ms, [&] { runs.push_back(1); });
    guard = t.queue.schedule_after(1ms, [&] { runs.push_back(2); });
    CHECK(t.queue.stats().cancelled == 1);
    scoped_timer& same = guard;
    guard = std::move(same);  // onto itself: nothing happens
    CHECK(guard.pending());
    t.go(1ms);
    CHECK(runs == std::vector<int>{2});
    guard = t.queue.schedule_after(1ms, [&] { runs.push_back(3); });
    guard = scoped_timer{};
    CHECK(t.go(1ms) == 0);
}

TEST_CASE("a scoped timer offers what its handle does", "[handle][scoped]") {
    hand_turned t;
    int runs = 0;
    timer_handle h = t.queue.schedule_after(1ms, [&] { ++runs; });
    scoped_timer guard = h;
    CHECK(guard.get() == h);
    CHECK(guard.reschedule_after(5ms));
    CHECK(guard.remaining() == 5ms);
    CHECK(guard.reschedule_at(time_point(3ms)));
    CHECK(guard.remaining() == 3ms);
    CHECK(t.go(2ms) == 0);
    CHECK(guard.cancel());
    CHECK_FALSE(guard.cancel_and_wait());
    CHECK_FALSE(guard.pending());
    CHECK(guard);  // not empty, but stale
    guard = t.queue.schedule_after(1ms, [&] { ++runs; });
    CHECK(guard.cancel_and_wait());
    CHECK(t.go(1h) == 0);
    CHECK(runs == 0);
}

TEST_CASE("a scoped timer may be a member of what its callback destroys", "[handle][scoped]") {
    hand_turned t;
    struct connection {
        scoped_timer timeout;
        int* closed;
        ~connection() { ++*closed; }
    };
    int closed = 0;
    std::vector<connection*> open;
    for (int i = 0; i < 3; ++i) {
        auto* c = new connection{{}, &closed};
        c->timeout = t.queue.schedule_after(std::chrono::milliseconds(i + 1), [c] { delete c; });
    }
    for (int i = 0; i < 3; ++i) t.go(1ms);
    CHECK(closed == 3);
    CHECK(t.queue.stats().unreclaimed == 0);
}

TEST_CASE("a scoped timer may outlive the timer object", "[handle][scoped]") {
    scoped_timer guard;
    {
        hand_turned t;
        guard = t.queue.schedule_after(1ms, [] {});
    }
    CHECK(guard);
    CHECK_FALSE(guard.pending());
    CHECK_FALSE(guard.reschedule_after(1ms));
}
