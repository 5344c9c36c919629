#include <sandglass/clock.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <type_traits>
#include <vector>

#include <support/catch.hpp>

namespace {

using namespace std::chrono_literals;
using sandglass::manual_clock;

// What is a clock, and what is none.
struct static_clock {
    static std::chrono::steady_clock::time_point now() { return {}; }
};
struct object_of_real_seconds {
    [[nodiscard]] std::chrono::time_point<std::chrono::system_clock, std::chrono::duration<double>> now() const {
        return {};
    }
};
struct no_time_point {
    [[nodiscard]] std::chrono::seconds now() const { return 1s; }
};
struct nothing_at_all {};

static_assert(sandglass::clock<std::chrono::steady_clock> && sandglass::clock<std::chrono::system_clock>);
static_assert(sandglass::clock<manual_clock> && sandglass::clock<static_clock>);
static_assert(sandglass::clock<object_of_real_seconds>);
static_assert(!sandglass::clock<no_time_point> && !sandglass::clock<nothing_at_all> && !sandglass::clock<int>);

static_assert(sandglass::waitable_clock<manual_clock>);
static_assert(!sandglass::waitable_clock<std::chrono::steady_clock> && !sandglass::waitable_clock<static_clock>);

static_assert(std::is_same_v<manual_clock::time_point::clock, std::chrono::steady_clock>);
static_assert(!std::is_copy_constructible_v<manual_clock> && !std::is_move_constructible_v<manual_clock>);

using time_point = manual_clock::time_point;

TEST_CASE("manual time stands still until it is told to go on", "[clock]") {
    manual_clock clock;
    CHECK(clock.now() == time_point{});
    CHECK(clock.now() == time_point{});
    clock.advance(3s);
    clock.advance(1ns);
    CHECK(clock.now() == time_point(3'000'000'001ns));
    clock.advance(0ns);
    CHECK(clock.now() == time_point(3'000'000'001ns));
}

TEST_CASE("manual time may begin anywhere and be set to anything", "[clock]") {
    manual_clock clock(time_point(-5s));
    CHECK(clock.now() == time_point(-5s));
    clock.set(time_point(1h));
    CHECK(clock.now() == time_point(1h));
    clock.set(time_point(1min));
    CHECK(clock.now() == time_point(1min));
    clock.set((time_point::max)());
    CHECK(clock.now() == (time_point::max)());
}

TEST_CASE("a wait for a time that has come is over at once", "[clock]") {
    manual_clock clock(time_point(10s));
    int asked = 0;
    const auto woken = [&] {
        ++asked;
        return false;
    };
    clock.wait_until(time_point(10s), woken);
    clock.wait_until(time_point(-1s), woken);
    clock.wait_until((time_point::min)(), woken);
    CHECK(clock.now() == time_point(10s));
}

TEST_CASE("a wait is over at once for somebody who has been woken", "[clock]") {
    manual_clock clock;
    clock.wait_until((time_point::max)(), [] { return true; });
    CHECK(clock.now() == time_point{});
}

// Lets every thread go that still waits, whatever became of the test.
struct release_waiting {
    manual_clock& clock;
    ~release_waiting() { clock.set((time_point::max)()); }
};

constexpr auto patience = 20s;

TEST_CASE("a waiting thread goes on when the time has come, and not before", "[clock]") {  // C062
    manual_clock clock;
    std::atomic<bool> asked{false};
    auto waiter = std::async(std::launch::async, [&] {
        clock.wait_until(time_point(2s), [&] {
            asked = true;
            return false;
        });
        return clock.now();
    });
    const release_waiting guard{clock};
    while (!asked) std::this_thread::yield();
    clock.advance(1s);
    clock.notify();
    clock.advance(999'999'999ns);
    CHECK(waiter.wait_for(0s) == std::future_status::timeout);
    clock.advance(1ns);
    REQUIRE(waiter.wait_for(patience) == std::future_status::ready);
    CHECK(waiter.get() == time_point(2s));
}

TEST_CASE("a waiting thread goes on when it is woken and notified", "[clock]") {
    manual_clock clock;
    std::atomic<bool> woken{false};
    std::atomic<int> asked{0};
    auto waiter = std::async(std::launch::async, [&] {
        clock.wait_until((time_point::max)(), [&] {
            ++asked;
            return woken.load();
        });
    });
    const release_waiting guard{clock};
    while (asked == 0) std::this_thread::yield();
    woken = true;
    clock.notify();
    CHECK(waiter.wait_for(patience) == std::future_status::ready);
}

TEST_CASE("time that goes on wakes everybody who waits", "[clock]") {
    manual_clock clock;
    std::atomic<int> waiting{0};
    std::vector<std::future<void>> waiters;
    for (int i = 1; i <= 4; ++i) {
        waiters.push_back(std::async(std::launch::async, [&, i] {
            ++waiting;
            clock.wait_until(time_point(std::chrono::seconds(i)), [] { return false; });
        }));
    }
    const release_waiting guard{clock};
    while (waiting < 4) std::this_thread::yield();
    clock.set(time_point(1h));
    for (std::future<void>& waiter : waiters) CHECK(waiter.wait_for(patience) == std::future_status::ready);
}

TEST_CASE("time may be read and moved by several threads", "[clock]") {
    manual_clock clock;
    std::vector<std::future<bool>> threads;
    for (int i = 0; i < 3; ++i) {
        threads.push_back(std::async(std::launch::async, [&] {
            bool forward = true;
            for (int k = 0; k < 1000; ++k) {
                const time_point before = clock.now();
                clock.advance(1ms);
                forward = forward && clock.now() > before;
            }
            return forward;
        }));
    }
    for (std::future<bool>& thread : threads) CHECK(thread.get());
    CHECK(clock.now() == time_point(3s));
}

}  // namespace

TEST_CASE("a manual clock stops at either end of time", "[clock]") {
    sandglass::manual_clock clock;
    clock.advance((sandglass::manual_clock::duration::max)());
    clock.advance((sandglass::manual_clock::duration::max)());
    CHECK(clock.now() == (sandglass::manual_clock::time_point::max)());
    for (int i = 0; i < 3; ++i) clock.advance((sandglass::manual_clock::duration::min)());
    CHECK(clock.now() == (sandglass::manual_clock::time_point::min)());
}
