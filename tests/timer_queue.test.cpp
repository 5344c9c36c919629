#include <sandglass/timer_queue.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <ratio>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#if defined(__unix__)
#include <unistd.h>
#endif

#include <support/allocations.hpp>
#include <support/catch.hpp>
#include <support/hand_turned.hpp>

// Everything here is deterministic: time stands still until the test moves it, and nothing sleeps.

namespace {

using namespace std::chrono_literals;
using sandglass::manual_clock;
using sandglass::timer_context;
using sandglass::timer_handle;
using sandglass::timer_stats;
using sandglass::wheel_options;
using std::chrono::nanoseconds;
using time_point = manual_clock::time_point;

constexpr nanoseconds forever = (nanoseconds::max)();

// A queue on time that the test moves.
using support::hand_turned;

// Keeps every task until it is told what to do with it, as a pool whose workers are all busy does.
struct keeper {
    std::vector<sandglass::expired_timer> tasks;

    void execute(sandglass::expired_timer&& task) { tasks.push_back(std::move(task)); }
    void run_all() {
        for (auto& task : std::exchange(tasks, {})) task();
    }
};

template <class Executor>
struct hand_turned_with {
    manual_clock clock;
    Executor executor;
    sandglass::timer_queue<std::reference_wrapper<Executor>, std::reference_wrapper<manual_clock>> queue;

    explicit hand_turned_with(Executor e = {}, wheel_options options = {})
        : executor(std::move(e)), queue(std::move(options), std::ref(executor), std::ref(clock)) {}

    std::size_t go(nanoseconds by) {
        clock.advance(by);
        return queue.poll();
    }
};

// Counts what becomes of itself. Larger than what a timer keeps in place if `Bytes` says so.
struct tally {
    int live = 0;
    int copies = 0;
};
template <std::size_t Bytes = 1>
class probe {
  public:
    explicit probe(tally& t) noexcept : tally_(&t) { ++tally_->live; }
    probe(const probe& other) noexcept : tally_(other.tally_) {
        ++tally_->live;
        ++tally_->copies;
    }
    probe(probe&& other) noexcept : tally_(other.tally_) { ++tally_->live; }
    probe& operator=(const probe&) = delete;
    ~probe() { --tally_->live; }

  private:
    tally* tally_;
    std::array<char, Bytes> ballast_{};
};

// The promise that holds whenever nobody is in a call.
bool balanced(const timer_stats& s) {
    return s.scheduled == s.fired + s.cancelled + s.rejected + s.discarded + s.pending;
}

// What is printed on stderr while it lives.
#if defined(__unix__)
class captured_stderr {
  public:
    captured_stderr() : file_(std::tmpfile()), saved_(::dup(2)) {
        std::fflush(stderr);
        ::dup2(::fileno(file_), 2);
    }
    captured_stderr(const captured_stderr&) = delete;
    captured_stderr& operator=(const captured_stderr&) = delete;
    ~captured_stderr() {
        restore();
        std::fclose(file_);
    }

    std::string text() {
        restore();
        std::rewind(file_);
        std::string all;
        for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) all.push_back(static_cast<char>(c));
        return all;
    }

  private:
    void restore() {
        if (saved_ < 0) return;
        std::fflush(stderr);
        ::dup2(saved_, 2);
        ::close(std::exchange(saved_, -1));
    }

    std::FILE* file_;
    int saved_;
};
#endif

}  // namespace

// ---- early and late ---------------------------------------------------------------------------------------------------

// C004, S011
TEST_CASE("a timer fires on exactly the first tick at or after its deadline at every phase of the tick",
          "[timer_queue][early]") {
    for (const nanoseconds tick : {nanoseconds(100us), nanoseconds(1ms), nanoseconds(1500us), nanoseconds(100ms)}) {
        const nanoseconds start = 7h + 123'457ns;  // ticks are counted from here, not from the epoch
        hand_turned t({.tick = tick, .slots = 8}, time_point(start));
        std::vector<nanoseconds> delays{0ns, 1ns, tick / 3, tick - 1ns, tick, tick + 1ns, 2 * tick + tick / 2};
        delays.insert(delays.end(), {7 * tick, 8 * tick, 8 * tick + 1ns, 9 * tick - 1ns, 33 * tick + tick / 7});
        std::vector<nanoseconds> phases{0ns, 1ns, tick - 1ns};
        for (int i = 1; i < 32; ++i) phases.push_back(tick * i / 32);

        int early = 0;
        int late = 0;
        int not_once = 0;
        for (const nanoseconds phase : phases) {
            for (const nanoseconds delay : delays) {
                // To the next tick edge, and the wanted part of a tick beyond it.
                const nanoseconds edge = tick - (t.now() - start) % tick;
                t.go(edge + phase);
                const nanoseconds deadline = t.now() + delay;
                const nanoseconds due = start + (deadline - start + tick - 1ns) / tick * tick;
                nanoseconds called{-1};
                int runs = 0;
                t.queue.schedule_after(delay, [&] {
                    ++runs;
                    called = t.now();
                });
                // A sweep of steps that are no divisor of the tick, one to the last moment before the due tick, and
                // one to the tick itself.
                const nanoseconds step = tick * 3 / 7;
                while (t.now() + step < due) t.go(step);
                if (t.now() < due) t.go(due - t.now() - 1ns);
                if (t.now() < due && runs != 0) ++early;
                if (t.now() < due) t.clock.advance(due - t.now());
                t.queue.poll();
                if (called < deadline) ++early;
                if (called != due) ++late;
                t.go(40 * tick);
                if (runs != 1) ++not_once;
            }
        }
        CAPTURE(tick.count());
        CHECK(early == 0);
        CHECK(late == 0);
        CHECK(not_once == 0);
    }
}

// C021, S006
TEST_CASE("a timer fires on its tick from every position of the cursor and after any number of turns",
          "[timer_queue][early]") {
    constexpr nanoseconds tick = 1ms;
    for (const std::size_t slots : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{8}}) {
        int wrong = 0;
        for (const nanoseconds step : {tick, tick * 9 / 10, tick * 7}) {
            hand_turned t({.tick = tick, .slots = slots});
            std::mt19937 random(20240607);
            for (int position = 0; position < 9; ++position) {
                std::vector<std::int64_t> delays;
                for (std::int64_t d = 0; d <= 3 * 8 + 1; ++d) delays.push_back(d);
                for (int i = 0; i < 8; ++i) delays.push_back(static_cast<std::int64_t>(random() % 8000));
                struct due_timer {
                    nanoseconds due;
                    nanoseconds fired{-1};
                };
                std::vector<due_timer> timers(delays.size());
                for (std::size_t i = 0; i < delays.size(); ++i) {
                    const nanoseconds deadline = t.now() + delays[i] * tick;
                    timers[i].due = (deadline + tick - 1ns) / tick * tick;
                    t.queue.schedule_after(delays[i] * tick, [&t, &timer = timers[i]] { timer.fired = t.now(); });
                }
                // Each must fire in the first poll whose time is at or after its tick.
                const nanoseconds end = t.now() + 8001 * tick;
                nanoseconds before = t.now();
                t.queue.poll();
                while (t.now() < end) {
                    for (const due_timer& timer : timers) {
                        if ((timer.due <= before) != (timer.fired.count() >= 0 && timer.fired <= before)) ++wrong;
                    }
                    // Long stretches without a timer are left out, in steps of the same kind.
                    const auto next = t.queue.next_deadline();
                    const nanoseconds gap = next ? next->time_since_epoch() - t.now() : end - t.now();
                    t.go(gap > 20 * step ? (gap / step - 2) * step : step);
                    before = t.now();
                }
                for (const due_timer& timer : timers) {
                    if (timer.fired < timer.due) ++wrong;
                    if (timer.fired >= timer.due + step) ++wrong;
                }
                t.go(tick);  // another cursor position next time
            }
        }
        CAPTURE(slots);
        CHECK(wrong == 0);
    }
}

TEST_CASE("the deadline counts from the call and not from the poll that drains it", "[timer_queue][early]") {
    hand_turned t;
    nanoseconds called{-1};
    t.queue.schedule_after(10ms, [&] { called = t.now(); });
    t.clock.advance(9ms);
    CHECK(t.queue.poll() == 0);
    t.clock.advance(1ms);
    CHECK(t.queue.poll() == 1);
    CHECK(called == 10ms);
}

TEST_CASE("the time seen in a callback is never behind the tick that fired it", "[timer_queue][late]") {
    hand_turned t({.tick = 1ms, .slots = 4});
    int behind = 0;
    for (int i = 0; i < 200; ++i) {
        const nanoseconds deadline = t.now() + i * 137us;
        t.queue.schedule_after(i * 137us, [&t, &behind, deadline] { behind += t.now() < deadline ? 1 : 0; });
    }
    for (int i = 0; i < 1000 && t.queue.approx_pending() != 0; ++i) t.go(333us);
    CHECK(behind == 0);
}

namespace {

// When a queue with a tick of 1 ns that was made at the epoch says that `delay` is due.
template <class Rep, class Period>
nanoseconds due_after(std::chrono::duration<Rep, Period> delay) {
    hand_turned t({.tick = 1ns, .slots = 8});
    int runs = 0;
    t.queue.schedule_after(delay, [&] { ++runs; });
    const auto next = t.queue.next_deadline();
    if (!next) return forever;
    const nanoseconds due = next->time_since_epoch();
    t.clock.set(time_point(due - 1ns));
    t.queue.poll();
    if (runs != 0) return nanoseconds(-1);
    t.clock.set(*next);
    t.queue.poll();
    return runs == 1 ? due : nanoseconds(-2);
}

}  // namespace

TEST_CASE("delays of every duration type are taken exactly and rounded up", "[timer_queue][early]") {
    namespace chrono = std::chrono;
    CHECK(due_after(17ns) == 17ns);
    CHECK(due_after(17us) == 17us);
    CHECK(due_after(chrono::duration<int>(3)) == 3s);
    CHECK(due_after(chrono::duration<short, std::milli>(32'000)) == 32s);
    CHECK(due_after(chrono::duration<signed char>(100)) == 100s);
    CHECK(due_after(chrono::duration<unsigned, std::micro>(4'000'000'000U)) == 4000s);
    CHECK(due_after(chrono::duration<std::uint64_t, std::nano>(5)) == 5ns);
    CHECK(due_after(chrono::hours(24)) == 86'400s);
    CHECK(due_after(chrono::duration<int, std::ratio<604'800>>(2)) == 1'209'600s);  // weeks
    CHECK(due_after(chrono::duration<int, std::ratio<31'556'952>>(100)) == 3'155'695'200s);

    // Ratios that no nanosecond fits.
    CHECK(due_after(chrono::duration<int, std::ratio<1, 3>>(1)) == 333'333'334ns);
    CHECK(due_after(chrono::duration<int, std::ratio<1, 3>>(3)) == 1s);
    CHECK(due_after(chrono::duration<int, std::ratio<1'001, 30'000>>(30'000)) == 1001s);
    CHECK(due_after(chrono::duration<int, std::ratio<1'001, 30'000>>(1)) == 33'366'667ns);
    CHECK(due_after(chrono::duration<std::int64_t, std::pico>(1)) == 1ns);
    CHECK(due_after(chrono::duration<std::int64_t, std::pico>(1'000)) == 1ns);
    CHECK(due_after(chrono::duration<std::int64_t, std::pico>(1'001)) == 2ns);
    CHECK(due_after(chrono::duration<std::int64_t, std::femto>(1'000'001)) == 2ns);
    CHECK(due_after(chrono::duration<std::int64_t, std::atto>(1)) == 1ns);

    // Floating point: never less than the value, and no more than 1 ns beyond it.
    CHECK(due_after(chrono::duration<double>(0.5)) == 500'000'000ns);
    CHECK(due_after(chrono::duration<double>(0.25e-9)) == 1ns);
    CHECK(due_after(chrono::duration<float>(0.5F)) == 500'000'000ns);
    CHECK(due_after(chrono::duration<float, std::milli>(1.5F)) == 1'500'000ns);
    CHECK(due_after(chrono::duration<double, std::ratio<60>>(1.5)) == 90s);
    CHECK(due_after(chrono::duration<double, std::nano>(1.0000001)) == 2ns);
    CHECK(due_after(chrono::duration<long double, std::milli>(2.5L)) == 2'500'000ns);
    std::mt19937 random(7);
    int wrong = 0;
    for (int i = 0; i < 300; ++i) {
        const double seconds = std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 40));
        const nanoseconds due = due_after(chrono::duration<double>(seconds));
        const long double exact = static_cast<long double>(seconds) * 1e9L;  // 64 bits of mantissa hold this product
        if (static_cast<long double>(due.count()) < exact || static_cast<long double>(due.count()) > exact + 1.0L) {
            ++wrong;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("a delay or a period that is not a number is an invalid argument and schedules nothing", "[timer_queue]") {
    hand_turned t;
    const std::chrono::duration<double> nan(std::numeric_limits<double>::quiet_NaN());
    CHECK_THROWS_AS(t.queue.schedule_after(nan, [] {}), std::invalid_argument);
    CHECK_THROWS_AS(t.queue.schedule_every(nan, [] {}), std::invalid_argument);
    CHECK_THROWS_AS(t.queue.schedule_at(
                        std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>>(nan), [] {}),
                    std::invalid_argument);
    CHECK_THROWS_AS((static_cast<void>(t.queue.try_schedule_after(nan, [] {}))), std::invalid_argument);
    timer_handle h = t.queue.schedule_after(1s, [] {});
    CHECK_THROWS_AS(h.reschedule_after(nan), std::invalid_argument);
    CHECK(h.pending());
    CHECK(t.queue.stats().scheduled == 1);
}

// S011
TEST_CASE("a time of any duration type of the clock is a deadline", "[timer_queue][early]") {
    using std::chrono::steady_clock;
    hand_turned t({.tick = 1ms}, time_point(100ms));
    std::vector<nanoseconds> fired;
    const auto note = [&] { fired.push_back(t.now()); };
    t.queue.schedule_at(std::chrono::time_point<steady_clock, std::chrono::seconds>(1s), note);
    t.queue.schedule_at(std::chrono::time_point<steady_clock, std::chrono::milliseconds>(1500ms), note);
    t.queue.schedule_at(
        std::chrono::time_point<steady_clock, std::chrono::duration<double>>(std::chrono::duration<double>(0.75)),
        note);
    t.queue.schedule_at(time_point(200ms), note);          // on an edge
    t.queue.schedule_at(time_point(300ms + 500us), note);  // mid-tick
    t.queue.schedule_at(time_point(400ms + 1ns), note);    // just after an edge
    t.queue.schedule_at(time_point(500ms - 1ns), note);    // just before one
    for (int i = 0; i < 6000 && t.queue.approx_pending() != 0; ++i) t.go(250us);
    CHECK(fired == std::vector<nanoseconds>{200ms, 301ms, 401ms, 500ms, 750ms, 1s, 1500ms});
}

TEST_CASE("timers fire in the order of their deadlines and then in the order in which they were scheduled",
          "[timer_queue][order]") {
    hand_turned t({.tick = 1ms, .slots = 4});
    std::vector<int> order;
    for (int i = 0; i < 60; ++i) {
        const int ms = 1 + (i * 37) % 20;
        t.queue.schedule_after(std::chrono::milliseconds(ms), [&order, i, ms] { order.push_back(ms * 100 + i); });
    }
    CHECK(t.go(1s) == 60);
    CHECK(order.size() == 60);
    CHECK(std::is_sorted(order.begin(), order.end()));
}

// ---- never, past, zero ------------------------------------------------------------------------------------------------

namespace {

// Checks that a timer with this delay is never due, and otherwise a timer like any other.
template <class Rep, class Period>
void check_never(std::chrono::duration<Rep, Period> delay, const char* what) {
    CAPTURE(what);
    hand_turned t({}, time_point(5h));
    int runs = 0;
    timer_handle once = t.queue.schedule_after(delay, [&] { ++runs; });
    timer_handle paced = t.queue.schedule_after(delay, [&](timer_context&) { ++runs; });
    timer_handle series = t.queue.schedule_every(delay, [&] { ++runs; });
    timer_handle slow = t.queue.schedule_every(delay, [&] { ++runs; }, {.mode = sandglass::repeat::fixed_delay});
    for (timer_handle* h : {&once, &paced, &series, &slow}) {
        CHECK(*h);
        CHECK(h->pending());
        CHECK(h->remaining() == forever);
    }
    CHECK_FALSE(t.queue.next_deadline().has_value());
    CHECK(t.queue.poll() == 0);
    CHECK(t.go(24h * 365 * 250) == 0);
    CHECK(runs == 0);
    CHECK(once.cancel());
    CHECK(paced.cancel());
    CHECK(series.reschedule_after(1ms));  // and back from never
    CHECK(slow.cancel_and_wait());
    CHECK(t.go(1ms) == 1);
    CHECK(t.queue.stop() == 1);
    CHECK(balanced(t.queue.stats()));
}

}  // namespace

// C006
TEST_CASE("what is beyond the range of the clock is never due but can be cancelled", "[timer_queue][never]") {
    namespace chrono = std::chrono;
    check_never((nanoseconds::max)(), "ns");
    check_never((chrono::microseconds::max)(), "us");
    check_never((chrono::milliseconds::max)(), "ms");
    check_never((chrono::seconds::max)(), "s");
    check_never((chrono::minutes::max)(), "min");
    check_never((chrono::hours::max)(), "h");
    check_never(chrono::hours(24 * 365 * 400LL), "400 years");
    check_never((chrono::duration<int>::max)(), "int s");
    check_never((chrono::duration<signed char>::max)(), "signed char s");
    check_never((chrono::duration<std::uint64_t, std::milli>::max)(), "uint64 ms");
    check_never(chrono::duration<std::uint64_t, std::nano>((std::uint64_t{1} << 63) + 5), "uint64 ns");
    check_never((chrono::duration<std::int64_t, std::ratio<31'556'952>>::max)(), "years");
    check_never((chrono::duration<std::int64_t, std::ratio<1'001, 30>>::max)() / 2, "half of a coarse odd unit");
    check_never(chrono::duration<double>(std::numeric_limits<double>::infinity()), "infinity");
    check_never((chrono::duration<double>::max)(), "double max");
    check_never(chrono::duration<double>(9.3e9), "more seconds than 64 bits of ns");
    check_never(chrono::duration<float>(std::numeric_limits<float>::infinity()), "float infinity");
    check_never((chrono::duration<long double, std::ratio<3600>>::max)(), "long double");
}

// C006
TEST_CASE("a time beyond the range of the clock is never due", "[timer_queue][never]") {
    using std::chrono::steady_clock;
    hand_turned t({}, time_point(-3h));
    int runs = 0;
    const auto count = [&] { ++runs; };
    std::vector<timer_handle> handles;
    handles.push_back(t.queue.schedule_at((time_point::max)(), count));
    handles.push_back(t.queue.schedule_at((std::chrono::time_point<steady_clock, std::chrono::hours>::max)(), count));
    handles.push_back(t.queue.schedule_at(
        std::chrono::time_point<steady_clock, std::chrono::duration<double>>(std::chrono::duration<double>(1e300)),
        count));
    for (timer_handle& h : handles) {
        CHECK(h.pending());
        CHECK(h.remaining() == forever);
    }
    CHECK(t.go(24h * 365 * 200) == 0);
    for (timer_handle& h : handles) CHECK(h.cancel());
    CHECK(t.queue.poll() == 0);
    CHECK(runs == 0);
}

TEST_CASE("a delay that leads beyond the end of the clock is never due", "[timer_queue][never]") {
    hand_turned t({}, (time_point::max)() - 1h);
    int runs = 0;
    timer_handle h = t.queue.schedule_after(2h, [&] { ++runs; });
    timer_handle near = t.queue.schedule_after(30min, [&] { ++runs; });
    timer_handle series = t.queue.schedule_every(40min, [&] { ++runs; });  // its second run is beyond the end
    CHECK(h.remaining() == forever);
    CHECK(near.remaining() == 30min);
    CHECK(t.go(59min) == 2);
    CHECK(runs == 2);
    CHECK(series.pending());
    CHECK(series.remaining() == forever);
    CHECK(h.cancel());
}

// C047
TEST_CASE("a deadline that has passed fires on the next pass", "[timer_queue][past]") {
    hand_turned t({}, time_point(1h));
    t.go(10ms);
    int runs = 0;
    const auto count = [&] { ++runs; };
    t.queue.schedule_after(0s, count);
    t.queue.schedule_after(-1ns, count);
    t.queue.schedule_after(-1h, count);
    t.queue.schedule_after((nanoseconds::min)(), count);
    t.queue.schedule_after((std::chrono::hours::min)(), count);
    t.queue.schedule_after(std::chrono::duration<double>(-std::numeric_limits<double>::infinity()), count);
    t.queue.schedule_at(t.clock.now() - 1s, count);
    t.queue.schedule_at((time_point::min)(), count);
    t.queue.schedule_at(time_point{}, count);
    CHECK(t.queue.next_deadline().has_value());
    CHECK(t.queue.poll() == 9);
    CHECK(runs == 9);
    CHECK(t.go(1h) == 0);
}

TEST_CASE("a zero delay in the middle of a tick is due by the next tick at the latest", "[timer_queue][past]") {
    hand_turned t;
    t.go(10ms + 400us);
    nanoseconds called{-1};
    t.queue.schedule_after(0s, [&] { called = t.now(); });
    t.queue.poll();
    t.go(600us);
    CHECK(called >= 10ms + 400us);
    CHECK(called <= 11ms);
}

// C025
TEST_CASE("a callback that arms itself with no delay runs once per pass and starves nobody", "[timer_queue][past]") {
    hand_turned t;
    int again = 0;
    int other = 0;
    std::function<void()> f = [&] {
        ++again;
        t.queue.schedule_after(0s, std::ref(f));
    };
    t.queue.schedule_after(0s, std::ref(f));
    t.queue.schedule_after(50ms, [&] { ++other; });
    for (int pass = 1; pass <= 5; ++pass) {
        CHECK(t.queue.poll() == 1);  // although time stands still
        CHECK(again == pass);
    }
    for (int pass = 1; pass <= 50; ++pass) t.go(1ms);
    CHECK(again == 55);
    CHECK(other == 1);
    CHECK(t.queue.stop() == 1);
}

TEST_CASE("a timer that moves itself to zero or to the past runs once per pass", "[timer_queue][past]") {
    hand_turned t;
    int paced = 0;
    int series = 0;
    t.queue.schedule_after(0s, [&](timer_context& c) {
        ++paced;
        c.reschedule_after(paced % 2 == 0 ? 0s : -1h);
    });
    t.queue.schedule_every(1h,
                           [&](timer_context& c) {
                               ++series;
                               c.reschedule_at((time_point::min)());
                           },
                           {.first = 0s});
    for (int pass = 1; pass <= 10; ++pass) {
        CHECK(t.queue.poll() == 2);
        CHECK(paced == pass);
        CHECK(series == pass);
    }
}

TEST_CASE("a timer scheduled by a callback for the pass that is under way is left to the next one", "[timer_queue]") {
    hand_turned t;
    std::vector<int> order;
    t.queue.schedule_after(1ms, [&] {
        order.push_back(1);
        t.queue.schedule_after(-5ms, [&] { order.push_back(3); });  // 5 ms, and 5 ms have passed
    });
    t.queue.schedule_after(8ms, [&] { order.push_back(2); });
    CHECK(t.go(10ms) == 2);
    CHECK(order == std::vector<int>{1, 2});
    CHECK(t.queue.poll() == 1);
    CHECK(order == std::vector<int>{1, 2, 3});
}

// ---- clocks of all kinds ----------------------------------------------------------------------------------------------

namespace {

// A clock as an object, of any duration, by value: copies show the same time.
template <class Duration>
struct object_clock {
    using duration = Duration;
    using rep = typename Duration::rep;
    using period = typename Duration::period;
    using time_point = std::chrono::time_point<object_clock, Duration>;

    std::shared_ptr<Duration> shown = std::make_shared<Duration>(Duration::zero());
    [[nodiscard]] time_point now() const noexcept { return time_point(*shown); }
};

struct static_clock {
    using duration = std::chrono::microseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<static_clock>;

    static inline duration shown{0};
    static time_point now() noexcept { return time_point(shown); }
};

// Whatever the loop does that next_deadline() is for: waits until then, and polls. Answers how often it had to.
template <class Queue, class SetTime>
int turns_until_empty(Queue& queue, SetTime set_time) {
    int turns = 0;
    while (queue.approx_pending() != 0 && turns < 1000) {
        set_time(queue.next_deadline().value().time_since_epoch());
        queue.poll();
        ++turns;
    }
    return turns;
}

}  // namespace

TEST_CASE("a clock whose time points are floating point seconds works as any other", "[timer_queue][clock]") {
    using seconds_clock = object_clock<std::chrono::duration<double>>;
    int early = 0;
    int not_at_once = 0;
    int far_off = 0;
    for (int i = 1; i <= 500; ++i) {
        seconds_clock clock;
        *clock.shown = std::chrono::duration<double>(i * 0.317);
        sandglass::timer_queue queue{wheel_options{.slots = 16}, sandglass::inline_executor{}, clock};
        const double deadline = clock.now().time_since_epoch().count() + i * 0.00137;
        double called = -1;
        double scheduled = -1;
        queue.schedule_after(std::chrono::duration<double>(i * 0.00137), [&](timer_context& c) {
            called = clock.now().time_since_epoch().count();
            scheduled = c.scheduled_time<seconds_clock::time_point>().time_since_epoch().count();
        });
        // A loop that waits until the time that it is told must find the timer due then.
        if (turns_until_empty(queue, [&](auto t) { *clock.shown = t; }) != 1) ++not_at_once;
        if (called < deadline) ++early;
        if (called > deadline + 0.0011) ++far_off;
        if (std::abs(scheduled - deadline) > 1e-6) ++far_off;
    }
    CHECK(early == 0);
    CHECK(not_at_once == 0);
    CHECK(far_off == 0);
}

TEST_CASE("a clock that shows whole seconds works as any other", "[timer_queue][clock]") {
    using coarse_clock = object_clock<std::chrono::seconds>;
    coarse_clock clock;
    *clock.shown = 100s;
    sandglass::timer_queue queue{wheel_options{}, sandglass::inline_executor{}, clock};
    std::vector<std::chrono::seconds> fired;
    const auto note = [&] { fired.push_back(*clock.shown); };
    queue.schedule_after(1500ms, note);
    queue.schedule_at(coarse_clock::time_point(103s), note);
    timer_handle moved = queue.schedule_after(1h, note);
    CHECK(moved.reschedule_at(coarse_clock::time_point(105s)));
    CHECK(queue.next_deadline() == coarse_clock::time_point(102s));
    CHECK(turns_until_empty(queue, [&](auto t) { *clock.shown = t; }) == 3);
    CHECK(fired == std::vector<std::chrono::seconds>{102s, 103s, 105s});
}

TEST_CASE("a clock with a minute as its unit works as any other", "[timer_queue][clock]") {
    object_clock<std::chrono::duration<int, std::ratio<60>>> clock;
    sandglass::timer_queue queue{wheel_options{}, sandglass::inline_executor{}, clock};
    int runs = 0;
    timer_handle h = queue.schedule_after(61s, [&] { ++runs; });
    timer_handle never = queue.schedule_at((decltype(clock)::time_point::max)(), [] {});
    CHECK(h.remaining() == 61s);
    CHECK(queue.next_deadline()->time_since_epoch() == 2min);
    *clock.shown = decltype(clock)::duration(1);
    CHECK(queue.poll() == 0);
    *clock.shown = decltype(clock)::duration(2);
    CHECK(queue.poll() == 1);
    CHECK(runs == 1);
    CHECK(never.remaining() == forever);
}

TEST_CASE("a clock that shows picoseconds works as any other", "[timer_queue][clock]") {
    using fine_clock = object_clock<std::chrono::duration<std::int64_t, std::pico>>;
    fine_clock clock;
    *clock.shown = fine_clock::duration(999);
    sandglass::timer_queue queue{wheel_options{.tick = 1ns}, sandglass::inline_executor{}, clock};
    int runs = 0;
    queue.schedule_after(fine_clock::duration(1'500), [&] { ++runs; });
    *clock.shown = fine_clock::duration(2'498);
    CHECK(queue.poll() == 0);
    *clock.shown = fine_clock::duration(4'000);
    CHECK(queue.poll() == 1);
    CHECK(runs == 1);
}

TEST_CASE("a deadline that the type of the clock cannot express saturates", "[timer_queue][clock][never]") {
    // 64 bits of picoseconds are 106 days.
    using fine_clock = object_clock<std::chrono::duration<std::int64_t, std::pico>>;
    fine_clock clock;
    sandglass::timer_queue queue{wheel_options{}, sandglass::inline_executor{}, clock};
    timer_handle h = queue.schedule_after(24h * 365, [](timer_context&) {});
    CHECK(h.remaining() == 24h * 365);
    const auto next = queue.next_deadline();
    CHECK((!next || *next == (fine_clock::time_point::max)()));
    int left = 0;
    queue.stop([&](sandglass::leftover_timer&& timer) {
        left += timer.deadline_time<fine_clock::time_point>() == (fine_clock::time_point::max)() ? 1 : 0;
    });
    CHECK(left == 1);
}

TEST_CASE("a clock may be static", "[timer_queue][clock]") {
    static_clock::shown = 10us;
    sandglass::timer_queue<sandglass::inline_executor, static_clock> queue;
    int runs = 0;
    queue.schedule_after(5ms, [&] { ++runs; });
    timer_handle h = queue.schedule_after(7ms, [&] { ++runs; });
    CHECK(h.reschedule_after(6ms));
    CHECK(h.remaining() == 6ms);
    static_clock::shown = 5009us;
    CHECK(queue.poll() == 0);
    static_clock::shown = 5010us;
    CHECK(queue.poll() == 1);
    static_clock::shown = 6010us;
    CHECK(queue.poll() == 1);
    CHECK(runs == 2);
}

TEST_CASE("a clock may be passed in a shared_ptr that the queue keeps", "[timer_queue][clock]") {
    auto clock = std::make_shared<manual_clock>();
    sandglass::timer_queue queue{wheel_options{}, sandglass::inline_executor{}, clock};
    CHECK(clock.use_count() == 2);
    CHECK(&queue.timer_clock() == clock.get());
    int runs = 0;
    queue.schedule_after(5ms, [&] { ++runs; });
    clock->advance(5ms);
    CHECK(queue.poll() == 1);
    CHECK(runs == 1);
}

TEST_CASE("a clock passed by value is the copy that timer_clock shows", "[timer_queue][clock]") {
    struct own_clock {
        using time_point = std::chrono::time_point<own_clock, std::chrono::milliseconds>;
        std::chrono::milliseconds shown{0};
        [[nodiscard]] time_point now() const { return time_point(shown); }
    };
    sandglass::timer_queue queue{wheel_options{}, sandglass::inline_executor{}, own_clock{}};
    int runs = 0;
    queue.schedule_after(5ms, [&] { ++runs; });
    queue.timer_clock().shown = 5ms;
    CHECK(queue.poll() == 1);
    CHECK(runs == 1);
}

TEST_CASE("on a clock that steps back timers are late by that and never early", "[timer_queue][clock][early]") {
    hand_turned t({}, time_point(10s));
    t.go(10s);
    std::vector<nanoseconds> fired;
    const auto note = [&] { fired.push_back(t.now()); };
    t.queue.schedule_after(1s, note);  // due at 21 s
    t.clock.set(time_point(15s));
    CHECK(t.queue.poll() == 0);
    t.queue.schedule_after(1s, note);                   // due at 16 s
    t.queue.schedule_every(2s, [&](timer_context& c) {  // 17 s, 19 s, ...
        if (c.lateness() < 0s) fired.push_back(-1s);
        note();
    });
    CHECK(t.queue.poll() == 0);
    CHECK(t.go(999ms) == 0);
    t.clock.set(time_point(30s));
    for (int i = 0; i < 3; ++i) t.queue.poll();
    CHECK(fired.size() >= 3);
    CHECK(std::count_if(fired.begin(), fired.end(), [](nanoseconds at) { return at < 16s; }) == 0);
}

TEST_CASE("a clock that steps back while a task waits in the executor shows no negative lateness",
          "[timer_queue][clock]") {
    hand_turned_with<keeper> t;
    nanoseconds lateness{-1};
    t.queue.schedule_after(10s, [&](timer_context& c) { lateness = c.lateness(); });
    CHECK(t.go(10s) == 1);
    t.clock.set(time_point(5s));
    t.executor.run_all();
    CHECK(lateness >= 0s);
}

// ---- series -----------------------------------------------------------------------------------------------------------

// C009, C082
TEST_CASE("run k of a fixed rate series is at start plus k periods without drift", "[timer_queue][series]") {
    constexpr nanoseconds tick = 1ms;
    for (const nanoseconds period : {nanoseconds(10ms), nanoseconds(1500us), nanoseconds(3'333'333ns)}) {
        hand_turned t({.tick = tick, .slots = 8}, time_point(77h));
        t.clock.advance(123'456ns);
        const nanoseconds start = t.now();
        const nanoseconds origin = 77h;
        int runs = 0;
        int wrong = 0;
        t.queue.schedule_every(period, [&](timer_context& c) {
            ++runs;
            const nanoseconds scheduled = start + runs * period;
            const nanoseconds due = origin + (scheduled - origin + tick - 1ns) / tick * tick;
            if (c.scheduled() != scheduled || t.now() != due || c.lateness() != due - scheduled) ++wrong;
            if (c.missed() != 0 || c.scheduled_delay() != period) ++wrong;
        });
        t.clock.set(time_point(origin));
        for (int i = 0; i < 11'000 && runs < 1000; ++i) t.go(tick);
        CAPTURE(period.count());
        CHECK(runs == 1000);
        CHECK(wrong == 0);
    }
}

// C009
TEST_CASE("a forced lateness of every run does not move a fixed rate series", "[timer_queue][series]") {
    hand_turned t;
    int wrong = 0;
    int runs = 0;
    t.queue.schedule_every(10ms, [&](timer_context& c) {
        ++runs;
        if (c.scheduled() != runs * 10ms || c.lateness() != 3ms || c.missed() != 0) ++wrong;
    });
    t.go(3ms);
    for (int i = 0; i < 1000; ++i) t.go(10ms);
    CHECK(runs == 1000);
    CHECK(wrong == 0);
}

// C085, C016
TEST_CASE("after a pause one run makes up for those that were missed", "[timer_queue][series]") {
    hand_turned t;
    struct run {
        nanoseconds scheduled, lateness;
        std::uint64_t missed;
        bool operator==(const run&) const = default;
    };
    std::vector<run> runs;
    t.queue.schedule_every(10ms, [&](timer_context& c) { runs.push_back({c.scheduled(), c.lateness(), c.missed()}); });
    CHECK(t.go(10ms) == 1);
    CHECK(t.go(40ms) == 1);  // due at 20 ms, so 30 ms late: 30 and 40 ms are missed, 50 ms is just due
    CHECK(t.queue.poll() == 1);
    CHECK(t.queue.poll() == 0);
    CHECK(t.go(10ms) == 1);
    CHECK((runs == std::vector<run>{{10ms, 0s, 0}, {20ms, 30ms, 2}, {50ms, 0s, 0}, {60ms, 0s, 0}}));
    CHECK(t.queue.stats().missed == 2);

    // A pause of many turns: no burst.
    CHECK(t.go(24h + 5ms) == 1);
    CHECK(t.queue.poll() == 0);
    CHECK(runs.back().missed == 8'640'000 - 1);
    CHECK(t.go(5ms) == 1);
    CHECK(runs.back() == run{24h + 70ms, 0s, 0});
    CHECK(t.queue.stats().missed == 2 + 8'640'000 - 1);
    CHECK(balanced(t.queue.stats()));
}

// C016
TEST_CASE("a run that is longer than its period never overlaps itself", "[timer_queue][series]") {
    hand_turned t;
    int depth = 0;
    int overlapped = 0;
    int runs = 0;
    std::uint64_t missed = 0;
    t.queue.schedule_every(10ms, [&](timer_context& c) {
        if (++depth > 1) ++overlapped;
        ++runs;
        missed += c.missed();
        t.clock.advance(35ms);
        t.queue.poll();  // re-entrant: nothing happens
        --depth;
    });
    for (int i = 0; i < 100; ++i) t.go(1ms);
    CHECK(overlapped == 0);
    CHECK(runs > 10);
    CHECK(missed > 10);
}

TEST_CASE("a fixed delay series pauses for one period after the end of each run", "[timer_queue][series]") {
    hand_turned t;
    std::vector<nanoseconds> began;
    std::vector<nanoseconds> scheduled;
    t.queue.schedule_every(10ms,
                           [&](timer_context& c) {
                               began.push_back(t.now());
                               scheduled.push_back(c.scheduled());
                               t.clock.advance(7ms + 250us);
                           },
                           {.mode = sandglass::repeat::fixed_delay});
    for (int i = 0; i < 1000 && began.size() < 4; ++i) t.go(250us);
    CHECK(began == std::vector<nanoseconds>{10ms, 28ms, 46ms, 64ms});
    CHECK(scheduled == std::vector<nanoseconds>{10ms, 27'250us, 45'250us, 63'250us});
    t.go(10s);  // a pause: one run, and nothing missed
    CHECK(began.size() == 5);
    CHECK(t.queue.stats().missed == 0);
}

// C082, C053
TEST_CASE("the first delay of a series can be given apart from the period", "[timer_queue][series]") {
    for (const sandglass::repeat mode : {sandglass::repeat::fixed_rate, sandglass::repeat::fixed_delay}) {
        hand_turned t;
        std::map<std::string, std::vector<nanoseconds>> fired;
        const auto note = [&](const char* name) { return [&, name] { fired[name].push_back(t.now()); }; };
        t.queue.schedule_every(10ms, note("period"), {.mode = mode});
        t.queue.schedule_every(10ms, note("at once"), {.first = 0s, .mode = mode});
        t.queue.schedule_every(10ms, note("overdue"), {.first = -1h - 5ms, .mode = mode});
        t.queue.schedule_every(10ms, note("sooner"), {.first = 3ms, .mode = mode});
        t.queue.schedule_every(10ms, note("later"), {.first = 25ms, .mode = mode});
        t.queue.schedule_every(10ms, note("never"), {.first = forever, .mode = mode});
        t.queue.poll();
        for (int i = 0; i < 36; ++i) t.go(1ms);
        using times = std::vector<nanoseconds>;
        CHECK(fired["period"] == times{10ms, 20ms, 30ms});
        CHECK(fired["at once"] == times{0ms, 10ms, 20ms, 30ms});
        // An hour of missed runs is made up for by the first one.
        const bool keeps_phase = mode == sandglass::repeat::fixed_rate;
        CHECK(fired["overdue"] == (keeps_phase ? times{0ms, 5ms, 15ms, 25ms, 35ms} : times{0ms, 10ms, 20ms, 30ms}));
        CHECK(fired["sooner"] == times{3ms, 13ms, 23ms, 33ms});
        CHECK(fired["later"] == times{25ms, 35ms});
        CHECK(fired["never"].empty());
        CHECK(t.queue.stop() == 6);
    }
}

// C047
TEST_CASE("a period that is not positive is an invalid argument", "[timer_queue][series]") {
    hand_turned t;
    int runs = 0;
    const auto count = [&] { ++runs; };
    CHECK_THROWS_AS(t.queue.schedule_every(0s, count), std::invalid_argument);
    CHECK_THROWS_AS(t.queue.schedule_every(-1ms, count), std::invalid_argument);
    CHECK_THROWS_AS(t.queue.schedule_every((nanoseconds::min)(), count), std::invalid_argument);
    CHECK_THROWS_AS(t.queue.schedule_every(0s, count, {.mode = sandglass::repeat::fixed_delay}), std::invalid_argument);
    CHECK_THROWS_AS(t.queue.schedule_every(std::chrono::duration<double>(-0.0), count), std::invalid_argument);
    CHECK_THROWS_AS((static_cast<void>(t.queue.try_schedule_every(0s, count))), std::invalid_argument);
    CHECK_NOTHROW(t.queue.schedule_every(std::chrono::duration<double>(1e-12), count));  // rounded up to 1 ns
    CHECK(t.queue.stats().scheduled == 1);
    std::string what;
    try {
        t.queue.schedule_every(-3ms, count);
    } catch (const std::invalid_argument& e) {
        what = e.what();
    }
    CHECK(what.find("period") != std::string::npos);
    CHECK(what.find("-3000000") != std::string::npos);
}

// C029
TEST_CASE("cancelling one series of ten leaves the other nine alone", "[timer_queue][series]") {
    std::array<int, 10> runs{};
    std::array<tally, 10> captures{};
    hand_turned t;  // goes first, and its captures with it
    std::vector<timer_handle> handles;
    for (std::size_t i = 0; i < 10; ++i) {
        handles.push_back(t.queue.schedule_every(10ms, [&runs, i, p = probe<>(captures[i])] { ++runs[i]; }));
    }
    t.go(10ms);
    bool cancelled = false;
    std::thread([&] { cancelled = handles[7].cancel(); }).join();
    CHECK(cancelled);
    CHECK(captures[7].live == 0);
    for (int i = 0; i < 4; ++i) t.go(10ms);
    CHECK(runs == std::array<int, 10>{5, 5, 5, 5, 5, 5, 5, 1, 5, 5});
}

TEST_CASE("a series is ended by its own callback with its handle or its context", "[timer_queue][series]") {
    hand_turned t;
    tally captures;
    int by_handle = 0;
    int by_context = 0;
    int live_inside = -1;
    timer_handle h;
    h = t.queue.schedule_every(1ms, [&, p = probe<>(captures)] {
        if (++by_handle != 3) return;
        if (!h.cancel()) by_handle = -100;
        if (h.cancel()) by_handle = -200;  // the second one finds it done
        live_inside = captures.live;
    });
    t.queue.schedule_every(1ms, [&](timer_context& c) {
        if (++by_context == 2 && !c.cancel()) by_context = -100;
    });
    for (int i = 0; i < 10; ++i) t.go(1ms);
    CHECK(by_handle == 3);
    CHECK(by_context == 2);
    CHECK(live_inside == 1);  // alive until the call has returned
    CHECK(captures.live == 0);
    CHECK(t.queue.stats().cancelled == 2);
    CHECK(t.queue.stats().pending == 0);
    CHECK(balanced(t.queue.stats()));
}

// ---- timers that pace themselves --------------------------------------------------------------------------------------

TEST_CASE("a callable that takes a context chooses its next delay run by run", "[timer_queue][context]") {
    hand_turned t;
    std::vector<nanoseconds> at;
    std::vector<nanoseconds> delays;
    timer_handle h = t.queue.schedule_after(1ms, [&](timer_context& c) {
        at.push_back(t.now());
        delays.push_back(c.scheduled_delay());
        if (at.size() < 5) c.reschedule_after(c.scheduled_delay() * 2);
    });
    for (int i = 0; i < 1000 && h.pending(); ++i) t.go(1ms);
    CHECK(at == std::vector<nanoseconds>{1ms, 3ms, 7ms, 15ms, 31ms});
    CHECK(delays == std::vector<nanoseconds>{1ms, 2ms, 4ms, 8ms, 16ms});
    CHECK_FALSE(h.cancel());
    CHECK(t.queue.stats().scheduled == 5);
    CHECK(t.queue.stats().fired == 5);
    CHECK(balanced(t.queue.stats()));
}

TEST_CASE("the scheduled time of a callable that takes a context is exact and not rounded to a tick",
          "[timer_queue][context]") {
    hand_turned t({}, time_point(1h));
    nanoseconds scheduled{};
    nanoseconds lateness{};
    nanoseconds delay{};
    time_point as_time;
    t.queue.schedule_at(time_point(1h + 1'234'567ns), [&](timer_context& c) {
        scheduled = c.scheduled();
        as_time = c.scheduled_time();
        lateness = c.lateness();
        delay = c.scheduled_delay();
    });
    CHECK(t.go(2ms) == 1);
    CHECK(scheduled == 1h + 1'234'567ns);
    CHECK(as_time == time_point(1h + 1'234'567ns));
    CHECK(lateness == 2ms - 1'234'567ns);
    CHECK(delay == 1'234'567ns);
}

TEST_CASE("the last reschedule in a callback counts and a cancel after it ends the timer", "[timer_queue][context]") {
    hand_turned t;
    std::vector<nanoseconds> at;
    timer_handle h = t.queue.schedule_after(1ms, [&](timer_context& c) {
        at.push_back(t.now());
        if (at.size() == 1) {
            c.reschedule_after(1ms);
            c.reschedule_at(t.clock.now() + 9ms);
            c.reschedule_after(4ms);
        } else {
            c.reschedule_after(1ms);
            if (!c.cancel()) at.push_back(-1s);
            if (c.reschedule_after(1ms)) at.push_back(-2s);
        }
    });
    for (int i = 0; i < 30; ++i) t.go(1ms);
    CHECK(at == std::vector<nanoseconds>{1ms, 5ms});
    CHECK_FALSE(h.pending());
    CHECK(balanced(t.queue.stats()));
    CHECK(t.queue.stats().cancelled == 1);
}

TEST_CASE("a callable that takes a context and asks for nothing runs once", "[timer_queue][context]") {
    hand_turned t;
    tally captures;
    int runs = 0;
    timer_handle h = t.queue.schedule_after(1ms, [&, p = probe<64>(captures)](timer_context& c) {
        ++runs;
        if (c.handle() != h) runs = -100;
        if (c.handle().pending()) runs = -200;  // nothing is chosen yet
    });
    CHECK(t.go(1ms) == 1);
    CHECK(t.go(1h) == 0);
    CHECK(runs == 1);
    CHECK(captures.live == 0);
    CHECK(balanced(t.queue.stats()));
    CHECK(t.queue.stats().pending == 0);
}

// ---- reschedule -------------------------------------------------------------------------------------------------------

TEST_CASE("a pending timer that is moved runs exactly once and at its new time", "[timer_queue][reschedule]") {
    struct step {
        nanoseconds first, at, to;  // scheduled for `first`; at time `at` moved to `at + to`
    };
    std::vector<step> steps;
    for (const nanoseconds at : {nanoseconds(0ms), nanoseconds(3ms), nanoseconds(9ms)}) {
        for (const nanoseconds to : {nanoseconds(-1h), nanoseconds(0ms), nanoseconds(1ms), nanoseconds(7ms),
                                     nanoseconds(16ms), nanoseconds(17ms), nanoseconds(500ms), nanoseconds(1h)}) {
            steps.push_back({10ms, at, to});
            steps.push_back({1h, at, to});
        }
    }
    for (const bool drained : {false, true}) {
        for (const step& s : steps) {
            for (const int kind : {0, 1, 2}) {
                hand_turned t({.slots = 16});
                std::vector<nanoseconds> at;
                const auto note = [&] { at.push_back(t.now()); };
                timer_handle h = kind == 0 ? t.queue.schedule_after(s.first, note)
                                 : kind == 1
                                     ? t.queue.schedule_after(s.first, [&](timer_context&) { note(); })
                                     : t.queue.schedule_every(s.first, [&](timer_context& c) { note(), c.cancel(); });
                if (drained) t.queue.poll();
                if (s.at > 0s) t.go(s.at);
                const bool moved = h.reschedule_after(s.to);
                const nanoseconds due = s.to > 0s ? s.at + s.to : s.at;
                const bool too_early = t.go(s.to > 1ms ? s.to - 1ms : 0ms) != 0 && s.to > 1ms;
                t.go(s.to > 1ms ? 1ms : (std::max)(s.to, nanoseconds(0)));
                t.go(3h);
                if (!moved || too_early || at != std::vector<nanoseconds>{due} || h.pending()) {
                    CAPTURE(s.first.count(), s.at.count(), s.to.count(), kind, drained, moved, too_early, at.size());
                    FAIL("moved timer did not run exactly once at its new time");
                }
            }
        }
    }
    SUCCEED();
}

TEST_CASE("reschedule_at moves to a time of the clock", "[timer_queue][reschedule]") {
    hand_turned t;
    int runs = 0;
    timer_handle h = t.queue.schedule_after(1h, [&] { ++runs; });
    CHECK(h.reschedule_at(time_point(20ms)));
    CHECK(h.remaining() == 20ms);
    CHECK(h.reschedule_at(std::chrono::time_point<std::chrono::steady_clock, std::chrono::seconds>(2s)));
    CHECK(h.remaining() == 2s);
    CHECK(h.reschedule_at(time_point(30ms)));
    CHECK(t.go(29ms) == 0);
    CHECK(t.go(1ms) == 1);
    CHECK_FALSE(h.reschedule_at(time_point(1h)));
    CHECK(runs == 1);
}

TEST_CASE("a time of another clock is an invalid argument and moves nothing", "[timer_queue][reschedule]") {
    hand_turned t;
    int runs = 0;
    timer_handle h = t.queue.schedule_after(5ms, [&](timer_context& c) {
        ++runs;
        try {
            c.reschedule_at(std::chrono::system_clock::now());
            runs = -100;
        } catch (const std::invalid_argument&) {}
    });
    CHECK_THROWS_AS(h.reschedule_at(std::chrono::system_clock::now()), std::invalid_argument);
    CHECK_THROWS_AS(h.reschedule_at(static_clock::now()), std::invalid_argument);
    CHECK(h.remaining() == 5ms);
    CHECK(t.go(5ms) == 1);
    CHECK(runs == 1);
    CHECK(t.queue.approx_pending() == 0);
}

TEST_CASE("a timer can be moved to never and back", "[timer_queue][reschedule][never]") {
    hand_turned t;
    int runs = 0;
    timer_handle h = t.queue.schedule_after(5ms, [&] { ++runs; });
    t.queue.poll();
    CHECK(h.reschedule_after((std::chrono::hours::max)()));
    CHECK(h.pending());
    CHECK(h.remaining() == forever);
    CHECK(t.go(24h * 365 * 100) == 0);
    CHECK_FALSE(t.queue.next_deadline().has_value());
    CHECK(h.reschedule_after(5ms));
    CHECK(h.remaining() == 5ms);
    CHECK(t.go(4ms) == 0);
    CHECK(t.go(1ms) == 1);
    CHECK(runs == 1);
    // Also at once, before anything was drained.
    timer_handle other = t.queue.schedule_after(5ms, [&] { ++runs; });
    CHECK(other.reschedule_at((time_point::max)()));
    CHECK(other.reschedule_after(-1s));
    CHECK(t.queue.poll() == 1);
    CHECK(runs == 2);
}

TEST_CASE("a timer that is over cannot be moved", "[timer_queue][reschedule]") {
    hand_turned t;
    int runs = 0;
    bool inside = true;
    timer_handle done;
    done = t.queue.schedule_after(1ms, [&] {
        ++runs;
        inside = done.reschedule_after(1ms);  // the only run has begun
    });
    timer_handle cancelled = t.queue.schedule_after(1ms, [&] { ++runs; });
    cancelled.cancel();
    t.go(1ms);
    CHECK_FALSE(inside);
    CHECK_FALSE(done.reschedule_after(1ms));
    CHECK_FALSE(cancelled.reschedule_after(1ms));
    CHECK_FALSE(timer_handle{}.reschedule_after(1ms));
    CHECK_FALSE(timer_handle{}.reschedule_at(time_point(1h)));
    CHECK(t.go(1h) == 0);
    CHECK(runs == 1);
}

TEST_CASE("a callback may move other timers forward into this pass and back out of it", "[timer_queue][reschedule]") {
    hand_turned t;
    std::vector<int> order;
    timer_handle far;
    timer_handle next;
    timer_handle same_tick;
    bool all_moved = true;
    t.queue.schedule_after(1ms, [&] {
        order.push_back(1);
        all_moved = far.reschedule_after(0s) && next.reschedule_after(1h) && same_tick.reschedule_after(2h);
    });
    same_tick = t.queue.schedule_after(1ms, [&] { order.push_back(2); });
    next = t.queue.schedule_after(2ms, [&] { order.push_back(3); });
    t.queue.schedule_after(3ms, [&] { order.push_back(4); });
    far = t.queue.schedule_after(24h, [&] { order.push_back(5); });
    t.go(3ms);
    t.queue.poll();
    CHECK(all_moved);
    CHECK(order == std::vector<int>{1, 4, 5});
    CHECK(t.go(1h) == 1);
    CHECK(t.go(1h) == 1);
    CHECK(order == std::vector<int>{1, 4, 5, 3, 2});
}

TEST_CASE("a series that is moved keeps its distance from the new time", "[timer_queue][reschedule][series]") {
    hand_turned t;
    std::vector<nanoseconds> scheduled;
    std::vector<nanoseconds> delays;
    timer_handle h = t.queue.schedule_every(10ms, [&](timer_context& c) {
        scheduled.push_back(c.scheduled());
        delays.push_back(c.scheduled_delay());
        if (scheduled.size() == 3) c.reschedule_after(1ms);
    });
    t.go(4ms);
    CHECK(h.reschedule_after(3ms));
    for (int i = 0; i < 1000 && scheduled.size() < 5; ++i) t.go(1ms);
    CHECK(scheduled == std::vector<nanoseconds>{7ms, 17ms, 27ms, 28ms, 38ms});
    CHECK(delays == std::vector<nanoseconds>{3ms, 10ms, 10ms, 1ms, 10ms});
}

TEST_CASE("a series may be moved by its handle inside its own callback", "[timer_queue][reschedule][series]") {
    for (const sandglass::repeat mode : {sandglass::repeat::fixed_rate, sandglass::repeat::fixed_delay}) {
        hand_turned t;
        std::vector<nanoseconds> at;
        timer_handle h;
        h = t.queue.schedule_every(10ms,
                                   [&] {
                                       at.push_back(t.now());
                                       if (at.size() == 2 && !h.reschedule_after(3ms)) at.push_back(-1s);
                                   },
                                   {.mode = mode});
        for (int i = 0; i < 1000 && at.size() < 4; ++i) t.go(1ms);
        CHECK(at == std::vector<nanoseconds>{10ms, 20ms, 23ms, 33ms});
    }
}

// C028
TEST_CASE("a timer that is pushed back ten thousand times runs once after the last time", "[timer_queue][reschedule]") {
    hand_turned t({.slots = 64});
    std::vector<nanoseconds> at;
    timer_handle h = t.queue.schedule_after(100ms, [&] { at.push_back(t.now()); });
    t.queue.poll();
    int refused = 0;
    const std::uint64_t before = support::allocations();
    for (int i = 0; i < 10'000; ++i) {
        t.go(100us);
        refused += h.reschedule_after(100ms) ? 0 : 1;
    }
    const std::uint64_t allocated = support::allocations() - before;
    CHECK(allocated == 0);
    CHECK(refused == 0);
    CHECK(at.empty());
    CHECK(t.go(99ms) == 0);
    CHECK(t.go(1ms) == 1);
    CHECK(at == std::vector<nanoseconds>{1100ms});
    CHECK_FALSE(h.reschedule_after(100ms));
}

// C020, D part
TEST_CASE("an expiry that waits in the executor is dropped when its timer is moved", "[timer_queue][reschedule]") {
    hand_turned_with<keeper> t;
    std::vector<nanoseconds> at;
    timer_handle h = t.queue.schedule_after(5ms, [&] { at.push_back(t.clock.now().time_since_epoch()); });
    CHECK(t.go(5ms) == 1);
    CHECK(t.executor.tasks.size() == 1);
    CHECK(h.pending());
    CHECK(h.reschedule_after(200ms));
    t.executor.run_all();
    CHECK(at.empty());
    CHECK(h.pending());
    t.go(199ms);
    CHECK(t.executor.tasks.empty());
    t.go(1ms);
    t.executor.run_all();
    CHECK(at == std::vector<nanoseconds>{205ms});
    CHECK_FALSE(h.pending());
    t.go(1h);
    CHECK(t.executor.tasks.empty());
    CHECK(balanced(t.queue.stats()));
    CHECK(t.queue.stats().unreclaimed == 0);
}

TEST_CASE("a timer that is moved twice while its expiry waits in the executor runs once", "[timer_queue][reschedule]") {
    hand_turned_with<keeper> t;
    int runs = 0;
    timer_handle h = t.queue.schedule_after(5ms, [&] { ++runs; });
    t.go(5ms);
    CHECK(h.reschedule_after(1ms));
    t.go(1ms);  // its new expiry comes while the old task has not been called
    CHECK(h.reschedule_after(1ms));
    t.go(10ms);
    t.executor.run_all();
    t.queue.poll();
    t.executor.run_all();
    t.go(1h);
    t.executor.run_all();
    CHECK(runs == 1);
    CHECK(t.queue.stats().fired == 1);
    CHECK(balanced(t.queue.stats()));
}

// ---- cancel -----------------------------------------------------------------------------------------------------------

// C058
TEST_CASE("cancel tells prevented from too late in every state and never throws", "[timer_queue][cancel]") {
    hand_turned_with<keeper> t;
    int runs = 0;

    timer_handle before = t.queue.schedule_after(1ms, [&] { ++runs; });
    CHECK(before.cancel());
    CHECK_FALSE(before.cancel());
    CHECK_FALSE(before.cancel_and_wait());

    timer_handle drained = t.queue.schedule_after(1ms, [&] { ++runs; });
    t.queue.poll();
    CHECK(drained.cancel());
    CHECK_FALSE(drained.cancel());

    // S003: handed to the executor, not called.
    timer_handle handed = t.queue.schedule_after(1ms, [&] { ++runs; });
    t.go(1ms);
    CHECK(t.executor.tasks.size() == 1);
    CHECK(handed.cancel());
    CHECK_FALSE(handed.cancel());
    t.executor.run_all();
    CHECK(runs == 0);

    bool during = true;
    bool during_waiting = true;
    timer_handle running;
    running = t.queue.schedule_after(1ms, [&] {
        ++runs;
        during = running.cancel();
        during_waiting = running.cancel_and_wait();  // does not wait for itself
    });
    t.go(1ms);
    t.executor.run_all();
    CHECK(runs == 1);
    CHECK_FALSE(during);
    CHECK_FALSE(during_waiting);
    CHECK_FALSE(running.cancel());

    CHECK_FALSE(timer_handle{}.cancel());
    CHECK_FALSE(timer_handle{}.cancel_and_wait());

    timer_handle left = t.queue.schedule_after(1ms, [&] { ++runs; });
    t.queue.stop();
    CHECK_FALSE(left.cancel());
    CHECK_FALSE(left.cancel_and_wait());
    const timer_stats s = t.queue.stats();
    CHECK(runs == 1);
    CHECK(s.cancelled == 3);
    CHECK(balanced(s));
}

TEST_CASE("cancel destroys the captures before it returns and outside every lock", "[timer_queue][cancel]") {
    hand_turned t({.max_pending = 3});
    // A destructor that uses the queue: it would deadlock under a lock, and finds the capacity back.
    struct reenters {
        hand_turned* t;
        int* destroyed;
        explicit reenters(hand_turned& h, int& d) : t(&h), destroyed(&d) {}
        reenters(reenters&& other) noexcept : t(std::exchange(other.t, nullptr)), destroyed(other.destroyed) {}
        reenters(const reenters&) = delete;
        reenters& operator=(const reenters&) = delete;
        ~reenters() {
            if (t == nullptr) return;
            ++*destroyed;
            timer_handle h = t->queue.try_schedule_after(1h, [] {});
            h.reschedule_after(2h);
            h.cancel();
            t->queue.poll();
            static_cast<void>(t->queue.next_deadline());
            static_cast<void>(t->queue.stats());
        }
    };
    int destroyed = 0;
    for (const bool drained : {false, true}) {
        timer_handle small = t.queue.schedule_after(1h, [r = reenters(t, destroyed)] {});
        timer_handle large = t.queue.schedule_after(
            1h, [r = reenters(t, destroyed), text = std::string(99, 'x')] { static_cast<void>(text.size()); });
        timer_handle series = t.queue.schedule_every(1h, [r = reenters(t, destroyed)] {});
        if (drained) t.queue.poll();
        destroyed = 0;
        CHECK(small.cancel());
        CHECK(destroyed == 1);
        CHECK(large.cancel());
        CHECK(destroyed == 2);
        CHECK(series.cancel());
        CHECK(destroyed == 3);
    }
    // After a run, too, and at stop().
    t.queue.schedule_after(1ms, [r = reenters(t, destroyed)] {});
    destroyed = 0;
    t.go(1ms);
    CHECK(destroyed == 1);
    t.queue.schedule_after(1ms, [r = reenters(t, destroyed)] {});
    CHECK(t.queue.stop() == 1);
    CHECK(destroyed == 2);
    CHECK(balanced(t.queue.stats()));
}

// S007, C077
TEST_CASE("timers of the same tick can be cancelled by the first of them", "[timer_queue][cancel]") {
    hand_turned t;
    int runs = 0;
    int prevented = 0;
    std::vector<timer_handle> handles;
    for (int i = 0; i < 200; ++i) {  // more than one batch of whatever size
        handles.push_back(t.queue.schedule_after(1ms, [&] {
            if (++runs != 1) return;
            for (std::size_t k = 1; k < handles.size(); ++k) prevented += handles[k].cancel() ? 1 : 0;
        }));
    }
    t.go(1ms);
    CHECK(runs == 1);
    CHECK(prevented == 199);
    CHECK(t.queue.approx_pending() == 0);
    CHECK(t.queue.stats().cancelled == 199);
    CHECK(t.go(1h) == 0);
    CHECK(t.queue.stats().unreclaimed == 0);
}

// C039
TEST_CASE("a stale handle names nothing however often its memory has been used again", "[timer_queue][cancel]") {
    hand_turned t;
    int runs = 0;
    timer_handle stale = t.queue.schedule_after(1ms, [&] { ++runs; });
    t.go(1ms);
    int hits = 0;
    for (int round = 0; round < 100'000; ++round) {
        timer_handle h = t.queue.schedule_after(1ms, [&] { ++runs; });
        hits += stale.cancel() || stale.reschedule_after(1h) || stale.pending() ? 1 : 0;
        hits += stale == h ? 1 : 0;
        if (round % 2 == 0) h.cancel();
        t.go(1ms);
    }
    CHECK(hits == 0);
    CHECK(runs == 1 + 50'000);
    CHECK_FALSE(stale.cancel_and_wait());
    CHECK(stale.remaining() == 0ns);
}

// ---- callables --------------------------------------------------------------------------------------------------------

namespace {

int plain_function_runs = 0;
int plain_function() { return ++plain_function_runs; }

struct throws_when_built {
    bool armed = true;
    explicit throws_when_built(bool a) : armed(a) {}
    throws_when_built(const throws_when_built& other) : armed(other.armed) {
        if (armed) throw std::runtime_error("no copy");
    }
    void operator()() const {}
};

}  // namespace

// C032
TEST_CASE("whatever can be called with nothing or with a context is a callable", "[timer_queue][callable]") {
    hand_turned t;
    int runs = 0;
    plain_function_runs = 0;
    struct functor {
        int* runs;
        int operator()() { return ++*runs; }  // not const, and the result is ignored
    } counter{&runs};
    const auto constant = [&runs] { ++runs; };
    std::function<void()> wrapped = constant;

    t.queue.schedule_after(1ms, [p = std::make_unique<int>(1), &runs] { runs += *p; });
    t.queue.schedule_after(1ms, [p = std::make_unique<int>(1), &runs]() mutable { runs += (*p)++; });
    t.queue.schedule_every(1ms, [p = std::make_unique<int>(1), &runs]() mutable { runs += (*p)++; });  // 1 + 2
    t.queue.schedule_after(1ms, [p = std::make_unique<int>(1), &runs](timer_context&) { runs += *p; });
    t.queue.schedule_after(1ms, &plain_function);
    t.queue.schedule_after(1ms, plain_function);
    t.queue.schedule_after(1ms, counter);
    t.queue.schedule_after(1ms, std::ref(counter));
    t.queue.schedule_after(1ms, constant);
    t.queue.schedule_after(1ms, wrapped);
    t.queue.schedule_after(1ms, std::move(wrapped));
    t.queue.schedule_after(1ms, [&runs](auto&&... context) { runs += sizeof...(context) == 0 ? 1 : 100; });
    CHECK(t.go(1ms) == 12);
    CHECK(plain_function_runs == 2);
    CHECK(runs == 10);
    CHECK(t.go(1ms) == 1);
    CHECK(runs == 12);
}

TEST_CASE("a null callable is an invalid argument and schedules nothing", "[timer_queue][callable]") {
    hand_turned t({.max_pending = 1});
    void (*null)() = nullptr;
    void (*null_context)(timer_context&) = nullptr;
    CHECK_THROWS_AS(t.queue.schedule_after(1ms, null), std::invalid_argument);
    CHECK_THROWS_AS(t.queue.schedule_after(1ms, null_context), std::invalid_argument);
    CHECK_THROWS_AS(t.queue.schedule_after(1ms, std::function<void()>{}), std::invalid_argument);
    CHECK_THROWS_AS(t.queue.schedule_at(time_point{}, std::function<void(timer_context&)>{}), std::invalid_argument);
    CHECK_THROWS_AS(t.queue.schedule_every(1ms, std::function<void()>{}), std::invalid_argument);
    CHECK_THROWS_AS((static_cast<void>(t.queue.try_schedule_after(1ms, null))), std::invalid_argument);
    CHECK(t.queue.stats().scheduled == 0);
    CHECK(t.queue.try_schedule_after(1ms, [] {}));  // the place under the limit is still free
}

TEST_CASE("a callable is never copied and destroyed once when it has run", "[timer_queue][callable]") {
    hand_turned t;
    tally small;
    tally large;
    int live_during_run = -1;
    t.queue.schedule_after(1ms, [p = probe<1>(small), &live_during_run, &small] { live_during_run = small.live; });
    t.queue.schedule_after(1ms, [p = probe<1024>(large)] {});
    CHECK(small.live == 1);
    CHECK(large.live == 1);
    CHECK(t.go(1ms) == 2);
    CHECK(live_during_run == 1);
    CHECK(small.live == 0);
    CHECK(large.live == 0);
    CHECK(small.copies == 0);
    CHECK(large.copies == 0);
}

// C049
TEST_CASE("captures are gone after a cancel or a run or a stop or the end of the queue", "[timer_queue][callable]") {
    std::array<std::weak_ptr<int>, 6> weak;
    const auto capture = [&](std::size_t i) {
        auto shared = std::make_shared<int>(0);
        weak[i] = shared;
        return [shared] { ++*shared; };
    };
    timer_handle kept;
    {
        hand_turned t;
        timer_handle cancelled = t.queue.schedule_after(1ms, capture(0));
        cancelled.cancel();
        CHECK(weak[0].expired());
        kept = t.queue.schedule_after(1ms, capture(1));
        t.go(1ms);
        CHECK(weak[1].expired());  // although its handle lives

        // What holds its own handle is no cycle.
        struct owner {
            timer_handle handle;
        };
        auto self = std::make_shared<owner>();
        std::weak_ptr<owner> weak_self = self;
        self->handle = t.queue.schedule_after(1ms, [self] {});
        self.reset();
        CHECK_FALSE(weak_self.expired());
        t.go(1ms);
        CHECK(weak_self.expired());

        t.queue.schedule_after(1ms, capture(2));
        t.queue.schedule_every(1ms, capture(3));
        CHECK(t.queue.stop() == 2);
        CHECK(weak[2].expired());
        CHECK(weak[3].expired());
    }
    {
        hand_turned t;
        kept = t.queue.schedule_after(1ms, capture(4));
        kept = t.queue.schedule_every(1ms, capture(5));
        t.queue.poll();
    }
    CHECK(weak[4].expired());
    CHECK(weak[5].expired());
}

TEST_CASE("a callable whose constructor throws leaves everything as it was", "[timer_queue][callable]") {
    hand_turned t({.max_pending = 2});
    const throws_when_built f(true);
    for (int i = 0; i < 10; ++i) {
        CHECK_THROWS_AS(t.queue.schedule_after(1ms, f), std::runtime_error);
        CHECK_THROWS_AS(t.queue.schedule_every(1ms, f), std::runtime_error);
    }
    CHECK(t.queue.approx_pending() == 0);
    CHECK(t.queue.stats().scheduled == 0);
    CHECK(t.queue.stats().unreclaimed == 0);
    t.queue.schedule_after(1ms, throws_when_built(false));
    t.queue.schedule_after(1ms, [] {});
    CHECK(t.go(1ms) == 2);
}

TEST_CASE("captures of any size and alignment arrive as they were", "[timer_queue][callable]") {
    hand_turned t;
    int wrong = 0;
    struct alignas(64) line {
        std::array<char, 64> bytes;
    };
    struct alignas(4096) page {
        std::array<char, 4096> bytes;
    };
    const auto check = [&](const auto& blank) {
        auto value = blank;
        value.bytes.front() = 'a';
        value.bytes.back() = 'z';
        t.queue.schedule_after(1ms, [&wrong, value] {
            if (value.bytes.front() != 'a' || value.bytes.back() != 'z') ++wrong;
            if (reinterpret_cast<std::uintptr_t>(&value) % alignof(decltype(value)) != 0) ++wrong;
        });
    };
    struct small {
        std::array<char, 8> bytes;
    };
    struct over {
        std::array<char, 9> bytes;
    };
    struct huge {
        std::array<char, 100'000> bytes;
    };
    check(small{});
    check(over{});
    check(line{});
    check(page{});
    check(huge{});
    CHECK(t.go(1ms) == 5);
    CHECK(wrong == 0);
}

// C012, D part
TEST_CASE("a callback may end the last owner of what it uses", "[timer_queue][callable]") {
    for (const bool series : {false, true}) {
        hand_turned t;
        struct owner {
            timer_handle handle;
            int value = 42;
            ~owner() { handle.cancel(); }
        };
        auto object = std::make_shared<owner>();
        std::weak_ptr<owner> weak = object;
        int seen = 0;
        int runs = 0;
        const auto f = [&seen, &runs, &object, text = std::string("longer than what a string keeps in place")] {
            ++runs;
            object.reset();
            seen = static_cast<int>(text.size());
        };
        object->handle = series ? t.queue.schedule_every(1ms, f) : t.queue.schedule_after(1ms, f);
        for (int i = 0; i < 5; ++i) t.go(1ms);
        CHECK(weak.expired());
        CHECK(runs == 1);
        CHECK(seen == 40);
    }
}

// ---- exceptions -------------------------------------------------------------------------------------------------------

namespace {

// What on_error was told.
struct reported {
    sandglass::error_kind kind;
    std::string what;  // "null" without an exception
    timer_handle timer;
    std::string name;
};

std::string text_of(const std::exception_ptr& error) {
    if (!error) return "null";
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "not a std::exception";
    }
}

std::function<void(const sandglass::timer_error&)> report_to(std::vector<reported>& reports) {
    return [&reports](const sandglass::timer_error& e) {
        reports.push_back({e.kind, text_of(e.exception), e.timer, std::string(e.name)});
    };
}

}  // namespace

// C002, C034
TEST_CASE("a callable that throws is reported with its timer and harms nothing else", "[timer_queue][exception]") {
    std::vector<reported> reports;
    hand_turned t({.on_error = report_to(reports)});
    tally captures;
    int healthy = 0;
    int series_runs = 0;
    timer_handle once = t.queue.schedule_after(1ms, [p = probe<>(captures)] { throw std::runtime_error("once"); });
    timer_handle odd = t.queue.schedule_after(2ms, sandglass::named("odd one", [] { throw 42; }));
    timer_handle series = t.queue.schedule_every(1ms, [&, p = probe<>(captures)] {
        if (++series_runs == 3) throw std::runtime_error("third run");
    });
    timer_handle paced = t.queue.schedule_after(5ms, [&](timer_context& c) {
        c.reschedule_after(1ms);
        throw std::runtime_error("paced");
    });
    t.queue.schedule_every(1ms, [&] { ++healthy; });
    for (int i = 0; i < 6; ++i) t.go(1ms);
    CHECK(healthy == 6);
    CHECK(series_runs == 6);
    CHECK(paced.pending());
    REQUIRE(reports.size() == 5);
    for (const reported& r : reports) CHECK(r.kind == sandglass::error_kind::callback_failed);
    CHECK(reports[0].what == "once");
    CHECK(reports[0].timer == once);
    CHECK(reports[0].name.empty());
    CHECK(reports[1].what == "not a std::exception");
    CHECK(reports[1].timer == odd);
    CHECK(reports[1].name == "odd one");
    CHECK(reports[2].what == "third run");
    CHECK(reports[2].timer == series);
    CHECK(reports[3].what == "paced");
    CHECK(reports[4].timer == paced);
    CHECK(t.queue.stats().failed == 5);
    CHECK(captures.live == 1);  // the series
    CHECK(series.cancel());
    CHECK(captures.live == 0);
    CHECK(balanced(t.queue.stats()));
}

TEST_CASE("on_error may end the series that threw or use the queue", "[timer_queue][exception]") {
    hand_turned* self = nullptr;
    int reports = 0;
    hand_turned t({.on_error = [&](const sandglass::timer_error& e) {
        ++reports;
        timer_handle h = e.timer;
        h.cancel();
        self->queue.schedule_after(1ms, [] {});
    }});
    self = &t;
    int runs = 0;
    t.queue.schedule_every(1ms, [&] {
        ++runs;
        throw std::runtime_error("");
    });
    for (int i = 0; i < 5; ++i) t.go(1ms);
    CHECK(runs == 1);
    CHECK(reports == 1);
    CHECK(t.queue.stats().fired == 2);
    CHECK(balanced(t.queue.stats()));
}

TEST_CASE("a hook that throws is contained", "[timer_queue][exception]") {
    hand_turned t({.on_error = [](const sandglass::timer_error&) { throw std::runtime_error("hook"); },
                   .slow_tick = 1ns,
                   .slow_callback = 1ns,
                   .on_slow = [](const sandglass::slow_event&) { throw 1; }});
    int runs = 0;
    t.queue.schedule_every(1ms, [&] {
        ++runs;
        t.clock.advance(1ms);
        throw std::runtime_error("callable");
    });
    CHECK(t.go(1ms) == 1);
    CHECK(t.queue.poll() == 1);
    CHECK(runs == 2);
    CHECK(t.queue.stats().failed == 2);
}

#if defined(__unix__)
TEST_CASE("without on_error each failure is one line on stderr", "[timer_queue][exception]") {
    std::string text;
    {
        captured_stderr captured;
        hand_turned t;
        t.queue.schedule_after(1ms, [] { throw std::runtime_error("first reason"); });
        t.queue.schedule_after(2ms, sandglass::named("close order", [] { throw 1; }));
        t.go(2ms);
        text = captured.text();
    }
    CHECK(std::count(text.begin(), text.end(), '\n') == 2);
    const std::string first = text.substr(0, text.find('\n'));
    CHECK(first.find("sandglass") != std::string::npos);
    CHECK(first.find("first reason") != std::string::npos);
    CHECK(text.find("close order") != std::string::npos);
    CHECK(text.find("not a std::exception") != std::string::npos);
}

TEST_CASE("without on_error a dropped task is one line on stderr", "[timer_queue][executor]") {
    std::string text;
    {
        captured_stderr captured;
        sandglass::timer_queue queue{wheel_options{}, [](sandglass::expired_timer&&) {}};
        queue.schedule_after(-1s, sandglass::named("nobody's", [] {}));
        queue.poll();
        text = captured.text();
    }
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
    CHECK(text.find("nobody's") != std::string::npos);
    CHECK(text.find("rejected") != std::string::npos);
}
#endif

// ---- executors --------------------------------------------------------------------------------------------------------

// C043, S004
TEST_CASE("an executor that throws rejects the timer and a series tries again next period", "[timer_queue][executor]") {
    struct unreliable {
        int calls = 0;
        int every = 10;
        void execute(sandglass::expired_timer&& task) {
            if (++calls % every == 0) throw std::runtime_error("busy");
            task();
        }
    };
    std::vector<reported> reports;
    hand_turned_with<unreliable> t({}, {.on_error = report_to(reports)});
    tally captures;
    std::vector<timer_handle> handles;
    std::vector<char> ran(100);
    for (std::size_t i = 0; i < 100; ++i) {
        handles.push_back(t.queue.schedule_after(1ms, [&ran, i, p = probe<>(captures)] { ran[i] = 1; }));
    }
    CHECK(t.go(1ms) == 100);
    REQUIRE(reports.size() == 10);
    CHECK(captures.live == 0);  // also those of the rejected
    int wrong = 0;
    for (std::size_t k = 0; k < 10; ++k) {
        const std::size_t i = 10 * k + 9;
        const reported& r = reports[k];
        if (r.kind != sandglass::error_kind::rejected || r.what != "busy" || r.timer != handles[i]) ++wrong;
        if (ran[i] != 0 || handles[i].pending() || handles[i].cancel()) ++wrong;
    }
    CHECK(wrong == 0);
    timer_stats s = t.queue.stats();
    CHECK(s.fired == 90);
    CHECK(s.rejected == 10);
    CHECK(s.pending == 0);
    CHECK(balanced(s));

    // Then it throws every time, and recovers.
    t.executor.every = 1;
    int runs = 0;
    std::vector<nanoseconds> scheduled;
    timer_handle series =
        t.queue.schedule_every(sandglass::repeat_options{}.first.value_or(10ms), [&](timer_context& c) {
            ++runs;
            scheduled.push_back(c.scheduled());
        });
    for (int i = 0; i < 3; ++i) t.go(10ms);
    CHECK(runs == 0);
    CHECK(series.pending());
    CHECK(reports.size() == 13);
    CHECK(reports.back().timer == series);
    t.executor.every = 1'000'000;
    t.go(10ms);
    CHECK(runs == 1);
    CHECK(scheduled == std::vector<nanoseconds>{41ms});
    CHECK(series.cancel());
    s = t.queue.stats();
    CHECK(s.rejected == 13);
    CHECK(balanced(s));
}

TEST_CASE("an executor that drops a task rejects the timer without an exception", "[timer_queue][executor]") {
    struct dropper {
        void execute(sandglass::expired_timer&& task) { const sandglass::expired_timer gone = std::move(task); }
    };
    std::vector<reported> reports;
    hand_turned_with<dropper> t({}, {.max_pending = 2, .on_error = report_to(reports)});
    int runs = 0;
    timer_handle once = t.queue.schedule_after(1ms, sandglass::named("dropped", [&] { ++runs; }));
    timer_handle series =
        t.queue.schedule_every(1ms, [&] { ++runs; }, {.first = 2ms, .mode = sandglass::repeat::fixed_delay});
    CHECK(t.go(1ms) == 1);
    CHECK(t.go(1ms) == 1);
    REQUIRE(reports.size() == 2);
    CHECK(reports[0].kind == sandglass::error_kind::rejected);
    CHECK(reports[0].what == "null");
    CHECK(reports[0].timer == once);
    CHECK(reports[0].name == "dropped");
    CHECK(reports[1].timer == series);
    CHECK(runs == 0);
    CHECK(series.remaining() == 1ms);  // it tries again
    CHECK(t.queue.approx_pending() == 1);
    CHECK(t.queue.try_schedule_after(1h, [] {}));  // the place of the first one is free
    CHECK(balanced(t.queue.stats()));
}

TEST_CASE("a self-paced timer that is rejected is over", "[timer_queue][executor]") {
    std::vector<reported> reports;
    sandglass::manual_clock clock;
    sandglass::timer_queue queue{wheel_options{.on_error = report_to(reports)}, [](sandglass::expired_timer&&) {},
                                 std::ref(clock)};
    timer_handle h = queue.schedule_after(1ms, [](timer_context& c) { c.reschedule_after(1ms); });
    clock.advance(1ms);
    CHECK(queue.poll() == 1);
    CHECK_FALSE(h.pending());
    CHECK(reports.size() == 1);
    CHECK(queue.approx_pending() == 0);
    CHECK(balanced(queue.stats()));
}

TEST_CASE("an executor may keep a task and run it or drop it later on any thread", "[timer_queue][executor]") {
    std::vector<reported> reports;
    hand_turned_with<keeper> t({}, {.on_error = report_to(reports)});
    int runs = 0;
    tally captures;
    timer_handle runs_later = t.queue.schedule_after(1ms, [&, p = probe<>(captures)] { ++runs; });
    timer_handle dropped_later = t.queue.schedule_after(2ms, [&, p = probe<>(captures)] { ++runs; });
    timer_handle cancelled = t.queue.schedule_after(3ms, [&, p = probe<>(captures)] { ++runs; });
    CHECK(t.go(5ms) == 3);
    CHECK(runs_later.pending());  // nothing has begun
    CHECK(t.queue.approx_pending() == 3);
    CHECK(cancelled.cancel());
    REQUIRE(t.executor.tasks.size() == 3);
    bool valid_before = false;
    bool valid_after = true;
    std::thread([&] {
        valid_before = static_cast<bool>(t.executor.tasks[0]);
        t.executor.tasks[0]();
        valid_after = static_cast<bool>(t.executor.tasks[0]);
        t.executor.tasks[0]();  // a second call does nothing
    }).join();
    CHECK(valid_before);
    CHECK_FALSE(valid_after);
    t.executor.tasks.clear();
    CHECK(runs == 1);
    CHECK(captures.live == 0);
    REQUIRE(reports.size() == 1);  // a task whose timer was cancelled is no refusal
    CHECK(reports[0].kind == sandglass::error_kind::rejected);
    CHECK(reports[0].timer == dropped_later);
    const timer_stats s = t.queue.stats();
    CHECK(s.fired == 1);
    CHECK(s.rejected == 1);
    CHECK(s.cancelled == 1);
    CHECK(s.unreclaimed == 0);
    CHECK(balanced(s));
}

TEST_CASE("an executor that throws after it took or ran the task is reported and the timer counts as what it did",
          "[timer_queue][executor]") {
    struct late_thrower {
        std::vector<sandglass::expired_timer> kept;
        bool keep = false;
        void execute(sandglass::expired_timer&& task) {
            if (keep) {
                kept.push_back(std::move(task));
            } else {
                task();
            }
            throw std::runtime_error("afterwards");
        }
    };
    std::vector<reported> reports;
    hand_turned_with<late_thrower> t({}, {.on_error = report_to(reports)});
    int runs = 0;
    t.queue.schedule_after(1ms, [&] { ++runs; });
    CHECK(t.go(1ms) == 1);
    CHECK(runs == 1);
    t.executor.keep = true;
    timer_handle kept = t.queue.schedule_after(1ms, [&] { ++runs; });
    CHECK(t.go(1ms) == 1);
    CHECK(kept.pending());
    REQUIRE(reports.size() == 2);
    for (const reported& r : reports) {
        CHECK(r.kind == sandglass::error_kind::hook_failed);
        CHECK(r.what == "afterwards");
        CHECK_FALSE(r.timer);
    }
    t.executor.kept.front()();
    CHECK(runs == 2);
    CHECK(t.queue.stats().fired == 2);
    CHECK(t.queue.stats().rejected == 0);
}

TEST_CASE("a series is not handed over again while its last task waits", "[timer_queue][executor][series]") {
    hand_turned_with<keeper> t;
    std::vector<std::uint64_t> missed;
    t.queue.schedule_every(10ms, [&](timer_context& c) { missed.push_back(c.missed()); });
    for (int i = 0; i < 10; ++i) t.go(10ms);
    CHECK(t.executor.tasks.size() == 1);
    t.executor.run_all();
    CHECK(missed == std::vector<std::uint64_t>{8});  // due at 10 ms, run at 100 ms: 20 to 90 ms are over
    t.queue.poll();
    t.executor.run_all();
    CHECK(missed == std::vector<std::uint64_t>{8, 0});
}

// C044, deterministic part
TEST_CASE("a task that outlives its queue does nothing", "[timer_queue][executor]") {
    keeper executor;
    int runs = 0;
    tally captures;
    {
        sandglass::timer_queue queue{wheel_options{}, std::ref(executor)};
        queue.schedule_after(-1s, [&, p = probe<>(captures)] { ++runs; });
        queue.schedule_every(1s, [&, p = probe<>(captures)] { ++runs; }, {.first = -1s});
        CHECK(queue.poll() == 2);
    }
    CHECK(captures.live == 0);
    REQUIRE(executor.tasks.size() == 2);
    executor.tasks[0]();
    executor.tasks.clear();
    CHECK(runs == 0);
}

// ---- limit ------------------------------------------------------------------------------------------------------------

// C042, S005
TEST_CASE("the pending limit is exact and capacity is back at once", "[timer_queue][limit]") {
    hand_turned t({.max_pending = 10});
    std::vector<timer_handle> handles;
    for (int i = 0; i < 10; ++i) handles.push_back(t.queue.schedule_after(10ms, [] {}));
    CHECK_THROWS_AS(t.queue.schedule_after(10ms, [] {}), sandglass::pending_limit_reached);
    CHECK_FALSE(t.queue.try_schedule_after(10ms, [] {}));
    CHECK_FALSE(t.queue.try_schedule_at(time_point(1s), [] {}));
    CHECK_FALSE(t.queue.try_schedule_every(10ms, [] {}));
    CHECK(t.queue.approx_pending() == 10);

    int refused = 0;
    for (int round = 0; round < 1000; ++round) {  // cancel one and schedule one
        if (!handles[static_cast<std::size_t>(round) % 10].cancel()) ++refused;
        if (round % 7 == 0) t.queue.poll();
        timer_handle h = t.queue.try_schedule_after(10ms, [] {});
        if (!h) ++refused;
        if (t.queue.try_schedule_after(10ms, [] {})) ++refused;
        handles[static_cast<std::size_t>(round) % 10] = h;
    }
    CHECK(refused == 0);

    // Moving needs no capacity, and a stale cancel gives none.
    CHECK(handles[0].reschedule_after(20ms));
    CHECK(handles[1].cancel());
    CHECK_FALSE(handles[1].cancel());
    CHECK(t.queue.try_schedule_after(1h, [] {}));
    CHECK_FALSE(t.queue.try_schedule_after(1h, [] {}));
    CHECK(t.go(10ms) == 8);
    CHECK(t.queue.approx_pending() == 2);
    for (int i = 0; i < 8; ++i) CHECK(t.queue.try_schedule_after(1h, [] {}));
    CHECK_FALSE(t.queue.try_schedule_after(1h, [] {}));
    CHECK(balanced(t.queue.stats()));
}

// S005
TEST_CASE("a firing one-shot has given its place back before it is called and a series keeps its own",
          "[timer_queue][limit]") {
    hand_turned t({.max_pending = 1});
    bool accepted = false;
    t.queue.schedule_after(1ms, [&] { accepted = static_cast<bool>(t.queue.try_schedule_after(1ms, [] {})); });
    t.go(1ms);
    CHECK(accepted);
    t.go(1ms);

    timer_handle series = t.queue.schedule_every(1ms, [&] { accepted = bool(t.queue.try_schedule_after(1ms, [] {})); });
    t.go(1ms);
    CHECK_FALSE(accepted);
    CHECK_FALSE(t.queue.try_schedule_after(1ms, [] {}));
    CHECK(series.cancel());
    timer_handle paced = t.queue.schedule_after(1ms, [&](timer_context& c) {
        c.cancel();
        accepted = static_cast<bool>(t.queue.try_schedule_after(1ms, [] {}));  // cancel gave it back
    });
    t.go(1ms);
    CHECK(accepted);
    CHECK_FALSE(paced.pending());
    t.go(1ms);
    CHECK(t.queue.approx_pending() == 0);
    for (int i = 0; i < 3; ++i) {  // nothing has leaked
        CHECK(t.queue.try_schedule_after(1ms, [](timer_context&) {}));
        CHECK_FALSE(t.queue.try_schedule_after(1ms, [] {}));
        t.go(1ms);
    }
}

TEST_CASE("a refused callable is left untouched", "[timer_queue][limit]") {
    hand_turned t({.max_pending = 1});
    t.queue.schedule_after(1h, [] {});
    tally captures;
    auto p = std::make_unique<int>(7);
    auto f = [p = std::move(p), q = probe<100>(captures)] { static_cast<void>(*p); };
    const int live = captures.live;
    struct peek {
        std::unique_ptr<int> p;
        void operator()() const {}
    } g{std::make_unique<int>(8)};
    CHECK_THROWS_AS(t.queue.schedule_after(1ms, std::move(f)), sandglass::pending_limit_reached);
    CHECK_FALSE(t.queue.try_schedule_after(1ms, std::move(g)));
    CHECK(g.p != nullptr);
    CHECK(captures.live == live);
    t.queue.stop();
    CHECK_THROWS_AS(t.queue.schedule_every(1ms, std::move(g)), sandglass::timer_stopped);
    CHECK_FALSE(t.queue.try_schedule_every(1ms, std::move(g)));
    CHECK(g.p != nullptr);
    CHECK(captures.live == live);
}

// ---- stop -------------------------------------------------------------------------------------------------------------

// C023, C066, C084
TEST_CASE("stop discards what is pending and frees it and answers how much that was", "[timer_queue][stop]") {
    hand_turned t;
    tally captures;
    std::vector<timer_handle> handles;
    int runs = 0;
    for (int i = 0; i < 5; ++i) {
        handles.push_back(t.queue.schedule_after(i * 1ms, [&, p = probe<>(captures)] { ++runs; }));
        if (i == 2) t.queue.poll();  // some in the wheel, some in the queue
    }
    handles.push_back(t.queue.schedule_every(1ms, [&, p = probe<99>(captures)] { ++runs; }));
    CHECK_FALSE(t.queue.stopped());
    CHECK(captures.live == 5);
    CHECK(t.queue.stop() == 5);
    CHECK(captures.live == 0);
    CHECK(t.queue.stopped());
    CHECK(t.queue.stop() == 0);
    CHECK(t.queue.stop([](sandglass::leftover_timer&&) {}) == 0);
    CHECK(t.go(1h) == 0);
    CHECK(runs == 1);
    CHECK_FALSE(t.queue.next_deadline().has_value());
    for (timer_handle& h : handles) {
        CHECK_FALSE(h.pending());
        CHECK_FALSE(h.cancel());
        CHECK_FALSE(h.cancel_and_wait());
        CHECK_FALSE(h.reschedule_after(1ms));
        CHECK_FALSE(h.reschedule_at(time_point(1h)));
        CHECK(h.remaining() == 0ns);
    }
    const timer_stats s = t.queue.stats();
    CHECK(s.discarded == 5);
    CHECK(s.pending == 0);
    CHECK(s.unreclaimed == 0);
    CHECK(balanced(s));
}

// C066
TEST_CASE("after stop every way to schedule is refused", "[timer_queue][stop]") {
    hand_turned t;
    t.queue.stop();
    CHECK_THROWS_AS(t.queue.schedule_after(1ms, [] {}), sandglass::timer_stopped);
    CHECK_THROWS_AS(t.queue.schedule_at(time_point(1ms), [] {}), sandglass::timer_stopped);
    CHECK_THROWS_AS(t.queue.schedule_every(1ms, [] {}), sandglass::timer_stopped);
    CHECK_FALSE(t.queue.try_schedule_after(1ms, [] {}));
    CHECK_FALSE(t.queue.try_schedule_at(time_point(1ms), [] {}));
    CHECK_FALSE(t.queue.try_schedule_every(1ms, [] {}));
    CHECK(t.queue.stats().scheduled == 0);
}

TEST_CASE("a callback may stop the queue and nothing starts after it", "[timer_queue][stop]") {
    hand_turned t;
    std::vector<int> order;
    std::size_t left = 0;
    bool refused = false;
    tally captures;
    t.queue.schedule_after(1ms, [&] { order.push_back(1); });
    timer_handle series = t.queue.schedule_every(1ms, [&, p = probe<>(captures)](timer_context& c) {
        order.push_back(2);
        left = t.queue.stop();
        refused = !t.queue.try_schedule_after(1ms, [] {});
        if (captures.live != 1) order.push_back(-1);  // this run's captures live on
        c.reschedule_after(1ms);
    });
    for (int i = 0; i < 300; ++i) t.queue.schedule_after(1ms, [&] { order.push_back(3); });
    t.go(1ms);
    CHECK(order == std::vector<int>{1, 2});
    CHECK(left == 300);
    CHECK(refused);
    CHECK(captures.live == 0);
    CHECK_FALSE(series.pending());
    CHECK(t.go(1h) == 0);
    CHECK(t.queue.stats().discarded == 301);  // the series' next run, too
    CHECK(t.queue.stats().unreclaimed == 0);
    CHECK(balanced(t.queue.stats()));
}

TEST_CASE("stop from a task that the executor runs later ends everything else", "[timer_queue][stop]") {
    hand_turned_with<keeper> t;
    int runs = 0;
    t.queue.schedule_after(1ms, [&] {
        ++runs;
        t.queue.stop();
    });
    t.queue.schedule_after(1ms, [&] { ++runs; });
    t.go(1ms);
    t.executor.run_all();
    CHECK(runs == 1);
    CHECK(balanced(t.queue.stats()));
    CHECK(t.queue.stats().discarded == 1);
}

TEST_CASE("handles outlive their queue and answer that it is over", "[timer_queue][stop]") {
    std::vector<timer_handle> handles;
    {
        hand_turned t;
        handles.push_back(t.queue.schedule_after(1ms, [] {}));
        handles.push_back(t.queue.schedule_every(1ms, [] {}));
        handles.push_back(t.queue.schedule_after(1ms, [](timer_context&) {}));
        handles.push_back(t.queue.schedule_after((nanoseconds::max)(), [] {}));
        t.queue.poll();
        handles.push_back(t.queue.schedule_after(1ms, [x = std::make_unique<int>(1)] {}));
    }
    // Others may use the same memory by now.
    hand_turned other;
    int runs = 0;
    for (int i = 0; i < 100; ++i) other.queue.schedule_after(1ms, [&] { ++runs; });
    for (timer_handle& h : handles) {
        CHECK(h);
        CHECK_FALSE(h.pending());
        CHECK_FALSE(h.cancel());
        CHECK_FALSE(h.cancel_and_wait());
        CHECK_FALSE(h.reschedule_after(1ms));
        CHECK_FALSE(h.reschedule_at(time_point(1h)));
        CHECK(h.remaining() == 0ns);
    }
    CHECK(other.go(1ms) == 100);
    CHECK(runs == 100);
}

// ---- the loop's side --------------------------------------------------------------------------------------------------

TEST_CASE("next_deadline is the earliest deadline and is never too late", "[timer_queue][loop]") {
    hand_turned t;
    CHECK_FALSE(t.queue.next_deadline().has_value());
    timer_handle far = t.queue.schedule_after(24h, [] {});
    CHECK(t.queue.next_deadline() == time_point(24h));
    timer_handle mid = t.queue.schedule_after(10ms - 1ns, [] {});
    CHECK(t.queue.next_deadline() == time_point(10ms));
    timer_handle near = t.queue.schedule_after(3ms, [] {});
    CHECK(t.queue.next_deadline() == time_point(3ms));
    t.queue.schedule_after(5ms, [] {});
    CHECK(t.queue.next_deadline() == time_point(3ms));
    near.cancel();
    CHECK(t.queue.next_deadline().value() <= time_point(5ms));
    t.go(3ms);
    CHECK(t.queue.next_deadline() == time_point(5ms));
    CHECK(mid.reschedule_after(1h));
    CHECK(t.go(2ms) == 1);
    CHECK(far.reschedule_after(1ms));
    CHECK(t.queue.next_deadline() == time_point(6ms));
    CHECK(t.go(1ms) == 1);
    // The rest is found by following it, in few steps.
    int steps = 0;
    std::size_t fired = 0;
    while (fired == 0 && steps < 10) {
        t.clock.set(t.queue.next_deadline().value());
        fired += t.queue.poll();
        ++steps;
    }
    CHECK(fired == 1);
    CHECK(t.now() == 1h + 3ms);
    CHECK_FALSE(t.queue.next_deadline().has_value());
}

TEST_CASE("on_earlier is called once and only for a nearer deadline", "[timer_queue][loop]") {
    hand_turned t;
    std::atomic<int> woken{0};
    t.queue.on_earlier([&] { ++woken; });
    t.queue.schedule_after(1h, [] {});
    CHECK(woken == 0);  // nobody has been told a deadline yet

    CHECK(t.queue.next_deadline() == time_point(1h));
    timer_handle later;
    timer_handle nearer;
    std::thread([&] { later = t.queue.schedule_after(2h, [] {}); }).join();
    CHECK(woken == 0);
    std::thread([&] { later.cancel(); }).join();
    CHECK(woken == 0);
    std::thread([&] { nearer = t.queue.schedule_after(1ms, [] {}); }).join();
    CHECK(woken == 1);
    std::thread([&] {
        t.queue.schedule_after(0s, [] {});
        t.queue.schedule_at(time_point{}, [] {});
        nearer.reschedule_after(-1s);
    }).join();
    CHECK(woken == 1);  // it is going to look again anyway

    t.queue.poll();
    t.queue.schedule_after(1ms, [] {});
    CHECK(woken == 1);  // between a poll and the next question nobody sleeps
    CHECK(t.queue.next_deadline() == time_point(1ms));
    t.queue.schedule_after(500us, [] {});  // the same tick
    CHECK(woken == 1);
    t.queue.schedule_every(1ms, [] {}, {.first = 0s});
    CHECK(woken == 2);
}

TEST_CASE("on_earlier is called for a timer that is pulled forward and not for one that is pushed back",
          "[timer_queue][loop]") {
    int woken = 0;
    hand_turned t;  // after what its hook writes to: its end may wake the loop
    t.queue.on_earlier([&] { ++woken; });
    timer_handle a = t.queue.schedule_after(1h, [] {});
    timer_handle b = t.queue.schedule_after(2h, [] {});
    static_cast<void>(t.queue.next_deadline());
    CHECK(a.reschedule_after(3h));
    CHECK(b.reschedule_after(90min));
    CHECK(woken == 0);
    CHECK(b.reschedule_after(30min));
    CHECK(woken == 1);
    CHECK(t.queue.next_deadline() == time_point(30min));
}

TEST_CASE("on_earlier is called by stop if the loop sleeps", "[timer_queue][loop][stop]") {
    int woken = 0;
    hand_turned t;  // after what its hook writes to: its end may wake the loop
    t.queue.on_earlier([&] { ++woken; });
    t.queue.schedule_after(1h, [] {});
    static_cast<void>(t.queue.next_deadline());
    t.queue.stop();
    CHECK(woken == 1);
    t.queue.stop();
    CHECK(woken == 1);

    hand_turned empty;
    empty.queue.on_earlier([&] { ++woken; });
    CHECK_FALSE(empty.queue.next_deadline().has_value());
    empty.queue.stop();
    CHECK(woken == 2);
}

TEST_CASE("an on_earlier that throws is reported and harms nothing", "[timer_queue][loop]") {
    std::vector<reported> reports;
    hand_turned t({.on_error = report_to(reports)});
    t.queue.on_earlier([] { throw std::runtime_error("wake"); });
    static_cast<void>(t.queue.next_deadline());
    timer_handle h;
    CHECK_NOTHROW(h = t.queue.schedule_after(1ms, [] {}));
    CHECK(h.pending());
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].kind == sandglass::error_kind::hook_failed);
    CHECK(t.go(1ms) == 1);
}

TEST_CASE("a poll within a poll does nothing", "[timer_queue][loop]") {
    hand_turned t;
    std::size_t inner = 1;
    std::vector<int> order;
    t.queue.schedule_after(1ms, [&] {
        order.push_back(1);
        t.clock.advance(10ms);
        inner = t.queue.poll();
        order.push_back(2);
    });
    t.queue.schedule_after(1ms, [&] { order.push_back(3); });
    t.queue.schedule_after(5ms, [&] { order.push_back(4); });
    CHECK(t.go(1ms) == 2);
    CHECK(inner == 0);
    CHECK(t.queue.poll() == 1);
    CHECK(order == std::vector<int>{1, 2, 3, 4});
}

// S013
TEST_CASE("one poll catches up however late it comes", "[timer_queue][loop]") {
    hand_turned t({.slots = 8});
    int runs = 0;
    int series = 0;
    for (int i = 1; i <= 1000; ++i) t.queue.schedule_after(i * 1ms, [&] { ++runs; });
    t.queue.schedule_every(7ms, [&] { ++series; });
    CHECK(t.go(1002ms) == 1001);
    CHECK(runs == 1000);
    CHECK(series == 1);
    CHECK(t.queue.poll() == 0);
}

// S009
TEST_CASE("timers due after missed ticks fire in the order of their ticks with their true lateness",
          "[timer_queue][loop]") {
    hand_turned t;
    std::vector<nanoseconds> scheduled;
    int wrong = 0;
    for (int i = 30; i >= 1; --i) {
        t.queue.schedule_after(i * 1ms, [&](timer_context& c) {
            scheduled.push_back(c.scheduled());
            if (c.lateness() != 31ms - c.scheduled() || c.missed() != 0) ++wrong;
        });
    }
    CHECK(t.go(31ms) == 30);
    CHECK(scheduled.size() == 30);
    CHECK(std::is_sorted(scheduled.begin(), scheduled.end()));
    CHECK(wrong == 0);
    CHECK(t.queue.stats().worst_lateness == 30ms);
    CHECK(t.go(1s) == 0);
}

// S012
TEST_CASE("a series that throws and is cancelled while its last run waits in the executor leaves the books balanced",
          "[timer_queue][series]") {
    std::vector<reported> reports;
    hand_turned_with<keeper> t({}, {.on_error = report_to(reports)});
    tally captures;
    timer_handle h = t.queue.schedule_every(1ms, [p = probe<>(captures)] { throw std::runtime_error("run"); });
    t.go(1ms);
    t.executor.run_all();
    t.go(1ms);
    CHECK(t.executor.tasks.size() == 1);
    CHECK(h.cancel());
    CHECK(captures.live == 0);
    t.executor.run_all();
    t.go(1ms);
    const timer_stats s = t.queue.stats();
    CHECK(s.scheduled == 2);
    CHECK(s.fired == 1);
    CHECK(s.failed == 1);
    CHECK(s.cancelled == 1);
    CHECK(s.pending == 0);
    CHECK(s.unreclaimed == 0);
    CHECK(reports.size() == 1);
}

#if defined(__unix__)
TEST_CASE("a callback may destroy its queue", "[timer_queue][stop]") {
    for (const int kind : {0, 1, 2}) {
        manual_clock clock;
        using queue_type = sandglass::timer_queue<sandglass::inline_executor, std::reference_wrapper<manual_clock>>;
        tally captures;
        int later = 0;
        int seen = 0;
        int reports = 0;
        auto queue =
            std::make_unique<queue_type>(wheel_options{.on_error = [&](const sandglass::timer_error&) { ++reports; },
                                                       .slow_callback = 1ns,
                                                       .on_slow = [&](const sandglass::slow_event&) { ++reports; }},
                                         sandglass::inline_executor{}, std::ref(clock));
        const auto f = [&, p = probe<64>(captures), text = std::string(100, 'x')] {
            queue.reset();
            seen = static_cast<int>(text.size());
            clock.advance(1ms);
            throw std::runtime_error("and throws");
        };
        timer_handle h = kind == 0   ? queue->schedule_after(1ms, f)
                         : kind == 1 ? queue->schedule_every(1ms, f)
                                     : queue->schedule_after(1ms, [f](timer_context& c) {
                                           c.reschedule_after(1ms);
                                           f();
                                       });
        for (int i = 0; i < 100; ++i) queue->schedule_after(1ms, [&, p = probe<>(captures)] { ++later; });
        clock.advance(1ms);
        std::string printed;
        {
            captured_stderr captured;
            queue->poll();
            printed = captured.text();
        }
        CHECK(queue == nullptr);
        CHECK(seen == 100);
        // Whoever owned the queue may have owned what its hooks use: they are not called any more.
        CHECK(reports == 0);
        CHECK(printed.find("and throws") != std::string::npos);
        CHECK(later == 0);
        CHECK(captures.live == 1);  // f itself
        CHECK_FALSE(h.pending());
        CHECK_FALSE(h.cancel());
    }
}
#endif

TEST_CASE("captures may be the last owners of their queue", "[timer_queue][stop]") {
    manual_clock clock;
    using queue_type = sandglass::timer_queue<sandglass::inline_executor, std::reference_wrapper<manual_clock>>;
    for (const int end : {0, 1, 2, 3}) {
        tally captures;
        auto owner = std::make_shared<queue_type>(wheel_options{}, sandglass::inline_executor{}, std::ref(clock));
        queue_type* const queue = owner.get();
        const std::weak_ptr<queue_type> weak = owner;
        for (int i = 0; i < 100; ++i) queue->schedule_after(2ms, [p = probe<>(captures)] {});
        timer_handle h = queue->schedule_after(1ms, [owner, p = probe<>(captures)] {});
        for (int i = 0; i < 100; ++i) queue->schedule_after(2ms, [p = probe<64>(captures)] {});
        owner.reset();
        switch (end) {
        case 0:
            h.cancel();
            break;
        case 1:
            queue->stop();
            break;
        case 2:
            queue->stop([](sandglass::leftover_timer&&) {});
            break;
        default:
            clock.advance(1ms);
            queue->poll();
        }
        CAPTURE(end);
        CHECK(weak.expired());
        CHECK(captures.live == 0);
        CHECK_FALSE(h.pending());
    }
}

// C050, deterministic part
TEST_CASE("a callback may use everything of its queue", "[timer_queue]") {
    hand_turned t;
    timer_handle self;
    timer_handle other = t.queue.schedule_after(1h, [] {});
    int after = 0;
    int every = 0;
    bool answers = false;
    self = t.queue.schedule_every(1ms, [&] {
        t.queue.schedule_after(1ms, [&] { ++after; });
        t.queue.schedule_every(1ms, [&] { ++every; });
        const bool pending_before = other.pending() && self.pending();
        const bool cancelled = other.cancel() && self.cancel() && !self.pending();
        answers = pending_before && cancelled && t.queue.approx_pending() == 2 && balanced(t.queue.stats());
        static_cast<void>(t.queue.next_deadline());
    });
    t.go(1ms);
    CHECK(answers);
    t.go(1ms);
    t.go(1ms);
    CHECK(after == 1);
    CHECK(every == 2);
}

// ---- memory -----------------------------------------------------------------------------------------------------------

TEST_CASE("nothing is allocated in the steady state", "[timer_queue][memory]") {
    hand_turned t({.slots = 64, .max_pending = 1000});
    std::uint64_t runs = 0;
    std::uint64_t other = 0;
    const auto small = [&runs, &other] { runs += other == 0 ? 1 : 2; };
    static_assert(sizeof(small) == 16);
    std::array<timer_handle, 100> handles;
    std::mt19937 random(1);
    t.queue.schedule_every(3ms, small);
    t.queue.schedule_every(3ms, small, {.mode = sandglass::repeat::fixed_delay});
    t.queue.schedule_after(1ms, [&runs](timer_context& c) {
        ++runs;
        c.reschedule_after(1ms + std::chrono::microseconds(runs % 5000));
    });
    const auto work = [&] {
        for (int i = 0; i < 20'000; ++i) {
            timer_handle& h = handles[random() % handles.size()];
            switch (random() % 8) {
            case 0:
                h.cancel();
                break;
            case 1:
                h.reschedule_after(std::chrono::microseconds(random() % 200'000));
                break;
            case 2:
                h.cancel();
                h = t.queue.schedule_every(5ms, small);
                break;
            case 3:
                t.go(std::chrono::microseconds(random() % 3000));
                break;
            default:
                h.cancel();
                h = t.queue.schedule_after(std::chrono::microseconds(random() % 300'000), small);
            }
            static_cast<void>(t.queue.next_deadline());
            static_cast<void>(t.queue.stats());
        }
    };
    work();  // reaches the peak of live timers
    const std::uint64_t before = support::allocations();
    work();
    const std::uint64_t allocated = support::allocations() - before;
    CHECK(allocated == 0);
    CHECK(runs > 1000);
}

// C003, S010
TEST_CASE("memory is bounded by the peak of live timers however many are scheduled and cancelled",
          "[timer_queue][memory]") {
    hand_turned t;
    std::uint64_t sink = 0;
    timer_handle far = t.queue.schedule_after(1000h, [&] { ++sink; });
    tally captures;
    const auto pairs = [&](int count, bool poll) {
        for (int i = 0; i < count; ++i) {
            timer_handle h = i % 100 == 0 ? t.queue.schedule_after(1h, [p = probe<1024>(captures)] {})
                                          : t.queue.schedule_after(1h, [&] { ++sink; });
            h.cancel();
            if (poll && i % 1000 == 0) t.queue.poll();
        }
    };
    pairs(10'000, false);
    // One allocation is due for each of the large captures, and none for a timer, though nobody polls.
    const std::uint64_t before = support::allocations();
    pairs(1'000'000, false);
    const std::uint64_t allocated = support::allocations() - before;
    const std::uint64_t unreclaimed = t.queue.stats().unreclaimed;
    CHECK(allocated == (support::allocations_are_counted ? 10'000U : 0U));
    CHECK(unreclaimed < 1000);
    CHECK(captures.live == 0);
    const std::uint64_t again = support::allocations();
    pairs(100'000, true);
    const std::uint64_t allocated_polling = support::allocations() - again;
    CHECK(allocated_polling == (support::allocations_are_counted ? 1'000U : 0U));
    CHECK(t.queue.stats().pending == 1);
    CHECK(far.pending());
}

TEST_CASE("cancelled timers that stood in the wheel are reclaimed within two polls", "[timer_queue][memory]") {
    hand_turned t;
    std::vector<timer_handle> handles;
    for (int i = 0; i < 5000; ++i) handles.push_back(t.queue.schedule_after(1h + i * 1ms, [] {}));
    t.queue.poll();
    for (timer_handle& h : handles) h.cancel();
    t.go(1ms);
    t.go(1ms);
    CHECK(t.queue.stats().unreclaimed == 0);
    CHECK(t.queue.approx_pending() == 0);
}

// ---- edges of 64-bit time ---------------------------------------------------------------------------------------------

// C027
TEST_CASE("nothing breaks where the clock crosses an edge", "[timer_queue][edges]") {
    const std::array<nanoseconds, 12> starts{-1ms,
                                             -1h - 1ns,
                                             nanoseconds((std::numeric_limits<std::int32_t>::max)()) - 5ms,
                                             nanoseconds(std::numeric_limits<std::uint32_t>::max()) - 5ms,
                                             std::chrono::milliseconds(2'147'483'648LL) - 5ms,
                                             std::chrono::milliseconds(4'294'967'296LL) - 5ms,
                                             std::chrono::seconds(2'147'483'648LL) - 5ms,
                                             std::chrono::seconds(4'294'967'296LL) - 5ms,
                                             std::chrono::hours(-24 * 365 * 290LL),
                                             (nanoseconds::min)() + 1h,
                                             (nanoseconds::max)() - 1h,
                                             std::chrono::hours(24 * 365 * 200LL)};
    for (const nanoseconds start : starts) {
        for (const nanoseconds tick : {nanoseconds(1ms), nanoseconds(1us)}) {
            hand_turned t({.tick = tick, .slots = 256}, time_point(start));
            std::vector<nanoseconds> at;
            int series = 0;
            int wrong = 0;
            t.queue.schedule_every(1ms, [&](timer_context& c) {
                ++series;
                if (c.scheduled() != start + series * 1ms || t.now() != c.scheduled() || c.missed() != 0) ++wrong;
            });
            const auto note = [&] { at.push_back(t.now() - start); };
            t.queue.schedule_after(3ms, note);
            t.queue.schedule_after(7ms, note);
            t.queue.schedule_after(30ms, note);
            t.queue.schedule_at(time_point(start + 10ms), note);
            timer_handle moved = t.queue.schedule_after(2ms, note);
            moved.reschedule_after(20ms);
            for (int i = 0; i < 40; ++i) t.go(1ms);
            CAPTURE(start.count(), tick.count());
            CHECK(series == 40);
            CHECK(wrong == 0);
            CHECK(at == std::vector<nanoseconds>{3ms, 7ms, 10ms, 20ms, 30ms});
        }
    }
}

TEST_CASE("a clock that starts at the smallest time point reaches every deadline", "[timer_queue][edges]") {
    hand_turned t({}, (time_point::min)());
    std::vector<int> fired;
    t.queue.schedule_after(1h, [&] { fired.push_back(1); });
    t.queue.schedule_at(time_point(0s), [&] { fired.push_back(2); });
    t.queue.schedule_at(time_point(1h), [&] { fired.push_back(3); });
    timer_handle never = t.queue.schedule_at((time_point::max)(), [&] { fired.push_back(4); });
    CHECK(t.go(1h) == 1);
    t.clock.set(time_point(-1ns));
    CHECK(t.queue.poll() == 0);
    t.clock.set(time_point(1ms));  // no tick begins at 0 s exactly
    CHECK(t.queue.poll() == 1);
    t.clock.set(time_point(1h - 1ns));
    CHECK(t.queue.poll() == 0);
    t.clock.set(time_point(1h + 1ms));
    CHECK(t.queue.poll() == 1);
    t.clock.set((time_point::max)() - 1ns);
    CHECK(t.queue.poll() == 0);
    CHECK(never.pending());
    CHECK(fired == std::vector<int>{1, 2, 3});
}

TEST_CASE("a jump of two hundred years fires everything once and in order", "[timer_queue][edges]") {
    hand_turned t({.slots = 32});
    std::vector<nanoseconds> scheduled;
    std::uint64_t missed = 0;
    for (int i = 0; i < 100; ++i) {
        t.queue.schedule_after(24h * 700 * ((i * 37) % 100) + 1ms,
                               [&](timer_context& c) { scheduled.push_back(c.scheduled()); });
    }
    t.queue.schedule_every(1s, [&](timer_context& c) { missed += c.missed(); });
    CHECK(t.go(24h * 365 * 200) == 101);
    CHECK(scheduled.size() == 100);
    CHECK(std::is_sorted(scheduled.begin(), scheduled.end()));
    CHECK(missed == 365ULL * 200 * 86'400 - 2);  // the last one is just due
    CHECK(t.queue.poll() == 1);
    CHECK(t.queue.poll() == 0);
}

// ---- random operations against a model --------------------------------------------------------------------------------

namespace {

// What a timer_queue should do, in the plainest terms: a multimap from due tick to timer.
class model {
  public:
    model(nanoseconds start, nanoseconds tick) : start_(start), tick_(tick) {}

    [[nodiscard]] std::int64_t due(nanoseconds deadline) const {
        const std::int64_t since = (deadline - start_).count();
        const std::int64_t quotient = since / tick_.count();
        return since % tick_.count() > 0 ? quotient + 1 : quotient;
    }
    void add(int id, nanoseconds deadline) { timers_[id] = timers_by_tick_.emplace(due(deadline), id); }
    bool remove(int id) {
        const auto found = timers_.find(id);
        if (found == timers_.end()) return false;
        timers_by_tick_.erase(found->second);
        timers_.erase(found);
        return true;
    }
    bool move(int id, nanoseconds deadline) {
        if (!remove(id)) return false;
        add(id, deadline);
        return true;
    }
    [[nodiscard]] bool has(int id) const { return timers_.count(id) != 0; }
    [[nodiscard]] std::size_t size() const { return timers_.size(); }
    // Everything that is due at `now`, as (tick, id), sorted.
    std::vector<std::pair<std::int64_t, int>> advance(nanoseconds now) {
        std::vector<std::pair<std::int64_t, int>> fired;
        const std::int64_t tick = (now - start_).count() / tick_.count();
        while (!timers_by_tick_.empty() && timers_by_tick_.begin()->first <= tick) {
            const auto [at, id] = *timers_by_tick_.begin();
            fired.emplace_back((std::max)(at, passed_), id);
            remove(id);
        }
        passed_ = tick + 1;  // what is overdue later has no order of its own
        std::sort(fired.begin(), fired.end());
        return fired;
    }

  private:
    nanoseconds start_;
    nanoseconds tick_;
    std::int64_t passed_ = 0;
    std::multimap<std::int64_t, int> timers_by_tick_;
    std::map<int, std::multimap<std::int64_t, int>::iterator> timers_;
};

}  // namespace

// C077, D part
TEST_CASE("random operations agree with a plain model", "[timer_queue][model]") {
    std::uint64_t seed = std::random_device{}();
    if (const char* fixed = std::getenv("SANDGLASS_SEED")) seed = std::strtoull(fixed, nullptr, 10);
    INFO("SANDGLASS_SEED=" << seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    for (int round = 0; round < 40; ++round) {
        const nanoseconds tick = std::array<nanoseconds, 4>{1ms, 1us, 10ms, 1500us}[below(4)];
        const std::size_t slots = std::array<std::size_t, 5>{1, 4, 16, 256, 8192}[below(5)];
        const nanoseconds start(static_cast<std::int64_t>(below(1'000'000'000)));
        CAPTURE(round, tick.count(), slots, start.count());
        hand_turned t({.tick = tick, .slots = slots}, time_point(start));
        model expected(start, tick);
        tally captures;
        std::vector<timer_handle> handles;
        std::vector<std::int64_t> due;
        std::vector<int> fired;
        int wrong_answers = 0;
        const auto delay = [&] {
            const std::uint64_t scale = std::array<std::uint64_t, 4>{3, 40, 2000, 300'000}[below(4)];
            const auto ns = static_cast<std::int64_t>(below(scale * static_cast<std::uint64_t>(tick.count())));
            return nanoseconds(below(16) == 0 ? -ns : ns);
        };
        const auto random_handle = [&] { return static_cast<std::size_t>(below(handles.size())); };
        for (int op = 0; op < 1500; ++op) {
            const std::uint64_t what = handles.empty() ? 0 : below(16);
            if (what < 7) {
                const int id = static_cast<int>(handles.size());
                const nanoseconds d = delay();
                const bool paced = below(4) == 0;
                handles.push_back(paced ? t.queue.schedule_after(d, [&fired, id, p = probe<64>(captures)](
                                                                        timer_context&) { fired.push_back(id); })
                                        : t.queue.schedule_after(d, [&fired, id] { fired.push_back(id); }));
                expected.add(id, t.now() + d);
                due.push_back(0);
            } else if (what < 10) {
                const std::size_t i = random_handle();
                if (handles[i].cancel() != expected.remove(static_cast<int>(i))) ++wrong_answers;
            } else if (what < 13) {
                const std::size_t i = random_handle();
                const nanoseconds d = delay();
                if (handles[i].reschedule_after(d) != expected.move(static_cast<int>(i), t.now() + d)) ++wrong_answers;
            } else if (what < 14) {
                const std::size_t i = random_handle();
                if (handles[i].pending() != expected.has(static_cast<int>(i))) ++wrong_answers;
            } else {
                t.clock.advance(below(4) == 0 ? tick * static_cast<std::int64_t>(below(5000)) : tick * 2 / 3);
                const auto should = expected.advance(t.now());
                fired.clear();
                const std::size_t count = t.queue.poll();
                if (count != should.size() || fired.size() != should.size()) ++wrong_answers;
                // The same timers, tick by tick; which comes first within a tick depends on when it was moved there.
                std::map<int, std::int64_t> tick_of;
                for (const auto& [at, id] : should) tick_of[id] = at;
                std::int64_t last = (std::numeric_limits<std::int64_t>::min)();
                for (const int id : fired) {
                    const auto found = tick_of.find(id);
                    if (found == tick_of.end() || found->second < last) {
                        ++wrong_answers;
                    } else {
                        last = found->second;
                        tick_of.erase(found);
                    }
                }
            }
            const timer_stats s = t.queue.stats();
            if (s.pending != expected.size() || !balanced(s)) ++wrong_answers;
        }
        CHECK(wrong_answers == 0);
        const std::size_t left = expected.size();
        CHECK(t.queue.stop() == left);
        CHECK(captures.live == 0);
        CHECK(t.queue.stats().unreclaimed == 0);
    }
}
