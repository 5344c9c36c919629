#include <sandglass/timer_queue.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <support/catch.hpp>
#include <support/hand_turned.hpp>

// The far ends of every range: ticks, slots, counts, and distances that do not fit into 31 or 32 bits.

namespace {

using namespace std::chrono_literals;
using sandglass::manual_clock;
using sandglass::timer_handle;
using sandglass::wheel_options;
using std::chrono::nanoseconds;
using time_point = manual_clock::time_point;

using support::hand_turned;

}  // namespace

TEST_CASE("the shortest tick of one nanosecond reaches from 1 ns to 290 years", "[limits]") {
    hand_turned t({.tick = 1ns, .slots = 64});
    std::vector<nanoseconds> at;
    const auto note = [&] { at.push_back(t.now()); };
    constexpr nanoseconds far = 24h * 365 * 290;
    t.queue.schedule_after(1ns, note);
    t.queue.schedule_after(1s, note);
    t.queue.schedule_after(far, note);
    t.queue.schedule_after(far - 1ns, note);
    CHECK(t.go_to(1ns) == 1);
    CHECK(t.go_to(1s - 1ns) == 0);
    CHECK(t.go_to(1s) == 1);
    CHECK(t.go_to(far - 2ns) == 0);
    CHECK(t.go_to(far - 1ns) == 1);
    CHECK(t.go_to(far) == 1);
    CHECK(at == std::vector<nanoseconds>{1ns, 1s, far - 1ns, far});
}

TEST_CASE("the longest tick of a day rounds everything up to days", "[limits]") {
    hand_turned t({.tick = 24h, .slots = 4});
    std::vector<nanoseconds> at;
    const auto note = [&] { at.push_back(t.now()); };
    t.queue.schedule_after(1ns, note);
    t.queue.schedule_after(24h, note);
    t.queue.schedule_after(24h + 1ns, note);
    t.queue.schedule_after(24h * 365 * 250, note);
    timer_handle series = t.queue.schedule_every(36h, note);
    CHECK(t.go(24h - 1ns) == 0);
    CHECK(t.go(1ns) == 2);
    CHECK(t.go(24h) == 2);
    CHECK(series.remaining() == 24h);  // at 72 h
    CHECK(series.cancel());
    CHECK(t.go_to(24h * 365 * 250 - 1ns) == 0);
    CHECK(t.go_to(24h * 365 * 250) == 1);
    CHECK(at == std::vector<nanoseconds>{24h, 24h, 48h, 48h, 24h * 365 * 250});
}

TEST_CASE("ticks and slots beyond their ranges are invalid arguments", "[limits]") {
    CHECK_THROWS_AS(hand_turned({.tick = 0ns}), std::invalid_argument);
    CHECK_THROWS_AS(hand_turned({.tick = -1ns}), std::invalid_argument);
    CHECK_THROWS_AS(hand_turned({.tick = 24h + 1ns}), std::invalid_argument);
    CHECK_THROWS_AS(hand_turned({.tick = (nanoseconds::max)()}), std::invalid_argument);
    CHECK_THROWS_AS(hand_turned({.slots = 0}), std::invalid_argument);
    CHECK_THROWS_AS(hand_turned({.slots = (std::size_t{1} << 24) + 1}), std::invalid_argument);
    CHECK_THROWS_AS(hand_turned({.slots = (std::numeric_limits<std::size_t>::max)()}), std::invalid_argument);
}

TEST_CASE("one slot and the most slots hold the same timers", "[limits]") {
    for (const std::size_t slots : {std::size_t{1}, std::size_t{1} << 24}) {
        CAPTURE(slots);
        hand_turned t({.slots = slots});
        std::vector<nanoseconds> at;
        const auto note = [&] { at.push_back(t.now()); };
        std::vector<nanoseconds> expected;
        for (const std::int64_t tick : {1LL, 2LL, 1000LL, (1LL << 24) - 1, 1LL << 24, (1LL << 24) + 1, 1LL << 33}) {
            t.queue.schedule_after(tick * 1ms, note);
            expected.push_back(tick * 1ms);
        }
        for (const nanoseconds when : expected) {
            t.go_to(when - 1ns);
            t.go_to(when);
        }
        CHECK(at == expected);
        CHECK(t.queue.stats().turn == static_cast<std::int64_t>(slots) * 1ms);
    }
}

TEST_CASE("a hundred thousand timers in one tick fire once each in the order in which they were scheduled",
          "[limits]") {
    hand_turned t({.slots = 64});
    constexpr std::uint32_t count = 100'000;
    std::vector<std::uint32_t> order;
    order.reserve(count);
    std::vector<timer_handle> handles;
    handles.reserve(count);
    int followers = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        handles.push_back(t.queue.schedule_after(5ms, [&order, i] { order.push_back(i); }));
    }
    for (int i = 0; i < 100; ++i) t.queue.schedule_after(6ms + i * 1ms / 10, [&] { ++followers; });
    for (std::uint32_t i = 0; i < count; i += 10) handles[i].cancel();
    CHECK(t.go(4ms) == 0);
    CHECK(t.go(1ms) == count - count / 10);
    CHECK(order.size() == count - count / 10);
    CHECK(std::is_sorted(order.begin(), order.end()));
    CHECK(std::adjacent_find(order.begin(), order.end()) == order.end());
    CHECK(t.go(11ms) == 100);
    CHECK(followers == 100);
    CHECK(t.queue.stats().unreclaimed == 0);
}

TEST_CASE("deadlines more than 2^31 and 2^32 ticks away fire on their tick", "[limits][far]") {
    constexpr nanoseconds tick = 1us;
    for (const std::int64_t start_tick : {0LL, (1LL << 31) - 3, (1LL << 32) - 3, (1LL << 33) + 7}) {
        hand_turned t({.tick = tick, .slots = 256});
        t.go_to(start_tick * tick);
        std::vector<nanoseconds> expected;
        std::vector<nanoseconds> at;
        for (const std::int64_t edge : {1LL << 30, 1LL << 31, 1LL << 32, 1LL << 33, 1LL << 40, 1LL << 52}) {
            for (const std::int64_t off : {-1LL, 0LL, 1LL}) {
                t.queue.schedule_after((edge + off) * tick, [&] { at.push_back(t.now()); });
                expected.push_back((start_tick + edge + off) * tick);
            }
        }
        for (const nanoseconds when : expected) {
            t.go_to(when - 1ns);
            t.go_to(when);
        }
        CAPTURE(start_tick);
        CHECK(at == expected);
    }
}

TEST_CASE("timers pushed back and pulled forward across 2^31 and 2^32 ticks fire on their last tick", "[limits][far]") {
    constexpr nanoseconds tick = 1us;
    const std::array<std::int64_t, 14> distances{1,
                                                 200,
                                                 300,
                                                 (1LL << 31) - 2,
                                                 (1LL << 31) - 1,
                                                 1LL << 31,
                                                 (1LL << 31) + 1,
                                                 (1LL << 32) - 1,
                                                 1LL << 32,
                                                 (1LL << 32) + 1,
                                                 (1LL << 32) + 300,
                                                 (3LL << 31) + 5,
                                                 1LL << 33,
                                                 1LL << 45};
    int wrong = 0;
    int cases = 0;
    for (const std::int64_t first : distances) {
        for (const std::int64_t second : distances) {
            for (const std::int64_t third : {std::int64_t{250}, second + 1, second - 1}) {
                for (const std::int64_t elapsed : {0LL, 100LL}) {
                    hand_turned t({.tick = tick, .slots = 256});
                    int runs = 0;
                    timer_handle h = t.queue.schedule_after(first * tick, [&] { ++runs; });
                    t.queue.poll();  // it stands in the wheel
                    if (elapsed > first) continue;
                    if (!h.reschedule_after(second * tick)) ++wrong;
                    if (elapsed > 0) t.go(elapsed * tick);
                    if (runs != 0) continue;  // was due already
                    if (!h.reschedule_after(third * tick)) ++wrong;
                    const nanoseconds due = t.now() + (std::max)(third, std::int64_t{0}) * tick;
                    if (due > t.now()) t.go_to(due - 1ns);
                    if (runs != 0) ++wrong;
                    t.go_to(due);
                    if (runs != 1) ++wrong;
                    t.go(48h * 365);
                    if (runs != 1) ++wrong;
                    ++cases;
                }
            }
        }
    }
    CHECK(wrong == 0);
    CHECK(cases > 500);
}

TEST_CASE("far timers moved at random while the cursor crosses 2^32 ticks fire on their last tick", "[limits][far]") {
    const std::uint64_t seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    constexpr nanoseconds tick = 1us;
    constexpr std::size_t count = 200;
    hand_turned t({.tick = tick, .slots = 64});
    t.go_to(((1LL << 32) - 2'000) * tick);
    std::vector<nanoseconds> due(count);
    std::vector<timer_handle> handles(count);
    int wrong = 0;
    std::size_t left = count;
    // Powers of two of every size, and something beside them.
    const auto delay = [&] {
        const std::uint64_t high = std::uint64_t{1} << random() % 36;
        return static_cast<std::int64_t>(high + random() % 5) * tick;
    };
    for (std::size_t i = 0; i < count; ++i) {
        due[i] = t.now() + delay();
        handles[i] = t.queue.schedule_after(due[i] - t.now(), [&, i] {
            if (t.now() < due[i]) ++wrong;                      // early
            if (t.now() - due[i] > 0ns && i % 2 == 0) ++wrong;  // these are followed exactly
            --left;
        });
    }
    for (int step = 0; step < 20'000 && left != 0; ++step) {
        const std::size_t i = random() % count;
        if (random() % 8 == 0 && step < 15'000) {
            const nanoseconds d = delay();
            if (handles[i].reschedule_after(d)) due[i] = t.now() + d;
        }
        // Never past the next deadline, so that each fires on its very tick.
        const auto next = t.queue.next_deadline();
        if (!next) break;
        const nanoseconds gap = next->time_since_epoch() - t.now();
        t.go(random() % 4 == 0 ? gap : (std::min)(gap, nanoseconds(static_cast<std::int64_t>(random() % 3000) * tick)));
    }
    CHECK(left == 0);
    CHECK(wrong == 0);
}

TEST_CASE("deadlines at the last nanoseconds of the clock fire and the last one of all is never", "[limits]") {
    constexpr nanoseconds end = (nanoseconds::max)();
    for (const nanoseconds tick : {1ns, nanoseconds(1ms), nanoseconds(24h)}) {
        hand_turned t({.tick = tick, .slots = 16}, time_point(end - 100h));
        std::vector<nanoseconds> at;
        const auto note = [&] { at.push_back(t.now()); };
        timer_handle at_the_end = t.queue.schedule_at(time_point(end), note);
        t.queue.schedule_at(time_point(end - 30h), note);
        t.queue.schedule_after(50h, note);
        t.go_to(end - 26h);
        CAPTURE(tick.count());
        CHECK(at.size() == 2);
        CHECK(at_the_end.remaining() == end);
        t.go_to(end - 1ns);
        CHECK(at.size() == 2);
        CHECK(at_the_end.pending());
        CHECK(at_the_end.cancel());
    }
}

TEST_CASE("periods at the ends of their range are kept", "[limits]") {
    hand_turned t({.tick = 1ms});
    int shortest = 0;
    std::uint64_t missed = 0;
    int longest = 0;
    timer_handle fast = t.queue.schedule_every(1ns, [&](sandglass::timer_context& c) {
        ++shortest;
        missed += c.missed();
    });
    t.queue.schedule_every((nanoseconds::max)() - 1ns, [&] { ++longest; }, {.first = 0s});
    t.queue.schedule_every((nanoseconds::max)() - 1ns, [&] { ++longest; },
                           {.first = 0s, .mode = sandglass::repeat::fixed_delay});
    for (int i = 0; i < 10; ++i) t.go(1ms);
    CHECK(shortest == 10);  // once a tick
    CHECK(missed >= 9'000'000);
    CHECK(missed <= 10'000'000);
    CHECK(longest == 2);
    CHECK(fast.cancel());
    CHECK(t.go(24h * 365 * 200) == 0);
}

TEST_CASE("a limit of one and a limit beyond all memory are limits like any other", "[limits]") {
    hand_turned one({.max_pending = 1});
    timer_handle h = one.queue.schedule_after(1ms, [] {});
    CHECK_FALSE(one.queue.try_schedule_after(1ms, [] {}));
    CHECK(h.cancel());
    CHECK(one.queue.try_schedule_after(1ms, [] {}));
    hand_turned endless({.max_pending = (std::numeric_limits<std::size_t>::max)()});
    for (int i = 0; i < 1000; ++i) endless.queue.schedule_after(1ms, [] {});
    CHECK(endless.go(1ms) == 1000);
}

TEST_CASE("many queues live at the same time and their memory is used again", "[limits]") {
    for (int round = 0; round < 3; ++round) {
        std::vector<std::unique_ptr<hand_turned>> queues;
        int runs = 0;
        for (int i = 0; i < 50; ++i) {
            queues.push_back(std::make_unique<hand_turned>(wheel_options{.slots = 16}));
            for (int k = 0; k < 10; ++k) queues.back()->queue.schedule_after(k * 1ms, [&] { ++runs; });
        }
        for (auto& q : queues) q->go(5ms);
        CHECK(runs == 50 * 6);
    }
}
