#include <sandglass/detail/ticks.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>
#include <stdexcept>
#include <string>
#include <vector>

#include <support/catch.hpp>

namespace {

using namespace sandglass::detail;
using namespace std::chrono_literals;
using std::chrono::duration;

template <class Duration>
nanos up(const Duration& d) {
    return to_nanos<rounding::up>(d);
}
template <class Duration>
nanos down(const Duration& d) {
    return to_nanos<rounding::down>(d);
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// ---- saturating arithmetic --------------------------------------------------------------------------------------------

TEST_CASE("sums, differences and products stop at the ends of the range", "[ticks]") {
    CHECK(add_saturating(3, 4) == 7);
    CHECK(add_saturating(never, 0) == never);
    CHECK(add_saturating(never, 1) == never);
    CHECK(add_saturating(never - 1, 1) == never);
    CHECK(add_saturating(never, never) == never);
    CHECK(add_saturating(long_ago, -1) == long_ago);
    CHECK(add_saturating(long_ago, long_ago) == long_ago);
    CHECK(add_saturating(never, long_ago) == -1);

    CHECK(subtract_saturating(3, 4) == -1);
    CHECK(subtract_saturating(never, -1) == never);
    CHECK(subtract_saturating(0, long_ago) == never);
    CHECK(subtract_saturating(-1, long_ago) == never);
    CHECK(subtract_saturating(-2, long_ago) == never - 1);
    CHECK(subtract_saturating(long_ago, 1) == long_ago);
    CHECK(subtract_saturating(long_ago, never) == long_ago);
    CHECK(subtract_saturating(-2, never) == long_ago);
    CHECK(subtract_saturating(long_ago, long_ago) == 0);

    CHECK(multiply_saturating(-3, 4) == -12);
    CHECK(multiply_saturating(never / 10 + 1, 10) == never);
    CHECK(multiply_saturating(never / 10, 10) == never / 10 * 10);
    CHECK(multiply_saturating(long_ago / 10 - 1, 10) == long_ago);
    CHECK(multiply_saturating(long_ago, never) == long_ago);
    CHECK(multiply_saturating(long_ago, 1) == long_ago);
}

TEST_CASE("a division rounds to the chosen side, below zero too", "[ticks]") {
    for (nanos value = -25; value <= 25; ++value) {
        for (nanos divisor = 1; divisor <= 7; ++divisor) {
            const nanos floor = divide<rounding::down>(value, divisor);
            const nanos ceil = divide<rounding::up>(value, divisor);
            REQUIRE(floor * divisor <= value);
            REQUIRE((floor + 1) * divisor > value);
            REQUIRE(ceil * divisor >= value);
            REQUIRE((ceil - 1) * divisor < value);
        }
    }
    CHECK(divide<rounding::up>(never, 1) == never);
    CHECK(divide<rounding::down>(long_ago, 1) == long_ago);
    CHECK(divide<rounding::up>(never, 2) == never / 2 + 1);
    CHECK(divide<rounding::down>(long_ago, 3) == long_ago / 3 - 1);
}

// ---- durations of whole numbers ---------------------------------------------------------------------------------------

TEST_CASE("the standard durations are converted exactly", "[ticks]") {
    CHECK(up(0ns) == 0);
    CHECK(up(7ns) == 7);
    CHECK(up(7us) == 7'000);
    CHECK(up(7ms) == 7'000'000);
    CHECK(up(7s) == 7'000'000'000);
    CHECK(up(7min) == 420'000'000'000);
    CHECK(up(7h) == 25'200'000'000'000);
    CHECK(up(std::chrono::days(7)) == 604'800'000'000'000);
    CHECK(up(std::chrono::weeks(7)) == 4'233'600'000'000'000);
    CHECK(up(std::chrono::months(7)) == 7 * 2'629'746'000'000'000);
    CHECK(up(std::chrono::years(7)) == 7 * 31'556'952'000'000'000);
    CHECK(up(-7ms) == -7'000'000);
    CHECK(down(7h) == up(7h));
    CHECK(down(-7h) == up(-7h));
}

TEST_CASE("the largest value of a duration is never, whatever its unit", "[ticks]") {  // C006
    CHECK(up((std::chrono::nanoseconds::max)()) == never);
    CHECK(up((std::chrono::microseconds::max)()) == never);
    CHECK(up((std::chrono::milliseconds::max)()) == never);
    CHECK(up((std::chrono::seconds::max)()) == never);
    CHECK(up((std::chrono::minutes::max)()) == never);
    CHECK(up((std::chrono::hours::max)()) == never);
    CHECK(up((std::chrono::days::max)()) == never);
    CHECK(up((std::chrono::weeks::max)()) == never);
    CHECK(up((std::chrono::months::max)()) == never);
    CHECK(up((std::chrono::years::max)()) == never);
    CHECK(up((duration<std::int64_t, std::pico>::max)()) == never);
    CHECK(up((duration<std::int8_t>::max)()) == never);
    CHECK(up((duration<std::uint64_t, std::nano>::max)()) == never);
    CHECK(up((duration<float>::max)()) == never);
    CHECK(up((duration<double, std::nano>::max)()) == never);
    CHECK(up((duration<long double>::max)()) == never);
}

TEST_CASE("what does not fit into nanoseconds stops at the ends of the range", "[ticks]") {  // C006
    CHECK(up(std::chrono::years(400)) == never);
    CHECK(up(std::chrono::years(-400)) == long_ago);
    CHECK(down(std::chrono::years(400)) == never);
    CHECK(up((std::chrono::hours::min)()) == long_ago);
    CHECK(up((std::chrono::nanoseconds::min)()) == long_ago);
    CHECK(up((std::chrono::hours::max)() - 1h) == never);
    CHECK(up(std::chrono::seconds(9'223'372'036)) == 9'223'372'036'000'000'000);
    CHECK(up(std::chrono::seconds(9'223'372'037)) == never);
    CHECK(up(std::chrono::seconds(-9'223'372'036)) == -9'223'372'036'000'000'000);
    CHECK(up(std::chrono::seconds(-9'223'372'037)) == long_ago);
    CHECK(up((std::chrono::nanoseconds::max)() - 1ns) == never - 1);
}

TEST_CASE("counts of any integer type are taken", "[ticks]") {
    CHECK(up(duration<std::int8_t>(-128)) == -128'000'000'000);
    CHECK(up(duration<std::int8_t>(126)) == 126'000'000'000);
    CHECK(up(duration<std::uint8_t, std::milli>(254)) == 254'000'000);
    CHECK(up(duration<std::int16_t, std::micro>(-5)) == -5'000);
    CHECK(up(duration<std::int32_t>(2'000'000'000)) == 2'000'000'000'000'000'000);
    CHECK(up(duration<std::uint32_t>(4'000'000'000)) == 4'000'000'000'000'000'000);
    CHECK(up(duration<std::uint64_t, std::nano>(std::uint64_t{1} << 62)) == nanos{1} << 62);
    CHECK(up(duration<std::uint64_t, std::nano>(std::uint64_t{1} << 63)) == never);
    CHECK(up(duration<std::uint64_t>(std::uint64_t{1} << 63)) == never);
    CHECK(up(duration<long long>(3)) == 3'000'000'000);
    CHECK(up(duration<unsigned long long, std::milli>(3)) == 3'000'000);
}

TEST_CASE("a unit finer than a nanosecond is rounded to the chosen side", "[ticks]") {
    using picoseconds = duration<std::int64_t, std::pico>;
    using femtoseconds = duration<std::int64_t, std::femto>;
    CHECK(up(picoseconds(1)) == 1);
    CHECK(down(picoseconds(1)) == 0);
    CHECK(up(picoseconds(-1)) == 0);
    CHECK(down(picoseconds(-1)) == -1);
    CHECK(up(picoseconds(2000)) == 2);
    CHECK(down(picoseconds(2000)) == 2);
    CHECK(up(picoseconds(2001)) == 3);
    CHECK(down(picoseconds(-2001)) == -3);
    CHECK(up(femtoseconds(1'000'001)) == 2);
    CHECK(up((picoseconds::min)()) == -9'223'372'036'854'775);
}

TEST_CASE("a count of 64 bits without a sign in a fine unit is not cut short", "[ticks]") {
    CHECK(up(duration<std::uint64_t, std::pico>(10'000'000'000'000'000'000U)) == 10'000'000'000'000'000);
    CHECK(up(duration<std::uint64_t, std::pico>(10'000'000'000'000'000'001U)) == 10'000'000'000'000'001);
    CHECK(up(duration<std::uint64_t, std::ratio<1, 3>>(12'000'000'000'000'000'000U)) == never);
    CHECK(up(duration<std::uint64_t, std::ratio<1, 3'000'000'000>>(12'000'000'000'000'000'000U)) ==
          4'000'000'000'000'000'000);
}

TEST_CASE("units that are no multiple of a nanosecond are rounded to the chosen side", "[ticks]") {
    using frames = duration<std::int64_t, std::ratio<1001, 30000>>;  // of NTSC television: 33,366,666 2/3 ns
    CHECK(up(frames(0)) == 0);
    CHECK(up(frames(1)) == 33'366'667);
    CHECK(down(frames(1)) == 33'366'666);
    CHECK(up(frames(-1)) == -33'366'666);
    CHECK(down(frames(-1)) == -33'366'667);
    CHECK(up(frames(3)) == 100'100'000);
    CHECK(down(frames(3)) == 100'100'000);
    CHECK(up(frames(30'000'000'000)) == 1'001'000'000'000'000'000);
    CHECK(up(frames(276'424'736'369)) == 9'223'372'036'845'633'334);
    CHECK(up(frames(276'424'736'370)) == never);
    CHECK(up(frames(-276'424'736'370)) == long_ago);

    using thirds = duration<int, std::ratio<1, 3>>;
    CHECK(up(thirds(1)) == 333'333'334);
    CHECK(down(thirds(1)) == 333'333'333);
    CHECK(up(thirds(-1)) == -333'333'333);
    CHECK(up(thirds(7)) == 2'333'333'334);

    // The factor needs more than 31 bits.
    using weeks_by_seven = duration<std::int64_t, std::ratio<604'800, 11>>;
    CHECK(up(weeks_by_seven(1)) == 54'981'818'181'819);
    CHECK(down(weeks_by_seven(1)) == 54'981'818'181'818);
    CHECK(up(weeks_by_seven(11)) == 604'800'000'000'000);
    CHECK(up(weeks_by_seven(1'000'000'000'000)) == never);
}

TEST_CASE("rounding up is never below the duration, rounding down never above", "[ticks]") {
    using odd = duration<std::int64_t, std::ratio<7, 11'000'000'000>>;  // 7/11 ns
    for (std::int64_t count = -200; count <= 200; ++count) {
        const odd d(count);
        REQUIRE(std::chrono::nanoseconds(up(d)) >= d);
        REQUIRE(std::chrono::nanoseconds(up(d) - 1) < d);
        REQUIRE(std::chrono::nanoseconds(down(d)) <= d);
        REQUIRE(std::chrono::nanoseconds(down(d) + 1) > d);
    }
}

// ---- durations of real numbers ----------------------------------------------------------------------------------------

TEST_CASE("half a second is 500,000,000 ns and nothing else", "[ticks]") {
    CHECK(up(duration<double>(0.5)) == 500'000'000);
    CHECK(down(duration<double>(0.5)) == 500'000'000);
    CHECK(up(duration<float>(0.5F)) == 500'000'000);
    CHECK(up(duration<double, std::milli>(500)) == 500'000'000);
    CHECK(up(duration<long double>(0.5L)) == 500'000'000);
    CHECK(up(duration<double>(-0.5)) == -500'000'000);
    CHECK(down(duration<double>(-0.5)) == -500'000'000);
    CHECK(up(duration<double, std::ratio<3600>>(0.25)) == 900'000'000'000);
    CHECK(up(duration<double>(3)) == 3'000'000'000);
    CHECK(up(duration<double>(0)) == 0);
    CHECK(up(duration<double>(-0.0)) == 0);
}

TEST_CASE("a fraction of a nanosecond is rounded to the chosen side", "[ticks]") {
    CHECK(up(duration<double, std::nano>(1.25)) == 2);
    CHECK(down(duration<double, std::nano>(1.25)) == 1);
    CHECK(up(duration<double, std::nano>(-1.25)) == -1);
    CHECK(down(duration<double, std::nano>(-1.25)) == -2);
    CHECK(up(duration<double>(1e-30)) == 1);
    CHECK(down(duration<double>(1e-30)) == 0);
    CHECK(up(duration<double>(-1e-30)) == 0);
    CHECK(down(duration<double>(-1e-30)) == -1);
    CHECK(up(duration<double, std::femto>(std::numeric_limits<double>::denorm_min())) == 1);
}

TEST_CASE("a real number that no nanosecond meets is rounded to the chosen side, however close it is", "[ticks]") {
    // The double that is called 0.1 is 0.1000000000000000055..., that of 0.3 is 0.2999999999999999888...
    CHECK(up(duration<double>(0.1)) == 100'000'001);
    CHECK(down(duration<double>(0.1)) == 100'000'000);
    CHECK(up(duration<double>(0.3)) == 300'000'000);
    CHECK(up(duration<double>(-0.1)) == -100'000'000);
    CHECK(down(duration<double>(-0.1)) == -100'000'001);
    CHECK(down(duration<double>(-0.3)) == -300'000'000);
    CHECK(up(duration<float>(0.1F)) == 100'000'002);  // 0.100000001490...
    CHECK(down(duration<float>(0.1F)) == 100'000'001);
    // A third of a second: 1/3 is rounded down, to 0.333333333333333314...; three of them are exact.
    CHECK(up(duration<double, std::ratio<1, 3>>(1.0)) == 333'333'334);
    CHECK(up(duration<double, std::ratio<1, 3>>(3.0)) == 1'000'000'000);
    CHECK(down(duration<double, std::ratio<1, 3>>(3.0)) == 1'000'000'000);
}

TEST_CASE("a real number just beside a whole one is rounded by less than a nanosecond", "[ticks]") {
    CHECK(down(duration<double>(0.3)) == 299'999'999);
    CHECK(up(duration<double>(-0.3)) == -299'999'999);
}

TEST_CASE("a real number beyond the range stops at its ends, infinity is never", "[ticks]") {  // C006
    CHECK(up(duration<double>(infinity)) == never);
    CHECK(up(duration<double>(-infinity)) == long_ago);
    CHECK(up(duration<float>(std::numeric_limits<float>::infinity())) == never);
    CHECK(up(duration<double>(1e300)) == never);
    CHECK(up(duration<double>(-1e300)) == long_ago);
    CHECK(up(duration<double>(1e308)) == never);  // the product overflows
    CHECK(up(duration<double, std::femto>(1e308)) == never);
    CHECK(up(duration<double, std::nano>(9223372036854775808.0)) == never);
    CHECK(up(duration<double, std::nano>(9223372036854774784.0)) == 9'223'372'036'854'774'784);
    CHECK(down(duration<double, std::nano>(-9223372036854774784.0)) == -9'223'372'036'854'774'784);
    CHECK(up(duration<double, std::nano>(-9223372036854775808.0)) == long_ago);
    CHECK(up(duration<double>(9'223'372'036.0)) == 9'223'372'036'000'000'000);
    CHECK(up(duration<double>(9'223'372'037.0)) == never);
}

TEST_CASE("what is not a number is refused by the name of the argument", "[ticks]") {
    std::string message;
    try {
        static_cast<void>(to_nanos<rounding::up>(duration<double>(no_number), "reschedule_after: delay"));
    } catch (const std::invalid_argument& error) {
        message = error.what();
    }
    CHECK(message == "sandglass: reschedule_after: delay is not a number; allowed is any duration or time");
    CHECK_THROWS_AS(up(duration<float>(std::numeric_limits<float>::quiet_NaN())), std::invalid_argument);
    CHECK_THROWS_AS(down(duration<long double, std::milli>(std::numeric_limits<long double>::quiet_NaN())),
                    std::invalid_argument);
}

// ---- back to time points ----------------------------------------------------------------------------------------------

template <class Rep, class Period>
using time_of = std::chrono::time_point<std::chrono::steady_clock, duration<Rep, Period>>;

TEST_CASE("a time point rounds to the chosen side, and the largest one is never", "[ticks]") {
    using exact = time_of<std::int64_t, std::nano>;
    using coarse = time_of<std::int64_t, std::milli>;
    using real = time_of<double, std::ratio<1>>;
    CHECK(to_time_point<exact>(1'500'000) == exact(1'500'000ns));
    CHECK(to_time_point<coarse>(1'500'000) == coarse(1ms));
    CHECK(to_time_point<coarse>(-1'500'000) == coarse(-2ms));
    CHECK(to_time_point<coarse, rounding::up>(1'500'000) == coarse(2ms));
    CHECK(to_time_point<coarse, rounding::up>(-1'500'000) == coarse(-1ms));
    CHECK(to_time_point<coarse, rounding::up>(2'000'000) == coarse(2ms));
    CHECK(to_time_point<real>(500'000'000) == real(duration<double>(0.5)));
    CHECK(to_time_point<exact>(never) == (exact::max)());
    CHECK(to_time_point<coarse>(never) == (coarse::max)());
    CHECK(to_time_point<coarse, rounding::up>(never) == (coarse::max)());
    CHECK(to_time_point<real>(never) == (real::max)());
    CHECK(to_time_point<exact>(long_ago) == (exact::min)());
    // And there again: who waits until then does not come too early.
    CHECK(up(to_time_point<coarse, rounding::up>(1'500'000).time_since_epoch()) == 2'000'000);
    CHECK(up(to_time_point<coarse, rounding::up>(never).time_since_epoch()) == never);
}

// A deadline may lie beyond what the clock itself will ever show.
TEST_CASE("a time beyond the range of the time points stops at its ends", "[ticks]") {
    using fine = time_of<std::int64_t, std::pico>;     // goes as far as 106 days
    using narrow = time_of<std::int32_t, std::milli>;  // 24 days
    constexpr nanos year = 31'556'952'000'000'000;
    CHECK(to_time_point<fine, rounding::up>(year) == (fine::max)());
    CHECK(to_time_point<fine>(-year) == (fine::min)());
    CHECK(to_time_point<narrow, rounding::up>(year) == (narrow::max)());
    CHECK(to_time_point<narrow>(-year) == (narrow::min)());
}

TEST_CASE("a time point of real numbers that is rounded up is not before the time", "[ticks]") {
    using seconds = time_of<double, std::ratio<1>>;
    using short_seconds = time_of<float, std::ratio<1>>;
    for (nanos time : {nanos{1}, nanos{300'000'000}, nanos{299'999'999}, nanos{-300'000'000},
                       nanos{1'700'000'000'123'456'789}, nanos{-1}, never - 1}) {
        REQUIRE(down(to_time_point<seconds, rounding::up>(time).time_since_epoch()) >= time);
        REQUIRE(down(to_time_point<short_seconds, rounding::up>(time).time_since_epoch()) >= time);
    }
}

// ---- ticks ------------------------------------------------------------------------------------------------------------

TEST_CASE("a deadline is due on the first tick at or after it", "[ticks]") {  // S011
    constexpr tick_scale scale{1'000'003, 100};
    CHECK(scale.at_or_after(1'000'003) == 0);
    CHECK(scale.at_or_after(1'000'004) == 1);
    CHECK(scale.at_or_after(1'000'102) == 1);
    CHECK(scale.at_or_after(1'000'103) == 1);
    CHECK(scale.at_or_after(1'000'104) == 2);
    CHECK(scale.at_or_after(1'000'002) == 0);
    CHECK(scale.at_or_after(999'903) == -1);
    CHECK(scale.at_or_before(1'000'102) == 0);
    CHECK(scale.at_or_before(1'000'103) == 1);
    CHECK(scale.at_or_before(1'000'002) == -1);
    CHECK(scale.start_of(0) == 1'000'003);
    CHECK(scale.start_of(2) == 1'000'203);
    CHECK(scale.start_of(-1) == 999'903);
}

TEST_CASE("never is no tick, and no tick begins there", "[ticks]") {
    for (const nanos length : {nanos{1}, nanos{7}, nanos{1'000'000}, nanos{86'400'000'000'000}}) {
        for (const nanos origin : {nanos{0}, nanos{-5}, nanos{1} << 62, -(nanos{1} << 62)}) {
            const tick_scale scale{origin, length};
            CHECK(scale.at_or_after(never) == sandglass::never_tick);
            CHECK(scale.start_of(sandglass::never_tick) == never);
            CHECK(scale.at_or_after(long_ago) <= 0);
        }
    }
}

TEST_CASE("ticks and times agree at every phase of the tick", "[ticks]") {  // C004, C021
    for (const nanos length : {nanos{1}, nanos{2}, nanos{7}, nanos{1000}, nanos{1'000'000}}) {
        for (const nanos origin :
             {nanos{0}, nanos{1}, nanos{-1}, nanos{999'999}, nanos{-123'456'789}, nanos{1} << 40, -(nanos{1} << 40)}) {
            const tick_scale scale{origin, length};
            for (nanos offset = -3 * length - 2; offset <= 3 * length + 2; offset += (length > 50 ? length / 49 : 1)) {
                const nanos when = origin + offset;
                const sandglass::tick_t due = scale.at_or_after(when);
                const sandglass::tick_t begun = scale.at_or_before(when);
                REQUIRE(scale.start_of(due) >= when);
                REQUIRE(scale.start_of(due - 1) < when);
                REQUIRE(scale.start_of(begun) <= when);
                REQUIRE(scale.start_of(begun + 1) > when);
                REQUIRE(due - begun == (offset % length == 0 ? 0 : 1));
                REQUIRE(scale.at_or_after(scale.start_of(due)) == due);
                REQUIRE(scale.at_or_before(scale.start_of(begun)) == begun);
            }
        }
    }
}

TEST_CASE("nothing is due before its time, wherever the clock's epoch lies", "[ticks]") {
    constexpr nanos far = nanos{1} << 62;
    const std::vector<nanos> times{long_ago, long_ago + 1, -far - 1, -far,      -1,        0,        1,
                                   1000,     far,          far + 1,  never - 3, never - 2, never - 1};
    for (const nanos length : {nanos{1}, nanos{2}, nanos{7}, nanos{1'000'000}, nanos{86'400'000'000'000}}) {
        for (const nanos origin : times) {
            const tick_scale scale{origin, length};
            for (const nanos deadline : times) {
                for (const nanos now : times) {
                    CAPTURE(length, origin, deadline, now);
                    if (now < origin) continue;
                    const bool due = scale.at_or_before(now) >= scale.at_or_after(deadline);
                    if (due) REQUIRE(now >= deadline);
                    // Within a tick, as long as there are ticks.
                    if (now < deadline || scale.at_or_before(now) == sandglass::never_tick - 1) continue;
                    const auto late = static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(deadline);
                    if (late >= static_cast<std::uint64_t>(length)) REQUIRE(due);
                }
            }
        }
    }
}

}  // namespace
