#ifndef SANDGLASS_TIMER_QUEUE_HPP
#define SANDGLASS_TIMER_QUEUE_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sandglass/clock.hpp>
#include <sandglass/detail/queue_host.hpp>
#include <sandglass/executor.hpp>
#include <sandglass/handle.hpp>
#include <sandglass/leftover.hpp>
#include <sandglass/named.hpp>
#include <sandglass/options.hpp>
#include <sandglass/stats.hpp>

namespace sandglass {

// Timers for a loop of one's own: everything that `wheel_timer` does, but the thread. Any thread schedules; the loop
// calls `poll()` when `next_deadline()` has come, or when the `on_earlier` hook tells it to look again.
//
//     for (;;) { queue.poll(); wait_until(queue.next_deadline()); }
//
// Threads: any, for everything; poll() by one at a time. Construction and destruction by one.
template <class Executor = inline_executor, class Clock = std::chrono::steady_clock>
class timer_queue {
    static_assert(executor<detail::unwrapped_t<Executor>>,
                  "sandglass: an executor must have execute(expired_timer&&), or be callable with an expired_timer&&");
    static_assert(clock<detail::unwrapped_t<Clock>>,
                  "sandglass: a clock must have now(), which returns a std::chrono::time_point");

  public:
    using time_point = detail::time_point_of<Clock>;
    using executor_type = Executor;
    using clock_type = Clock;

    // Executor and clock: by value, by std::ref, or in a std::shared_ptr. Tick 0 is now. Starts nothing.
    // Errors: std::invalid_argument names the option, its value and what is allowed; std::bad_alloc.
    explicit timer_queue(wheel_options options = {}, Executor executor = Executor(), Clock clock = Clock())
        : host_((detail::check(options), std::make_shared<host>(options, std::move(executor), std::move(clock)))) {}

    timer_queue(const timer_queue&) = delete;
    timer_queue& operator=(const timer_queue&) = delete;

    // Stops, discards what is left, and waits for runs in progress on other threads, also when it is called from a
    // callback.
    ~timer_queue() {
        // First of all: what follows within runs of this thread must not touch what the owner may destroy after this.
        host_->core().keep_during_runs(host_);
        stop_and_discard(true);
    }

    // ---- schedule -------------------------------------------------------------------------------------------------
    //
    // `f` is called once with no argument, or with a `timer_context&`. It may be move-only and is never copied; up to
    // 16 bytes of captures need no allocation. It is destroyed when it has run, or been cancelled or discarded.
    //
    // The deadline counts from this call, and is rounded up to a tick. Zero, negative and past: the next pass, or the
    // next tick where now is in the midst of one. What is beyond the clock's range, such as duration::max(), is never
    // due, but can be cancelled.
    //
    // Errors: std::invalid_argument for a null callable, a period <= 0, or a delay that is not a number; timer_stopped;
    // pending_limit_reached; std::bad_alloc; what the callable's constructor throws. Nothing is scheduled then, and
    // unless it was its constructor that threw, `f` has not been moved from, but for a stop() at this very moment.
    //
    // Cost: O(1), lock-free but for refilling the pool, no system call unless the loop must be woken.

    template <class Rep, class Period, class F>
    timer_handle schedule_after(std::chrono::duration<Rep, Period> delay, F&& f) {
        return required(after(delay, std::forward<F>(f)));
    }
    // `when` is a time of this timer's clock, of any duration type.
    template <class ClockOf, class Duration, class F>
    timer_handle schedule_at(std::chrono::time_point<ClockOf, Duration> when, F&& f) {
        return required(at(when, std::forward<F>(f)));
    }
    // A series: first after one period, or after `options.first`, then again and again. Runs of a series never overlap.
    // After a pause one run makes up for those that were missed. See `repeat`.
    template <class Rep, class Period, class F>
    timer_handle schedule_every(std::chrono::duration<Rep, Period> period, F&& f, repeat_options options = {}) {
        return required(every(period, std::forward<F>(f), options));
    }

    // The same, with an empty handle instead of timer_stopped and pending_limit_reached.
    template <class Rep, class Period, class F>
    [[nodiscard]] timer_handle try_schedule_after(std::chrono::duration<Rep, Period> delay, F&& f) {
        return after(delay, std::forward<F>(f)).handle;
    }
    template <class ClockOf, class Duration, class F>
    [[nodiscard]] timer_handle try_schedule_at(std::chrono::time_point<ClockOf, Duration> when, F&& f) {
        return at(when, std::forward<F>(f)).handle;
    }
    template <class Rep, class Period, class F>
    [[nodiscard]] timer_handle try_schedule_every(std::chrono::duration<Rep, Period> period, F&& f,
                                                  repeat_options options = {}) {
        return every(period, std::forward<F>(f), options).handle;
    }

    // ---- drive ----------------------------------------------------------------------------------------------------

    // One pass: hands everything that is due to the executor, in the order of the deadlines; what was past due when it
    // was scheduled comes first. Within one tick, timers of one thread come in the order in which it scheduled them.
    // Timers that become due, or are scheduled for now, during the pass are left to the next one. Returns how many were
    // handed over; 0 when another poll is in progress, this one's own callbacks included.
    std::size_t poll() {
        const std::shared_ptr<host> alive = host_;  // a callback may destroy this object
        return alive->poll();
    }

    // When to call poll() next, if nothing nearer is added; nothing if nothing is pending. May be too early for a timer
    // that was cancelled or pushed back, never too late. From this call to the next poll(), whoever schedules for an
    // earlier time calls the on_earlier hook, once. Call it from the loop's thread.
    [[nodiscard]] std::optional<time_point> next_deadline() { return deadline_of(host_->core().prepare_sleep()); }

    // `wake` is called, on the scheduling thread and outside every lock, when a nearer deadline was added after
    // next_deadline(), and by stop(). It should make the loop look again, and not throw. Set it before others schedule.
    void on_earlier(std::function<void()> wake) { host_->on_earlier(std::move(wake)); }

    // ---- stop -----------------------------------------------------------------------------------------------------

    // When it returns, nothing starts any more, and nothing of this timer runs. Called from one of its callbacks it
    // does not wait for runs; that one and those on other threads go on to their end. What was pending is discarded.
    // Idempotent; from several threads at once. Returns how many timers this call discarded.
    // Cost: proportional to the peak of live timers.
    std::size_t stop() { return stop_and_discard(!host_->core().runs_here()); }

    // Hands each timer that is left to `visitor(leftover_timer&&)`, in the order of the deadlines. Exceptions of the
    // visitor go to on_error.
    template <class Visitor>
        requires std::invocable<Visitor&, leftover_timer&&>
    std::size_t stop(Visitor&& visitor) {
        const std::shared_ptr<host> alive = host_;  // the visitor may destroy this object
        detail::timer_core& core = alive->core();
        std::vector<leftover_timer> left;
        const detail::nanos now = alive->template now<detail::rounding::down>();
        std::size_t count = 0;
        const auto visit = [&](leftover_timer&& timer) {
            try {
                visitor(std::move(timer));
            } catch (...) {
                alive->user_hooks().error({error_kind::hook_failed, std::current_exception(), {}, {}});
            }
        };
        core.stop(!core.runs_here(), [&](detail::node& n) {
            ++count;
            leftover_timer timer = detail::leftover_access::make(n, core.scale(), now);
            try {
                left.push_back(std::move(timer));
            } catch (...) {  // no memory to put them in order
                visit(std::move(timer));
            }
        });
        std::sort(left.begin(), left.end(),
                  [](const leftover_timer& a, const leftover_timer& b) { return a.deadline() < b.deadline(); });
        for (leftover_timer& timer : left) visit(std::move(timer));
        return count;
    }

    [[nodiscard]] bool stopped() const noexcept { return host_->core().stopped(); }

    // ---- ask ------------------------------------------------------------------------------------------------------

    [[nodiscard]] timer_stats stats() const noexcept {
        const detail::timer_core& core = host_->core();
        const detail::counter_sums sums = core.sums();
        const detail::counters& figures = core.figures();
        timer_stats s;
        s.pending = sums.pending();
        s.scheduled = sums.scheduled;
        s.fired = sums.fired;
        s.cancelled = sums.cancelled;
        s.rejected = sums.rejected;
        s.discarded = sums.discarded;
        s.failed = sums.failed;
        s.slow = sums.slow;
        s.missed = sums.missed;
        s.unreclaimed = sums.nodes > s.pending ? sums.nodes - s.pending : 0;
        s.longest_slot = figures.longest_slot.load(std::memory_order_relaxed);
        const auto occupied = figures.occupied_slots.load(std::memory_order_relaxed);
        const auto in_wheel = figures.in_wheel.load(std::memory_order_relaxed);
        s.mean_slot = occupied == 0 ? 0.0 : static_cast<double>(in_wheel) / static_cast<double>(occupied);
        s.last_tick = std::chrono::nanoseconds(figures.last_tick.load(std::memory_order_relaxed));
        s.longest_tick = std::chrono::nanoseconds(figures.longest_tick.load(std::memory_order_relaxed));
        s.turn = std::chrono::nanoseconds(
            detail::multiply_saturating(core.scale().length, static_cast<detail::nanos>(core.slots())));
        s.worst_lateness = std::chrono::nanoseconds(figures.worst_lateness.load(std::memory_order_relaxed));
        return s;
    }

    // Timers that are armed. Exact when nobody is in a call.
    [[nodiscard]] std::size_t approx_pending() const noexcept {
        return static_cast<std::size_t>(host_->core().sums().pending());
    }

    // The clock that was passed, or the copy that this object keeps.
    [[nodiscard]] detail::unwrapped_t<Clock>& timer_clock() noexcept { return host_->clock(); }

  private:
    template <class, class>
    friend class basic_wheel_timer;
    using host = detail::queue_host<Executor, Clock>;

    [[nodiscard]] std::optional<time_point> deadline_of(tick_t tick) const {
        if (tick == never_tick) return std::nullopt;
        return detail::to_time_point<time_point, detail::rounding::up>(host_->core().scale().start_of(tick));
    }

    struct answer {
        timer_handle handle{};
        detail::timer_core::outcome outcome = detail::timer_core::outcome::scheduled;
    };

    timer_handle required(const answer& a) const {
        if (a.outcome == detail::timer_core::outcome::stopped) detail::throw_stopped();
        if (a.outcome == detail::timer_core::outcome::limit_reached) detail::throw_limit(host_->core().limit());
        return a.handle;
    }

    template <class Rep, class Period, class F>
    answer after(std::chrono::duration<Rep, Period> delay, F&& f) {
        const detail::nanos now = host_->template now<detail::rounding::up>();
        const detail::nanos ns = detail::to_nanos<detail::rounding::up>(delay, "delay");
        return arm_one_shot(detail::add_saturating(now, ns), ns, std::forward<F>(f));
    }

    template <class ClockOf, class Duration, class F>
    answer at(std::chrono::time_point<ClockOf, Duration> when, F&& f) {
        static_assert(std::is_same_v<ClockOf, typename time_point::clock>,
                      "sandglass: schedule_at takes a time of the timer's own clock");
        const detail::nanos ns = detail::to_nanos<detail::rounding::up>(when.time_since_epoch(), "time");
        detail::nanos delay = 0;
        if constexpr (detail::context_callable<std::decay_t<F>>) {
            delay = detail::subtract_saturating(ns, host_->template now<detail::rounding::up>());
        }
        return arm_one_shot(ns, delay, std::forward<F>(f));
    }

    template <class Rep, class Period, class F>
    answer every(std::chrono::duration<Rep, Period> period, F&& f, const repeat_options& options) {
        const detail::nanos now = host_->template now<detail::rounding::up>();
        const detail::nanos ns = detail::to_nanos<detail::rounding::up>(period, "period");
        if (ns <= 0) {
            detail::throw_invalid("period is " + std::to_string(ns) + " ns; allowed is more than 0");
        }
        const detail::nanos delay =
            options.first ? detail::to_nanos<detail::rounding::up>(*options.first, "first delay") : ns;
        detail::series_timing timing;
        timing.first = detail::add_saturating(now, delay);
        timing.period = options.mode == repeat::fixed_delay ? -ns : ns;
        timing.delay = delay;
        return arm(timing.first, &timing, std::forward<F>(f));
    }

    template <class F>
    answer arm_one_shot(detail::nanos when, detail::nanos delay, F&& f) {
        if constexpr (detail::context_callable<std::decay_t<F>>) {
            const detail::series_timing timing{when, 0, delay};  // may re-arm itself
            return arm(when, &timing, std::forward<F>(f));
        } else {
            return arm(when, nullptr, std::forward<F>(f));
        }
    }

    template <class F>
    answer arm(detail::nanos when, const detail::series_timing* timing, F&& f) {
        using callable = std::decay_t<F>;
        static_assert(detail::plain_callable<callable> || detail::context_callable<callable>,
                      "sandglass: a callable must take no argument, or a sandglass::timer_context&");
        static_assert(std::is_constructible_v<callable, F&&>,
                      "sandglass: a callable must be movable; pass it with std::move");
        detail::require_callable(f);
        detail::timer_core& core = host_->core();
        answer a;
        detail::node* n = nullptr;
        detail::state::word generation = 0;
        a.outcome =
            core.template arm<callable>(std::forward<F>(f), core.scale().at_or_after(when), timing, n, generation);
        if (a.outcome == detail::timer_core::outcome::scheduled) {
            a.handle = detail::handle_access::make(*n, generation);
        }
        return a;
    }

    std::size_t stop_and_discard(bool wait) noexcept {
        const std::shared_ptr<host> alive = host_;  // captures that are destroyed may own this object
        detail::timer_core& core = alive->core();
        std::size_t count = 0;
        core.stop(wait, [&](detail::node& n) {
            ++count;
            n.body().destroy();
            core.let_go(n);
        });
        return count;
    }

    std::shared_ptr<host> host_;
};

}  // namespace sandglass

#endif  // SANDGLASS_TIMER_QUEUE_HPP
