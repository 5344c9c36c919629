#ifndef SANDGLASS_HANDLE_HPP
#define SANDGLASS_HANDLE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include <sandglass/detail/timer_core.hpp>

namespace sandglass {

namespace detail {

struct handle_access;

// One address per clock, so that a time of the wrong clock is noticed.
template <class TimePointClock>
inline constexpr char clock_identity = 0;

[[noreturn]] inline void throw_wrong_clock() {
    throw_invalid("reschedule_at was given a time of another clock than the timer's; allowed is the timer's own");
}

}  // namespace detail

// Names one scheduled timer, a series included. Trivially copyable; dropping it changes nothing, and copies name the
// same timer. It stays valid for ever: once its timer has run or was cancelled, and also after the timer object is gone,
// every call on it is harmless and says so. An empty handle names nothing and answers like a stale one.
//
// Threads: any, without further locking, also at the same time as anything else that concerns the timer.
class timer_handle {
  public:
    timer_handle() = default;

    // `true`: this call made sure that no further run will start. The captures have been destroyed, by this thread and
    // outside every lock, unless the callback is running now; then that run destroys them when it returns. `false`: it
    // was too late (the only run has begun, or is over), cancelled before, or discarded by stop(). Inside its own
    // callback it ends a series. Never waits for a callback. Cost: O(1), see bench/README.md.
    bool cancel() noexcept { return node_ != nullptr && detail::timer_core::cancel(*node_, generation_); }

    // Likewise, and returns only when no run of this timer is in progress. Called from its own callback it does not
    // wait. Do not call it while holding something that the callback waits for.
    bool cancel_and_wait() noexcept {
        return node_ != nullptr && detail::timer_core::cancel_and_wait(*node_, generation_);
    }

    // Moves the timer to `delay` from now on its clock. `true`: it will run exactly once more, at the new time, however
    // close the old one was; for a series, the following runs keep their distance from it. `false`: too late, see
    // cancel(). Errors: std::invalid_argument for a delay that is not a number. Cost: O(1), no allocation; a deadline
    // that is pushed back costs no queue operation (if it was less than 2^31 ticks away).
    template <class Rep, class Period>
    bool reschedule_after(std::chrono::duration<Rep, Period> delay) {
        const detail::nanos ns = detail::to_nanos<detail::rounding::up>(delay, "reschedule_after: delay");
        return node_ != nullptr && detail::timer_core::reschedule_after(*node_, generation_, ns);
    }

    // Moves it to a time of its own clock. Errors: std::invalid_argument for a time of another clock.
    template <class Clock, class Duration>
    bool reschedule_at(std::chrono::time_point<Clock, Duration> when) {
        const detail::nanos ns = detail::to_nanos<detail::rounding::up>(when.time_since_epoch(), "reschedule_at: time");
        if (node_ == nullptr || !detail::timer_core::is_live(*node_, generation_)) return false;
        detail::timer_core& core = detail::timer_core::of(*node_);
        const bool right_clock = core.clock_id() == &detail::clock_identity<Clock>;
        // Still live: what was read is not of a later timer.
        if (!detail::timer_core::is_live(*node_, generation_)) return false;
        if (!right_clock) detail::throw_wrong_clock();
        const auto now = core.now_for_handle();
        return now.has_value() && core.reschedule(*node_, generation_, ns, detail::subtract_saturating(ns, *now));
    }

    // Whether a run lies ahead. The answer may be old by the time it arrives.
    [[nodiscard]] bool pending() const noexcept {
        return node_ != nullptr && detail::timer_core::is_pending(*node_, generation_);
    }

    // Time until the next run is due, rounded up to a tick; 0 if it is due or none lies ahead; nanoseconds::max() if
    // the timer is never due. Cost: a clock read.
    [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept {
        return std::chrono::nanoseconds(node_ == nullptr ? 0 : detail::timer_core::remaining(*node_, generation_));
    }

    // Whether it is not empty; says nothing about the timer.
    [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }

    friend bool operator==(const timer_handle&, const timer_handle&) = default;

  private:
    friend struct detail::handle_access;
    friend struct std::hash<timer_handle>;

    timer_handle(detail::node& n, detail::state::word generation) noexcept : node_(&n), generation_(generation) {}

    detail::node* node_ = nullptr;
    detail::state::word generation_ = 0;
};

static_assert(std::is_trivially_copyable_v<timer_handle>);

// Cancels its timer when it goes, or when another one is assigned to it. Does not wait for a run in progress.
//
// Threads: one at a time; distinct ones at the same time.
class [[nodiscard]] scoped_timer {
  public:
    scoped_timer() = default;
    scoped_timer(timer_handle handle) noexcept : handle_(handle) {}  // NOLINT: a handle is all that is meant
    scoped_timer(scoped_timer&& other) noexcept : handle_(other.release()) {}
    scoped_timer& operator=(scoped_timer&& other) noexcept {
        if (this != &other) {
            handle_.cancel();
            handle_ = other.release();
        }
        return *this;
    }
    ~scoped_timer() { handle_.cancel(); }

    bool cancel() noexcept { return handle_.cancel(); }
    bool cancel_and_wait() noexcept { return handle_.cancel_and_wait(); }
    template <class Rep, class Period>
    bool reschedule_after(std::chrono::duration<Rep, Period> delay) {
        return handle_.reschedule_after(delay);
    }
    template <class Clock, class Duration>
    bool reschedule_at(std::chrono::time_point<Clock, Duration> when) {
        return handle_.reschedule_at(when);
    }
    [[nodiscard]] bool pending() const noexcept { return handle_.pending(); }
    [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept { return handle_.remaining(); }

    [[nodiscard]] timer_handle get() const noexcept { return handle_; }
    // Gives the timer up: nothing is cancelled.
    timer_handle release() noexcept { return std::exchange(handle_, timer_handle{}); }
    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(handle_); }

  private:
    timer_handle handle_;
};

static_assert(!std::is_copy_constructible_v<scoped_timer> && std::is_nothrow_move_constructible_v<scoped_timer>);

}  // namespace sandglass

template <>
struct std::hash<sandglass::timer_handle> {
    [[nodiscard]] std::size_t operator()(const sandglass::timer_handle& handle) const noexcept {
        return std::hash<const void*>{}(handle.node_) ^ std::hash<std::uint64_t>{}(handle.generation_ << 17);
    }
};

#endif  // SANDGLASS_HANDLE_HPP
