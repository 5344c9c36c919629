// Faults that were found in the protocol between callers, consumer and runners. Each test failed, or was reported by a
// sanitizer, before the mending that it names.
#include <sandglass/sandglass.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/waiting.hpp"

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

using support::eventually;

TEST_CASE("a timer that is pulled forward while still in the queue wakes the sleeping thread", "[timer_core]") {
    sandglass::wheel_timer timer;
    timer.schedule_after(1h, [] {});
    std::this_thread::sleep_for(30ms);  // the thread has gone to sleep, for an hour

    std::atomic<bool> ran{false};
    // Later than the one it sleeps for: stays in the queue, and wakes nobody.
    sandglass::timer_handle handle = timer.schedule_after(2h, [&] { ran = true; });
    REQUIRE(handle.reschedule_after(5ms));
    CHECK(eventually([&] { return ran.load(); }));
}

TEST_CASE("a timer that is pulled forward while the executor holds it runs at the new time", "[timer_core]") {
    sandglass::manual_clock clock;
    std::vector<sandglass::expired_timer> held;
    const auto hold = [&](sandglass::expired_timer&& task) { held.push_back(std::move(task)); };
    sandglass::timer_queue queue{sandglass::wheel_options{}, hold, std::ref(clock)};
    int runs = 0;
    sandglass::timer_handle handle = queue.schedule_after(10ms, [&] { ++runs; });
    clock.advance(10ms);
    queue.poll();
    REQUIRE(held.size() == 1);

    REQUIRE(handle.reschedule_after(30ms));
    REQUIRE(handle.reschedule_after(20ms));
    held.front()();
    CHECK(runs == 0);  // that expiry no longer counts
    held.clear();
    clock.advance(19ms);
    queue.poll();
    CHECK(held.empty());
    clock.advance(1ms);
    queue.poll();
    REQUIRE(held.size() == 1);
    held.front()();
    CHECK(runs == 1);
    CHECK_FALSE(handle.pending());
}

TEST_CASE("asking whether a timer is pending races with nothing when its memory is used again", "[timer_core]") {
    constexpr int rounds = 3000;
    sandglass::wheel_timer timer{{.tick = 50us}};
    std::vector<sandglass::timer_handle> handles(rounds);
    std::atomic<int> current{-1};
    std::atomic<bool> done{false};
    std::thread asker{[&] {
        while (!done) {
            if (const int i = current.load(); i >= 0) static_cast<void>(handles[static_cast<std::size_t>(i)].pending());
        }
    }};
    for (int i = 0; i < rounds; ++i) {
        // A timer that paces itself keeps its timing where the next one keeps its captures.
        handles[static_cast<std::size_t>(i)] = timer.schedule_after(0ms, [](sandglass::timer_context&) {});
        current = i;
        timer.schedule_after(0ms, [&done, i] { static_cast<void>(done.load() || i == 0); });
        if (i % 8 == 0) std::this_thread::sleep_for(60us);
    }
    done = true;
    asker.join();
    timer.stop();
    const sandglass::timer_stats stats = timer.stats();
    CHECK(stats.scheduled == stats.fired + stats.discarded);
}

namespace {

std::atomic<int> used_after_its_end{0};

struct mortal_clock {
    using time_point = steady::time_point;
    std::atomic<bool> alive{true};
    ~mortal_clock() { alive = false; }
    [[nodiscard]] time_point now() const {
        if (!alive) ++used_after_its_end;
        return steady::now();
    }
};

struct mortal_executor {
    std::atomic<bool> alive{true};
    ~mortal_executor() { alive = false; }
    void execute(sandglass::expired_timer&& task) const {
        if (!alive) ++used_after_its_end;
        task();
    }
};

// Members go in the reverse order: first the timer, then what it was made of.
struct application {
    mortal_clock clock;
    mortal_executor executor;
    sandglass::basic_wheel_timer<std::reference_wrapper<mortal_executor>, std::reference_wrapper<mortal_clock>> timer{
        sandglass::wheel_options{.slow_tick = 1ns, .slow_callback = 1ns}, std::ref(executor), std::ref(clock)};
};

}  // namespace

TEST_CASE("a callback may destroy its timer and then the clock and the executor", "[timer_core]") {
    used_after_its_end = 0;
    // The memory stays, so that a use after the end is seen and not undefined by the memory's being gone.
    alignas(application) static std::byte memory[sizeof(application)];
    auto* const app = ::new (static_cast<void*>(memory)) application;
    std::atomic<bool> destroyed{false};
    std::atomic<int> second_runs{0};
    const auto when = steady::now() + 20ms;
    app->timer.schedule_at(when, [&] {
        app->~application();
        destroyed = true;
    });
    for (int i = 0; i < 10; ++i) app->timer.schedule_at(when, [&] { ++second_runs; });
    REQUIRE(eventually([&] { return destroyed.load(); }));
    std::this_thread::sleep_for(50ms);
    CHECK(used_after_its_end == 0);
    CHECK(second_runs == 0);
}

TEST_CASE("a pool that dies with its last timer on one of its own workers takes its threads with it", "[timer_core]") {
    using pooled = sandglass::basic_wheel_timer<std::shared_ptr<sandglass::thread_pool>>;
    std::atomic<bool> destroyed{false};
    auto* const timer =
        new pooled(sandglass::wheel_options{}, std::make_shared<sandglass::thread_pool>(std::size_t{2}));
    timer->schedule_after(5ms, [&destroyed, timer] {
        delete timer;
        destroyed = true;
    });
    CHECK(eventually([&] { return destroyed.load(); }));
    std::this_thread::sleep_for(20ms);  // the worker ends by itself
}

TEST_CASE("stop() from another thread waits until the executor is left alone", "[timer_core]") {
    std::atomic<bool> inside{false};
    std::atomic<bool> let_go{false};
    std::atomic<int> calls{0};
    const auto slow_executor = [&](sandglass::expired_timer&& task) {
        ++calls;
        inside = true;
        while (!let_go) std::this_thread::sleep_for(1ms);
        task();
    };
    sandglass::basic_wheel_timer timer{sandglass::wheel_options{}, slow_executor};
    const auto when = steady::now() + 5ms;
    for (int i = 0; i < 3; ++i) timer.schedule_at(when, [] {});
    REQUIRE(eventually([&] { return inside.load(); }));
    std::thread releaser{[&] {
        std::this_thread::sleep_for(30ms);
        let_go = true;
    }};
    timer.stop();
    CHECK(let_go);
    CHECK(calls == 1);  // the other two were discarded without it
    releaser.join();
    CHECK(timer.stats().discarded == 3);
}

TEST_CASE("cancelling timers whose queue is going leaves the limit of the next queue alone", "[timer_core]") {
    constexpr std::size_t limit = 64;
    std::mutex mutex;
    std::vector<sandglass::timer_handle> shared;
    std::atomic<bool> done{false};
    std::thread canceller{[&] {
        while (!done) {
            std::vector<sandglass::timer_handle> handles;
            {
                const std::lock_guard lock{mutex};
                handles = shared;
            }
            for (auto& handle : handles) handle.cancel();
        }
    }};
    int refused = 0;
    int too_many = 0;
    for (int round = 0; round < 1000; ++round) {
        // Queues use the same memory one after the other.
        sandglass::timer_queue queue{{.slots = 16, .max_pending = limit}};
        std::vector<sandglass::timer_handle> fresh;
        for (std::size_t i = 0; i < limit; ++i) fresh.push_back(queue.try_schedule_after(1h, [] {}));
        for (const auto& handle : fresh) refused += handle ? 0 : 1;
        too_many += queue.try_schedule_after(1h, [] {}) ? 1 : 0;
        const std::lock_guard lock{mutex};
        shared = fresh;
    }
    done = true;
    canceller.join();
    CHECK(refused == 0);
    CHECK(too_many == 0);
}

TEST_CASE("busy callers do not keep the tick thread from its wheel", "[timer_core]") {
    sandglass::wheel_timer timer;
    std::atomic<bool> done{false};
    std::vector<std::thread> callers;
    for (int i = 0; i < 3; ++i) {
        callers.emplace_back([&] {
            while (!done) timer.schedule_after(30min, [] {}).cancel();
        });
    }
    std::atomic<int> runs{0};
    timer.schedule_every(5ms, [&] { ++runs; });
    CHECK(eventually([&] { return runs.load() >= 20; }));
    done = true;
    for (auto& caller : callers) caller.join();
}

TEST_CASE("stop finds every timer while the nodes of a series are on their way back", "[timer_core]") {
    // The first series that ever ended in a core: what had come back was counted as fewer than none, and stop() took the
    // core for empty. So each round needs a core of its own, which it gets while the queues before it are there.
    std::vector<std::unique_ptr<sandglass::timer_queue<>>> queues;
    int left = 0;
    for (int round = 0; round < 100; ++round) {
        queues.push_back(std::make_unique<sandglass::timer_queue<>>(sandglass::wheel_options{.slots = 1}));
        sandglass::timer_queue<>& queue = *queues.back();
        sandglass::timer_handle series = queue.schedule_every(1h, [] {});
        queue.schedule_after(1h, [] {});
        std::atomic<bool> ready{false};
        std::thread canceller{[&] {
            ready = true;
            series.cancel();
        }};
        while (!ready) std::this_thread::yield();
        queue.stop();
        canceller.join();
        left += queue.approx_pending() == 0 ? 0 : 1;
    }
    CHECK(left == 0);
}

TEST_CASE("figures that are read while timers come and go never fall below zero", "[timer_core]") {
    sandglass::timer_queue queue;
    std::atomic<bool> done{false};
    std::thread caller{[&] {
        for (int i = 0; i < 20'000; ++i) {
            queue.schedule_every(1h, [] {}).cancel();
            queue.schedule_after(0s, [](sandglass::timer_context&) {});
            if (i % 16 == 0) queue.poll();
        }
        done = true;
    }};
    constexpr std::uint64_t below_zero = std::uint64_t{1} << 62;
    int wrapped = 0;
    while (!done) {
        const sandglass::timer_stats s = queue.stats();
        for (const std::uint64_t figure : {s.scheduled, s.pending, s.unreclaimed})
            wrapped += figure >= below_zero ? 1 : 0;
    }
    caller.join();
    CHECK(wrapped == 0);
}
