#ifndef SANDGLASS_CONTEXT_HPP
#define SANDGLASS_CONTEXT_HPP

#include <chrono>
#include <cstdint>

#include <sandglass/handle.hpp>

namespace sandglass {

// What a callable that takes a `timer_context&` learns about the run it is in, and how it decides on the next one.
//
// Threads: the one that runs the callable, until it returns.
class timer_context {
  public:
    timer_context(const timer_context&) = delete;
    timer_context& operator=(const timer_context&) = delete;

    // When this run was to be, since the epoch of the timer's clock: exact for a series (start + k * period) and for a
    // callable that takes a context. In `scheduled_time` as a time of the clock.
    [[nodiscard]] std::chrono::nanoseconds scheduled() const noexcept { return std::chrono::nanoseconds(scheduled_); }
    template <class TimePoint = std::chrono::steady_clock::time_point>
    [[nodiscard]] TimePoint scheduled_time() const noexcept {
        return detail::to_time_point<TimePoint>(scheduled_);
    }

    // How long after that it began. Never negative.
    [[nodiscard]] std::chrono::nanoseconds lateness() const noexcept {
        return std::chrono::nanoseconds(began_ <= scheduled_ ? 0 : detail::subtract_saturating(began_, scheduled_));
    }

    // How many runs of a fixed-rate series should have begun since `scheduled()`, and are made up for by this one.
    [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

    // The delay for which this run was scheduled: what was asked of schedule_* or reschedule_*, or the period.
    [[nodiscard]] std::chrono::nanoseconds scheduled_delay() const noexcept { return std::chrono::nanoseconds(delay_); }

    [[nodiscard]] timer_handle handle() const noexcept { return handle_; }

    // No further run. The captures live until the callable returns.
    bool cancel() noexcept { return handle_.cancel(); }

    // One more run of a one-shot; the next run of a series, from which the following ones keep their distance. The last
    // call counts. `false`: cancelled meanwhile, or stopped. A delay counts from now, which is a little after the tick;
    // to keep a rhythm, use reschedule_at(scheduled_time() + delay).
    template <class Rep, class Period>
    bool reschedule_after(std::chrono::duration<Rep, Period> delay) {
        return handle_.reschedule_after(delay);
    }
    template <class Clock, class Duration>
    bool reschedule_at(std::chrono::time_point<Clock, Duration> when) {
        return handle_.reschedule_at(when);
    }

  private:
    friend struct detail::handle_access;

    timer_context(timer_handle handle, detail::nanos scheduled, detail::nanos began, detail::nanos delay,
                  std::uint64_t missed) noexcept
        : handle_(handle), scheduled_(scheduled), began_(began), delay_(delay), missed_(missed) {}

    timer_handle handle_;
    detail::nanos scheduled_;
    detail::nanos began_;
    detail::nanos delay_;
    std::uint64_t missed_;
};

namespace detail {

// The library's own way to make handles and contexts.
struct handle_access {
    static timer_handle make(node& n, state::word generation) noexcept { return {n, generation}; }
    static timer_context context(timer_handle handle, nanos scheduled, nanos began, nanos delay,
                                 std::uint64_t missed) noexcept {
        return {handle, scheduled, began, delay, missed};
    }
};

}  // namespace detail
}  // namespace sandglass

#endif  // SANDGLASS_CONTEXT_HPP
