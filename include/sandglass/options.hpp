#ifndef SANDGLASS_OPTIONS_HPP
#define SANDGLASS_OPTIONS_HPP

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <sandglass/handle.hpp>

namespace sandglass {

enum class error_kind {
    callback_failed,  // a callable threw
    rejected,         // the executor threw, or dropped the task: the callable was not called
    hook_failed,      // on_thread_start threw, or the executor did after it had taken the task
};

// What `wheel_options::on_error` is told. Valid during the call.
struct timer_error {
    error_kind kind;
    std::exception_ptr exception;  // null if the executor dropped the task without throwing
    timer_handle timer;            // empty if no single timer is concerned
    std::string_view name;         // see `named`; empty without one
};

enum class slow_kind { tick, callback };

// What `wheel_options::on_slow` is told. Valid during the call.
struct slow_event {
    slow_kind kind;
    std::chrono::nanoseconds took;
    timer_handle timer;  // empty for a tick
    std::string_view name;
};

// Checked by the constructors that take them: std::invalid_argument names the field, its value and what is allowed.
// Hooks may be called from any thread that runs callbacks, several at a time; an exception in one is swallowed.
struct wheel_options {
    static constexpr std::chrono::nanoseconds longest_tick = std::chrono::hours(24);

    // How finely time is divided: a timer fires on the first tick at or after its deadline. 1 ns to 24 h.
    std::chrono::nanoseconds tick = std::chrono::milliseconds(1);
    // Slots of the wheel, rounded up to a power of two, 32 bytes each. 1 to 2^24. Timers that are farther away than
    // slots * tick share slots with nearer ones, which is looked at once a turn.
    std::size_t slots = 8192;
    // The most timers that may be pending; a running series counts as one. 0: no limit.
    std::size_t max_pending = 0;
    // Of the tick thread. Linux shows the first 15 bytes.
    std::string thread_name = "sandglass-wheel";
    // Runs on the tick thread before anything else does: sets priority or affinity.
    std::function<void()> on_thread_start{};
    // Empty: one line on stderr; likewise for a callback that throws after it has destroyed its own timer, hook and all.
    std::function<void(const timer_error&)> on_error{};
    // What takes longer than this is reported to on_slow: the work of one pass, and a single callback. 0: off.
    std::chrono::nanoseconds slow_tick{0};
    std::chrono::nanoseconds slow_callback{0};
    std::function<void(const slow_event&)> on_slow{};
};

enum class repeat {
    fixed_rate,   // run k at start + k * period, whatever the runs take
    fixed_delay,  // a pause of one period between the end of a run and the beginning of the next
};

struct repeat_options {
    // Delay of the first run; without it, one period.
    std::optional<std::chrono::nanoseconds> first{};
    repeat mode = repeat::fixed_rate;
};

namespace detail {

inline void check(const wheel_options& options) {
    const auto ns = [](std::chrono::nanoseconds d) { return std::to_string(d.count()) + " ns"; };
    if (options.tick.count() <= 0 || options.tick > wheel_options::longest_tick) {
        throw_invalid("wheel_options::tick is " + ns(options.tick) + "; allowed is 1 ns to " +
                      ns(wheel_options::longest_tick));
    }
    if (options.slots == 0 || options.slots > hashed_wheel<node>::max_slots) {
        throw_invalid("wheel_options::slots is " + std::to_string(options.slots) + "; allowed is 1 to " +
                      std::to_string(hashed_wheel<node>::max_slots));
    }
    if (options.slow_tick.count() < 0) {
        throw_invalid("wheel_options::slow_tick is " + ns(options.slow_tick) + "; allowed is 0 ns (off) or more");
    }
    if (options.slow_callback.count() < 0) {
        throw_invalid("wheel_options::slow_callback is " + ns(options.slow_callback) +
                      "; allowed is 0 ns (off) or more");
    }
}

}  // namespace detail
}  // namespace sandglass

#endif  // SANDGLASS_OPTIONS_HPP
