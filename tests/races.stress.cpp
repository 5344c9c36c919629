#include <sandglass/sandglass.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <support/catch.hpp>
#include <support/waiting.hpp>

// Everything at once, from several threads, for a bounded time: fit for the thread and the address sanitizer, which see
// what no assertion can. What is asserted are the books. SANDGLASS_SOAK=10 takes ten times as long.

namespace {

using namespace std::chrono_literals;
using sandglass::timer_context;
using sandglass::timer_handle;
using sandglass::wheel_options;
using std::chrono::microseconds;
using std::chrono::nanoseconds;
using steady = std::chrono::steady_clock;

int soak() {
    const char* factor = std::getenv("SANDGLASS_SOAK");
    return factor != nullptr ? (std::max)(1, std::atoi(factor)) : 1;
}

// An end by number and by time, whichever comes first: a sanitizer makes operations slow, not long.
class budget {
  public:
    budget(int operations, nanoseconds time) : left_(operations * soak()), end_(steady::now() + time * soak()) {}
    bool more() {
        if (left_-- <= 0) return false;
        return left_ % 32 != 0 || steady::now() < end_;
    }

  private:
    int left_;
    steady::time_point end_;
};

using support::eventually;

// Captures that are counted, each destroyed exactly once, and checked when they are used.
class tracked {
  public:
    explicit tracked(std::atomic<std::int64_t>& live) : live_(&live), value_(std::make_unique<int>(7)) { ++*live_; }
    tracked(tracked&& other) noexcept : live_(other.live_), value_(std::move(other.value_)) { ++*live_; }
    tracked(const tracked&) = delete;
    tracked& operator=(const tracked&) = delete;
    ~tracked() { --*live_; }
    [[nodiscard]] int use() const { return *value_; }  // after the end this is a fault that a sanitizer sees

  private:
    std::atomic<std::int64_t>* live_;
    std::unique_ptr<int> value_;
};

// Handles that all threads share.
class handle_board {
  public:
    timer_handle get(std::size_t i) {
        entry& e = entries_[i % entries_.size()];
        const std::lock_guard lock(e.mutex);
        return e.handle;
    }
    timer_handle exchange(std::size_t i, timer_handle h) {
        entry& e = entries_[i % entries_.size()];
        const std::lock_guard lock(e.mutex);
        return std::exchange(e.handle, h);
    }

  private:
    struct entry {
        std::mutex mutex;
        timer_handle handle;
    };
    std::array<entry, 64> entries_;
};

void spin(microseconds time) {
    for (const auto end = steady::now() + time; steady::now() < end;) {}
}

bool balanced(const sandglass::timer_stats& s) {
    return s.scheduled == s.fired + s.cancelled + s.rejected + s.discarded + s.pending;
}

struct outcome {
    sandglass::timer_stats stats;
    std::int64_t live = 0;
    std::int64_t runs = 0;
    bool reclaimed = false;
};

// All operations on one timer from four threads, and a stop in the middle of it or after it.
template <class Timer>
outcome hammer(Timer& timer, bool stop_midway) {
    std::atomic<std::int64_t> live{0};
    std::atomic<std::int64_t> runs{0};
    std::atomic<std::int64_t> sum{0};
    handle_board board;
    const auto work = [&](unsigned seed) {
        std::mt19937 random(seed);
        std::vector<timer_handle> mine(50);
        const auto delay = [&](unsigned most) { return microseconds(random() % most); };
        for (budget b(15'000, 500ms); b.more();) {
            timer_handle& h = mine[random() % mine.size()];
            timer_handle shared = board.get(random());
            try {
                switch (random() % 14) {
                case 0:
                case 1:
                case 2:
                    h = timer.schedule_after(delay(5000), [&runs] { ++runs; });
                    break;
                case 3:
                    h = timer.schedule_after(delay(5000), [&runs, &sum, c = tracked(live)] {
                        ++runs;
                        sum += c.use();
                    });
                    board.exchange(random(), h).cancel();
                    break;
                case 4:
                    h = timer.schedule_every(
                        microseconds(1) + delay(3000),
                        [&runs, &sum, c = tracked(live)](timer_context& context) {
                            sum += c.use();
                            const std::int64_t run = ++runs;
                            if (run % 7 == 0) context.cancel();
                            if (run % 5 == 0) context.reschedule_after(1ms);
                        },
                        {.mode = random() % 2 == 0 ? sandglass::repeat::fixed_rate : sandglass::repeat::fixed_delay});
                    board.exchange(random(), h).cancel();
                    break;
                case 5:
                    h = timer.schedule_after(delay(3000), [&runs, c = tracked(live)](timer_context& context) {
                        const std::int64_t run = ++runs;
                        if (run % 3 != 0) context.reschedule_after(microseconds(run % 2000));
                    });
                    board.exchange(random(), h).cancel();
                    break;
                case 6:
                    h.cancel();
                    break;
                case 7:
                    shared.cancel();
                    break;
                case 8:
                    h.cancel_and_wait();
                    break;
                case 9:
                    shared.cancel_and_wait();
                    break;
                case 10:
                    shared.reschedule_after(delay(4000));
                    break;
                case 11:
                    h.reschedule_after(delay(400'000));
                    break;
                case 12:
                    h.reschedule_after((nanoseconds::max)());
                    break;
                default:
                    static_cast<void>(h.pending());
                    static_cast<void>(shared.remaining());
                    static_cast<void>(timer.stats());
                }
            } catch (const sandglass::timer_stopped&) {
                return;
            } catch (const sandglass::pending_limit_reached&) {
                std::this_thread::yield();
            }
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i) threads.emplace_back(work, i);
    if (stop_midway) {
        std::this_thread::sleep_for(50ms);
        std::thread second([&] { timer.stop([](sandglass::leftover_timer&& left) { left(); }); });
        timer.stop();
        second.join();
    }
    for (std::thread& thread : threads) thread.join();
    timer.stop();
    outcome o;
    // A pool may still have to look at the tasks of timers that are over.
    o.reclaimed = eventually([&] { return timer.stats().unreclaimed == 0; });
    o.stats = timer.stats();
    o.live = live;
    o.runs = runs;
    return o;
}

void check(const outcome& o) {
    CHECK(balanced(o.stats));
    CHECK(o.stats.pending == 0);
    CHECK(o.reclaimed);
    CHECK(o.live == 0);
    CHECK(o.runs >= static_cast<std::int64_t>(o.stats.fired));  // visitors run some as well
}

}  // namespace

// C033
TEST_CASE("all operations from four threads leave the books balanced inline", "[races]") {
    for (const bool stop_midway : {false, true}) {
        sandglass::wheel_timer timer{{.tick = 100us, .slots = 16}};
        check(hammer(timer, stop_midway));
    }
}

TEST_CASE("all operations from four threads leave the books balanced with a pool", "[races]") {
    for (const bool stop_midway : {false, true}) {
        sandglass::thread_pool pool{3};
        sandglass::basic_wheel_timer timer{wheel_options{.tick = 100us, .slots = 64, .max_pending = 5000},
                                           std::ref(pool)};
        check(hammer(timer, stop_midway));
    }
}

TEST_CASE("all operations from four threads leave the books balanced with a pool that refuses", "[races]") {
    for (const bool stop_midway : {false, true}) {
        sandglass::thread_pool pool{2, {.queue_limit = 3, .full = sandglass::when_full::refuse}};
        std::atomic<std::int64_t> reports{0};
        sandglass::basic_wheel_timer timer{
            wheel_options{.tick = 100us, .slots = 64, .on_error = [&](const sandglass::timer_error&) { ++reports; }},
            std::ref(pool)};
        const outcome o = hammer(timer, stop_midway);
        pool.stop();
        check(o);
        CHECK(static_cast<std::uint64_t>(reports.load()) == o.stats.rejected);
    }
}

TEST_CASE("handles are used by other threads while timers come and go", "[races]") {
    handle_board board;
    std::atomic<bool> end{false};
    std::atomic<std::int64_t> live{0};
    std::atomic<std::int64_t> runs{0};
    std::vector<std::thread> users;
    for (unsigned i = 0; i < 2; ++i) {
        users.emplace_back([&, i] {
            std::mt19937 random(100 + i);
            while (!end) {
                timer_handle h = board.get(random());
                switch (random() % 8) {
                case 0:
                    h.cancel();
                    break;
                case 1:
                    h.cancel_and_wait();
                    break;
                case 2:
                    h.reschedule_after(microseconds(random() % 1000));
                    break;
                case 3:
                    h.reschedule_at(steady::now() + 1ms);
                    break;
                case 4:
                    h.reschedule_after(1h);
                    break;
                case 5:
                    static_cast<void>(h.remaining());
                    break;
                default:
                    static_cast<void>(h.pending());
                }
            }
        });
    }
    std::mt19937 random(9);
    const auto fill = [&](auto& timer) {
        for (int k = 0; k < 200; ++k) {
            const microseconds delay(random() % 1500);
            timer_handle h;
            switch (random() % 3) {
            case 0:
                h = timer.schedule_after(delay, [&runs, c = tracked(live)] { runs += c.use(); });
                break;
            case 1:
                h = timer.schedule_after(delay, [&runs] { ++runs; });
                break;
            default:
                h = timer.schedule_every(delay + 1us, [&runs, c = tracked(live)](timer_context& context) {
                    runs += c.use();
                    context.reschedule_after(200us);
                });
            }
            board.exchange(random(), h);
        }
        spin(microseconds(random() % 500));
    };
    std::uint64_t unbalanced = 0;
    for (budget b(400, 1s); b.more();) {
        if (random() % 2 == 0) {
            sandglass::wheel_timer timer{{.tick = 50us, .slots = 16}};
            fill(timer);
        } else {
            sandglass::thread_pool pool{2};
            sandglass::basic_wheel_timer timer{wheel_options{.tick = 50us, .slots = 16}, std::ref(pool)};
            fill(timer);
            if (random() % 2 == 0) {
                timer.stop();
                if (!balanced(timer.stats())) ++unbalanced;
            }
        }
    }
    end = true;
    for (std::thread& user : users) user.join();
    CHECK(unbalanced == 0);
    CHECK(live == 0);
}

TEST_CASE("a timer either runs or is cancelled and never both", "[races][cancel]") {
    for (const bool pooled : {false, true}) {
        sandglass::thread_pool pool{2};
        const auto race = [](auto& timer) {
            std::atomic<std::int64_t> runs{0};
            std::atomic<std::int64_t> live{0};
            std::int64_t scheduled = 0;
            std::int64_t prevented = 0;
            std::int64_t prevented_by_other = 0;
            std::mt19937 random(2);
            for (budget b(1500, 700ms); b.more();) {
                std::array<timer_handle, 16> handles;
                for (timer_handle& h : handles) {
                    h = timer.schedule_after(microseconds(random() % 300),
                                             [&runs, c = tracked(live)] { runs += c.use() == 7 ? 1 : 100; });
                    ++scheduled;
                }
                spin(microseconds(random() % 300));
                std::thread other;
                const bool with_other = random() % 16 == 0;
                if (with_other) {
                    other = std::thread([&] {
                        for (timer_handle& h : handles) prevented_by_other += timer_handle(h).cancel_and_wait() ? 1 : 0;
                    });
                }
                for (const timer_handle& h : handles) prevented += timer_handle(h).cancel() ? 1 : 0;
                if (with_other) other.join();
            }
            timer.stop();
            CHECK(runs + prevented + prevented_by_other == scheduled);
            CHECK(timer.stats().discarded == 0);
            CHECK(live == 0);
            // A pool may still have to look at the tasks of cancelled timers.
            CHECK(eventually([&] { return timer.stats().unreclaimed == 0; }));
        };
        if (pooled) {
            sandglass::basic_wheel_timer timer{wheel_options{.tick = 50us}, std::ref(pool)};
            race(timer);
        } else {
            sandglass::wheel_timer timer{{.tick = 50us}};
            race(timer);
        }
    }
}

// C098
TEST_CASE("a timer that is moved at the moment of its expiry runs exactly once", "[races][reschedule]") {
    for (const bool pooled : {false, true}) {
        sandglass::thread_pool pool{2};
        const auto race = [](auto& timer) {
            std::mt19937 random(4);
            int wrong = 0;
            for (budget b(1200, 700ms); b.more();) {
                std::atomic<int> runs{0};
                const bool to_now = random() % 2 == 0;
                timer_handle h = timer.schedule_after(microseconds(random() % 300), [&runs] { ++runs; });
                spin(microseconds(random() % 300));
                bool second = false;
                std::thread other;
                const bool with_other = random() % 16 == 0;
                if (with_other) other = std::thread([&] { second = timer_handle(h).reschedule_after(100us); });
                timer_handle(h).reschedule_after(to_now ? 0us : 150us);
                if (with_other) other.join();
                if (!eventually([&] { return runs != 0; })) ++wrong;
                h.cancel_and_wait();
                if (runs != 1) ++wrong;
                static_cast<void>(second);
            }
            CHECK(wrong == 0);
        };
        if (pooled) {
            sandglass::basic_wheel_timer timer{wheel_options{.tick = 50us}, std::ref(pool)};
            race(timer);
        } else {
            sandglass::wheel_timer timer{{.tick = 50us}};
            race(timer);
        }
    }
}

// C089
TEST_CASE("two threads that move and cancel the same timers end in a definite state", "[races][reschedule]") {
    sandglass::wheel_timer timer{{.tick = 100us, .slots = 8}};
    std::atomic<std::int64_t> runs{0};
    std::atomic<std::int64_t> live{0};
    std::vector<timer_handle> handles;
    int wrong = 0;
    for (budget rounds_left(30, 1s); rounds_left.more();) {
        handles.clear();
        for (int i = 0; i < 32; ++i) {
            handles.push_back(i % 2 == 0 ? timer.schedule_after(10ms, [&runs, c = tracked(live)] { ++runs; })
                                         : timer.schedule_every(10ms, [&runs, c = tracked(live)] { ++runs; }));
        }
        std::atomic<int> cancelled{0};
        const auto work = [&](unsigned seed) {
            std::mt19937 random(seed);
            for (budget b(3000, 100ms); b.more();) {
                timer_handle h = handles[random() % handles.size()];
                // Near, far, and on both sides of what the wheel's turn can hold.
                h.reschedule_after(microseconds(random() % 2 == 0 ? random() % 400 : random() % 400'000));
                if (random() % 200 == 0 && h.cancel()) ++cancelled;
            }
        };
        std::thread a(work, 1U);
        std::thread b(work, 2U);
        a.join();
        b.join();
        for (timer_handle& h : handles) {
            h.cancel_and_wait();
            if (h.pending() || h.cancel() || h.reschedule_after(1ms)) ++wrong;
        }
        if (live != 0 || timer.approx_pending() != 0) ++wrong;
    }
    CHECK(wrong == 0);
    CHECK(balanced(timer.stats()));
}

TEST_CASE("what cancel_and_wait has waited for is over", "[races][cancel]") {
    sandglass::thread_pool pool{3};
    sandglass::basic_wheel_timer timer{wheel_options{.tick = 50us}, std::ref(pool)};
    std::mt19937 random(6);
    int wrong = 0;
    for (budget b(800, 1s); b.more();) {
        auto buffer = std::make_unique<std::array<int, 64>>();
        std::atomic<int> inside{0};
        const auto body = [&inside, raw = buffer.get()] {
            ++inside;
            for (int& value : *raw) ++value;
            --inside;
        };
        timer_handle h;
        switch (random() % 3) {
        case 0:
            h = timer.schedule_after(microseconds(random() % 100), body);
            break;
        case 1:
            h = timer.schedule_every(microseconds(50 + random() % 100), body);
            break;
        default:
            h = timer.schedule_after(microseconds(random() % 100), [body](timer_context& c) {
                body();
                c.reschedule_after(50us);
            });
        }
        spin(microseconds(random() % 250));
        std::thread mover;
        if (random() % 16 == 0) {
            mover = std::thread([h]() mutable {
                for (int i = 0; i < 50; ++i) h.reschedule_after(microseconds(i));
            });
        }
        h.cancel_and_wait();
        if (inside != 0) ++wrong;
        buffer.reset();
        if (mover.joinable()) mover.join();
    }
    CHECK(wrong == 0);
}

// C044
TEST_CASE("a pool and its timer may be stopped in either order and at the same time", "[races][stop]") {
    std::atomic<std::int64_t> live{0};
    int wrong = 0;
    unsigned turn = 0;
    for (budget b(120, 1s); b.more(); ++turn) {
        std::atomic<std::int64_t> reports{0};
        std::atomic<std::int64_t> runs{0};
        sandglass::thread_pool pool{2};
        sandglass::basic_wheel_timer timer{
            wheel_options{.tick = 50us, .on_error = [&](const sandglass::timer_error&) { ++reports; }}, std::ref(pool)};
        for (int i = 0; i < 100; ++i) {
            timer.schedule_after(microseconds(i * 5), [&runs, c = tracked(live)] { ++runs; });
        }
        switch (turn % 3) {
        case 0:
            pool.stop();
            spin(600us);
            timer.stop();
            break;
        case 1:
            spin(200us);
            timer.stop();
            pool.stop();
            break;
        default: {
            spin(200us);
            std::thread other([&] { pool.stop(); });
            timer.stop();
            other.join();
        }
        }
        const sandglass::timer_stats s = timer.stats();
        if (!balanced(s) || s.pending != 0 || live != 0) ++wrong;
        if (s.fired != static_cast<std::uint64_t>(runs) || s.rejected != static_cast<std::uint64_t>(reports)) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a queue may be polled by one thread and used by others while a manual clock goes on", "[races]") {
    sandglass::manual_clock clock;
    std::atomic<int> woken{0};
    std::atomic<std::int64_t> live{0};
    std::atomic<std::int64_t> early{0};
    sandglass::timer_queue queue{wheel_options{.slots = 32}, sandglass::inline_executor{}, std::ref(clock)};
    queue.on_earlier([&] { ++woken; });
    std::atomic<int> busy{3};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 3; ++i) {
        threads.emplace_back([&, i] {
            std::mt19937 random(i);
            std::vector<timer_handle> mine(100);
            std::vector<timer_handle> far(10);
            for (budget b(20'000, 700ms); b.more();) {
                timer_handle& h = mine[random() % mine.size()];
                const microseconds delay(random() % 50'000);
                switch (random() % 5) {
                case 0:
                    h.cancel();
                    break;
                case 1:
                    h.reschedule_after(50ms + delay);
                    break;  // back only: see `early`
                case 2: {
                    timer_handle& pulled = far[random() % far.size()];
                    if (!pulled.reschedule_after(delay)) pulled = queue.schedule_after(1h, [c = tracked(live)] {});
                    break;
                }
                default:
                    h.cancel();
                    h = queue.schedule_after(delay, [&clock, &early, due = clock.now() + delay, c = tracked(live)] {
                        if (clock.now() < due) ++early;
                    });
                }
            }
            --busy;
        });
    }
    std::mt19937 random(11);
    while (busy != 0) {
        clock.advance(microseconds(random() % 3000));
        queue.poll();
        static_cast<void>(queue.next_deadline());
    }
    for (std::thread& thread : threads) thread.join();
    const std::uint64_t pending = queue.stats().pending;
    clock.advance(2h);
    std::size_t handed = queue.poll();
    handed += queue.poll();
    CHECK(handed == pending);
    CHECK(queue.approx_pending() == 0);
    CHECK(live == 0);
    CHECK(early == 0);
    CHECK(queue.stats().unreclaimed == 0);
    CHECK(balanced(queue.stats()));
}
