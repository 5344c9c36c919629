#ifndef SANDGLASS_CLOCK_HPP
#define SANDGLASS_CLOCK_HPP

#include <chrono>
#include <concepts>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include <sandglass/detail/ticks.hpp>

namespace sandglass {

namespace detail {

template <class T>
struct unwrapped {
    using type = T;
};
template <class T>
struct unwrapped<std::reference_wrapper<T>> {
    using type = T;
};
template <class T>
struct unwrapped<std::shared_ptr<T>> {
    using type = T;
};
template <class T>
using unwrapped_t = typename unwrapped<T>::type;

template <class T>
T& unwrap(T& value) noexcept {
    return value;
}
template <class T>
T& unwrap(std::reference_wrapper<T>& value) noexcept {
    return value.get();
}
template <class T>
T& unwrap(std::shared_ptr<T>& value) noexcept {
    return *value;
}

template <class T>
inline constexpr bool is_time_point = false;
template <class Clock, class Duration>
inline constexpr bool is_time_point<std::chrono::time_point<Clock, Duration>> = true;

}  // namespace detail

// Anything with `now()`, static or not, that returns a std::chrono::time_point of whatever duration. `now()` is called
// from all threads that use the timer, and must not throw. It should not go back; if it does, timers are late by that.
template <class C>
concept clock = requires(C& c) { requires detail::is_time_point<std::remove_cvref_t<decltype(c.now())>>; };

// A clock that can also wait, on its own time. A timer thread on a clock that cannot sleeps by steady time in between.
//   wait_until(t, woken): returns when now() >= t, or when woken() is true; looks again after notify()
//   notify(): from any thread
template <class C>
concept waitable_clock = clock<C> && requires(C& c, bool (*woken)()) {
    c.wait_until(c.now(), woken);
    c.notify();
};

// Time that stands still until it is told to go on: for tests without sleeping. Its time points are those of
// std::chrono::steady_clock, so that code under test needs no other types than in earnest.
//
// Threads: any. Cost of now(): a mutex.
class manual_clock {
  public:
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;
    static constexpr bool is_steady = false;

    explicit manual_clock(time_point start = time_point{}) noexcept : now_(start) {}
    manual_clock(const manual_clock&) = delete;
    manual_clock& operator=(const manual_clock&) = delete;

    [[nodiscard]] time_point now() const noexcept {
        const std::lock_guard lock(mutex_);
        return now_;
    }

    // Wakes whoever waits on this clock; does not wait for what they do then. Stops at either end of time.
    void advance(duration by) noexcept {
        const std::lock_guard lock(mutex_);
        now_ = time_point(duration(detail::add_saturating(now_.time_since_epoch().count(), by.count())));
        changed_.notify_all();
    }
    void set(time_point when) noexcept {
        const std::lock_guard lock(mutex_);
        now_ = when;
        changed_.notify_all();
    }

    // See waitable_clock. Never sleeps by real time. `woken` is called with the clock locked.
    template <class Woken>
    void wait_until(time_point when, Woken&& woken) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return now_ >= when || woken(); });
    }
    void notify() noexcept {
        const std::lock_guard lock(mutex_);
        changed_.notify_all();
    }

  private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    time_point now_;
};

static_assert(waitable_clock<manual_clock> && clock<std::chrono::steady_clock>);

}  // namespace sandglass

#endif  // SANDGLASS_CLOCK_HPP
