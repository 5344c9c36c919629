#ifndef SANDGLASS_DETAIL_TICKS_HPP
#define SANDGLASS_DETAIL_TICKS_HPP

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>
#include <utility>

#include <sandglass/errors.hpp>

// The one gate between std::chrono outside and integers inside. A deadline rounds up and the present rounds down, so no
// rounding can make a timer early; what does not fit saturates, and the largest value means "never".

namespace sandglass {

using tick_t = std::int64_t;
inline constexpr tick_t never_tick = (std::numeric_limits<tick_t>::max)();

namespace detail {

using nanos = std::int64_t;
inline constexpr nanos never = (std::numeric_limits<nanos>::max)();
inline constexpr nanos long_ago = (std::numeric_limits<nanos>::min)();

enum class rounding { down, up };

[[nodiscard]] constexpr nanos add_saturating(nanos a, nanos b) noexcept {
    if (b > 0 && a > never - b) return never;
    if (b < 0 && a < long_ago - b) return long_ago;
    return a + b;
}

[[nodiscard]] constexpr nanos subtract_saturating(nanos a, nanos b) noexcept {
    if (b < 0 && a > never + b) return never;
    if (b > 0 && a < long_ago + b) return long_ago;
    return a - b;
}

[[nodiscard]] constexpr nanos multiply_saturating(nanos a, nanos positive) noexcept {
    if (a > never / positive) return never;
    if (a < long_ago / positive) return long_ago;
    return a * positive;
}

// `divisor` is positive.
template <rounding Direction>
[[nodiscard]] constexpr nanos divide(nanos value, nanos divisor) noexcept {
    const nanos quotient = value / divisor;
    const nanos rest = value % divisor;
    if constexpr (Direction == rounding::up) return rest > 0 ? quotient + 1 : quotient;
    return rest < 0 ? quotient - 1 : quotient;
}

// A floating-point count times num / den, rounded to the side that is never early. The product's own rounding error is
// found with fma and undone, so that 0.5 s is 500,000,000 ns and nothing else.
template <rounding Direction, class Real>
[[nodiscard]] nanos real_to_nanos(Real count, Real num, Real den, const char* argument) {
    if (std::isnan(count)) throw_invalid(std::string(argument) + " is not a number; allowed is any duration or time");
    constexpr Real limit = static_cast<Real>(9223372036854775808.0);
    const Real product = count * num;
    if (!(product / den < limit)) return never;
    if (!(product / den > -limit)) return long_ago;
    const Real quotient = product / den;
    // The exact value minus the quotient, up to a factor that keeps the sign.
    const Real error = std::fma(count, num, -product) + std::fma(-quotient, den, product);
    Real whole = Direction == rounding::up ? std::ceil(quotient) : std::floor(quotient);
    if (whole == quotient && Direction == rounding::up && error > 0) {
        whole = (std::max)(whole + 1, std::nextafter(whole, limit));  // large values have no neighbour at distance 1
    }
    if (whole == quotient && Direction == rounding::down && error < 0) {
        whole = (std::min)(whole - 1, std::nextafter(whole, -limit));
    }
    if (!(whole < limit)) return never;
    return static_cast<nanos>(whole);
}

// Any std::chrono::duration in nanoseconds. The largest value of its type, and infinity, are "never".
template <rounding Direction, class Rep, class Period>
[[nodiscard]] nanos to_nanos(const std::chrono::duration<Rep, Period>& d, const char* argument = "the duration") {
    using factor = std::ratio_divide<Period, std::nano>;
    if constexpr (std::chrono::treat_as_floating_point_v<Rep>) {
        using real = std::common_type_t<Rep, double>;
        return real_to_nanos<Direction, real>(static_cast<real>(d.count()), static_cast<real>(factor::num),
                                              static_cast<real>(factor::den), argument);
    } else {
        static_assert(std::is_integral_v<Rep>, "sandglass takes durations of arithmetic types");
        if (d == (std::chrono::duration<Rep, Period>::max)()) return never;
        // The whole part and the rest apart, so that neither a ratio such as 1001/30000 s nor a count that needs all
        // bits overflows on the way.
        using wide = std::conditional_t<std::is_unsigned_v<Rep>, std::uint64_t, nanos>;
        constexpr auto den = static_cast<wide>(factor::den);
        const auto count = static_cast<wide>(d.count());
        const wide units = count / den;
        const nanos rest = static_cast<nanos>(count % den);
        const nanos whole =
            std::cmp_greater(units, never) ? never : multiply_saturating(static_cast<nanos>(units), factor::num);
        if constexpr (factor::den == 1) return whole;
        if constexpr (factor::den < (nanos{1} << 31) && factor::num < (nanos{1} << 31)) {
            return add_saturating(whole, divide<Direction>(rest * factor::num, factor::den));
        } else if constexpr (factor::num == 1) {
            return add_saturating(whole, divide<Direction>(rest, factor::den));
        } else {
            return add_saturating(whole, real_to_nanos<Direction, long double>(
                                             static_cast<long double>(rest), static_cast<long double>(factor::num),
                                             static_cast<long double>(factor::den), argument));
        }
    }
}

// The reverse, for what users are shown; up where somebody will wait for it. What the clock's type cannot hold
// saturates, and the largest value stays "never".
template <class TimePoint, rounding Direction = rounding::down>
[[nodiscard]] TimePoint to_time_point(nanos since_epoch) noexcept {
    using duration = typename TimePoint::duration;
    using rep = typename duration::rep;
    using factor = std::ratio_divide<std::nano, typename duration::period>;
    if (since_epoch == never) return (TimePoint::max)();
    if constexpr (std::chrono::treat_as_floating_point_v<rep>) {
        rep count = static_cast<rep>(since_epoch) * static_cast<rep>(factor::num) / static_cast<rep>(factor::den);
        if constexpr (Direction == rounding::up) {
            // Whoever waits until then must find, by the conversion above, that the time has come.
            while (to_nanos<rounding::down>(duration(count)) < since_epoch) {
                count = std::nextafter(count, (std::numeric_limits<rep>::max)());
            }
        }
        return TimePoint(duration(count));
    } else {
        nanos count = 0;
        if constexpr (factor::den <= never / factor::num) {  // the whole part and the rest apart, as above
            count = add_saturating(multiply_saturating(since_epoch / factor::den, factor::num),
                                   divide<Direction>(since_epoch % factor::den * factor::num, factor::den));
        } else {
            count = divide<Direction>(multiply_saturating(since_epoch, factor::num), factor::den);
        }
        if (std::cmp_greater(count, (std::numeric_limits<rep>::max)())) return (TimePoint::max)();
        if (std::cmp_less(count, (std::numeric_limits<rep>::min)())) return (TimePoint::min)();
        return TimePoint(duration(static_cast<rep>(count)));
    }
}

// Ticks are counted from the moment the timer was made. Tick k begins at origin + k * length. The difference of two
// times may need all 64 bits, hence unsigned arithmetic.
struct tick_scale {
    nanos origin = 0;
    nanos length = 1;

    // The first tick at or after `when`: the tick on which a deadline is due.
    [[nodiscard]] constexpr tick_t at_or_after(nanos when) const noexcept {
        if (when == never) return never_tick;
        const bool ahead = when >= origin;
        const std::uint64_t distance = ahead ? difference(when, origin) : difference(origin, when);
        const auto step = static_cast<std::uint64_t>(length);
        return signed_tick(ahead, distance / step + (ahead && distance % step != 0 ? 1 : 0));
    }
    // The last tick that has begun at `when`: what may fire at that time.
    [[nodiscard]] constexpr tick_t at_or_before(nanos when) const noexcept {
        const bool ahead = when >= origin;
        const std::uint64_t distance = ahead ? difference(when, origin) : difference(origin, when);
        const auto step = static_cast<std::uint64_t>(length);
        const tick_t tick = signed_tick(ahead, distance / step + (!ahead && distance % step != 0 ? 1 : 0));
        return tick == never_tick ? never_tick - 1 : tick;
    }
    [[nodiscard]] constexpr nanos start_of(tick_t tick) const noexcept {
        if (tick == never_tick) return never;
        const std::uint64_t count = tick >= 0 ? static_cast<std::uint64_t>(tick) : difference(0, tick);
        const std::uint64_t room = tick >= 0 ? difference(never, origin) : difference(origin, long_ago);
        if (count > room / static_cast<std::uint64_t>(length)) return tick >= 0 ? never : long_ago;
        const std::uint64_t distance = count * static_cast<std::uint64_t>(length);
        const auto start = static_cast<std::uint64_t>(origin);
        return static_cast<nanos>(tick >= 0 ? start + distance : start - distance);
    }

  private:
    static constexpr std::uint64_t difference(nanos later, nanos earlier) noexcept {
        return static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
    }
    static constexpr tick_t signed_tick(bool ahead, std::uint64_t count) noexcept {
        constexpr auto most = static_cast<std::uint64_t>(never_tick);
        if (count >= most) return ahead ? never_tick : -never_tick;
        return ahead ? static_cast<tick_t>(count) : -static_cast<tick_t>(count);
    }
};

}  // namespace detail
}  // namespace sandglass

#endif  // SANDGLASS_DETAIL_TICKS_HPP
