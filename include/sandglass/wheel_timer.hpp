#ifndef SANDGLASS_WHEEL_TIMER_HPP
#define SANDGLASS_WHEEL_TIMER_HPP

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <sandglass/detail/thread_name.hpp>
#include <sandglass/detail/timer_slack.hpp>
#include <sandglass/timer_queue.hpp>

namespace sandglass {

namespace detail {

// How a thread sleeps until a time of a clock, or until it is woken.
template <class Clock>
class sleeper {
  public:
    explicit sleeper(Clock& clock) noexcept : clock_(clock) {}

    template <class TimePoint>
    void sleep_until(const std::optional<TimePoint>& when) {
        const auto woken = [this] { return woken_.load(); };
        if constexpr (waitable_clock<Clock>) {
            clock_.wait_until(when.value_or((TimePoint::max)()), woken);
        } else {
            std::unique_lock lock(mutex_);
            if (!when) {
                changed_.wait(lock, woken);
            } else if constexpr (std::is_same_v<Clock, std::chrono::steady_clock>) {
                changed_.wait_until(lock, *when, woken);
            } else {
                // By steady time. If the clock has not come so far by then, the caller looks again: at ever longer
                // intervals if it stands still.
                const nanos left = to_nanos<rounding::up>(*when - clock_.now());
                const nanos pause = (std::min)((std::max)(left, pause_), nanos{1} << 60);
                const bool woken_up = changed_.wait_for(lock, std::chrono::nanoseconds(pause), woken);
                const bool too_soon = !woken_up && clock_.now() < *when;
                pause_ = too_soon ? (std::clamp)(2 * pause, shortest_pause, longest_pause) : 0;
            }
        }
        woken_.store(false);
    }

    void wake() noexcept {
        woken_.store(true);
        if constexpr (waitable_clock<Clock>) {
            clock_.notify();
        } else {
            // Whoever sleeps has either not looked at the mark yet, or is asleep.
            { const std::lock_guard lock(mutex_); }
            changed_.notify_all();
        }
    }

  private:
    static constexpr nanos shortest_pause = 50'000;
    static constexpr nanos longest_pause = 10'000'000;

    Clock& clock_;
    nanos pause_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::atomic<bool> woken_{false};
};

}  // namespace detail

// A timer with a thread of its own, which turns the wheel and hands what is due to the executor. The thread starts with
// the first schedule_*; it sleeps until the next deadline, not until the next tick, and not at all to no purpose. On
// Linux it asks to be woken within a hundredth of a tick (its timer slack; on_thread_start may set another).
//
// Offers all that `timer_queue` does but poll(); see there for the contracts.
// Threads: any. Construction and destruction by one; the destructor may be run by a callback.
template <class Executor = inline_executor, class Clock = std::chrono::steady_clock>
class basic_wheel_timer {
  public:
    using time_point = typename timer_queue<Executor, Clock>::time_point;
    using executor_type = Executor;
    using clock_type = Clock;

    // Errors: as timer_queue. Starts no thread.
    explicit basic_wheel_timer(wheel_options options = {}, Executor executor = Executor(), Clock clock = Clock())
        : shared_(std::make_shared<shared>(std::move(options), std::move(executor), std::move(clock))) {}

    basic_wheel_timer(const basic_wheel_timer&) = delete;
    basic_wheel_timer& operator=(const basic_wheel_timer&) = delete;

    // As stop(), and waits for runs on other threads also when a callback runs it. What is pending is discarded.
    ~basic_wheel_timer() {
        shared_->queue.host_->core().keep_during_runs(shared_);
        shared_->queue.stop_and_discard(true);
        shared_->leave();
    }

    // As timer_queue's. Errors: also std::system_error if the thread cannot be started; nothing is scheduled then.
    template <class Rep, class Period, class F>
    timer_handle schedule_after(std::chrono::duration<Rep, Period> delay, F&& f) {
        return running().schedule_after(delay, std::forward<F>(f));
    }
    template <class ClockOf, class Duration, class F>
    timer_handle schedule_at(std::chrono::time_point<ClockOf, Duration> when, F&& f) {
        return running().schedule_at(when, std::forward<F>(f));
    }
    template <class Rep, class Period, class F>
    timer_handle schedule_every(std::chrono::duration<Rep, Period> period, F&& f, repeat_options options = {}) {
        return running().schedule_every(period, std::forward<F>(f), options);
    }
    template <class Rep, class Period, class F>
    [[nodiscard]] timer_handle try_schedule_after(std::chrono::duration<Rep, Period> delay, F&& f) {
        return running().try_schedule_after(delay, std::forward<F>(f));
    }
    template <class ClockOf, class Duration, class F>
    [[nodiscard]] timer_handle try_schedule_at(std::chrono::time_point<ClockOf, Duration> when, F&& f) {
        return running().try_schedule_at(when, std::forward<F>(f));
    }
    template <class Rep, class Period, class F>
    [[nodiscard]] timer_handle try_schedule_every(std::chrono::duration<Rep, Period> period, F&& f,
                                                  repeat_options options = {}) {
        return running().try_schedule_every(period, std::forward<F>(f), options);
    }

    // As timer_queue's; also ends the thread. From a callback: returns at once, and the thread ends by itself.
    std::size_t stop() {
        const auto alive = shared_;  // captures that are destroyed may own this object
        const std::size_t left = alive->queue.stop();
        alive->join();
        return left;
    }
    template <class Visitor>
        requires std::invocable<Visitor&, leftover_timer&&>
    std::size_t stop(Visitor&& visitor) {
        const auto alive = shared_;
        const std::size_t left = alive->queue.stop(std::forward<Visitor>(visitor));
        alive->join();
        return left;
    }
    [[nodiscard]] bool stopped() const noexcept { return shared_->queue.stopped(); }

    // What the thread sleeps until, as far as is known: for looking, since the thread needs no help.
    [[nodiscard]] std::optional<time_point> next_deadline() const {
        return shared_->queue.deadline_of(shared_->queue.host_->core().next_tick());
    }
    // `look` is called as well when a nearer deadline wakes the thread, on the thread that scheduled it.
    void on_earlier(std::function<void()> look) { shared_->call_when_woken(std::move(look)); }

    [[nodiscard]] detail::unwrapped_t<Clock>& timer_clock() noexcept { return shared_->queue.timer_clock(); }

    [[nodiscard]] timer_stats stats() const noexcept { return shared_->queue.stats(); }
    [[nodiscard]] std::size_t approx_pending() const noexcept { return shared_->queue.approx_pending(); }

  private:
    // Held by the thread too, so that a callback may destroy the timer under which it runs.
    struct shared {
        using clock = detail::unwrapped_t<Clock>;

        shared(wheel_options options, Executor&& executor, Clock&& clock_object)
            : name(options.thread_name), tick(options.tick), on_start(options.on_thread_start),
              queue(std::move(options), std::move(executor), std::move(clock_object)),
              bed(std::make_shared<detail::sleeper<clock>>(queue.timer_clock())) {
            queue.on_earlier([sleeper = bed] { sleeper->wake(); });
        }

        void call_when_woken(std::function<void()> look) {
            queue.on_earlier([sleeper = bed, look = std::move(look)] {
                sleeper->wake();
                if (look) look();
            });
        }

        void start(const std::shared_ptr<shared>& self) {
            const std::lock_guard lock(mutex);
            if (started.load(std::memory_order_relaxed) || queue.stopped()) return;
            thread = std::thread([self] { self->work(); });
            started.store(true, std::memory_order_release);
        }

        void work() noexcept {
            thread_id.store(std::this_thread::get_id());
            detail::name_this_thread(name);
            detail::limit_timer_slack(tick);
            try {
                if (on_start) on_start();
            } catch (...) {
                queue.host_->user_hooks().error({error_kind::hook_failed, std::current_exception(), {}, {}});
            }
            while (!queue.stopped()) {
                queue.poll();
                const auto next = queue.next_deadline();
                if (queue.stopped()) break;
                bed->sleep_until(next);
            }
        }

        [[nodiscard]] bool on_thread() const noexcept { return thread_id.load() == std::this_thread::get_id(); }

        void join() {
            if (on_thread() || queue.host_->core().runs_here()) return;
            wait_for_thread();
        }
        void wait_for_thread() {
            const std::lock_guard lock(mutex);
            if (thread.joinable()) thread.join();
        }
        void leave() {
            if (!on_thread()) return wait_for_thread();
            const std::lock_guard lock(mutex);
            if (thread.joinable()) thread.detach();
        }

        const std::string name;
        const std::chrono::nanoseconds tick;
        const std::function<void()> on_start;
        timer_queue<Executor, Clock> queue;
        const std::shared_ptr<detail::sleeper<clock>> bed;
        std::atomic<bool> started{false};
        std::atomic<std::thread::id> thread_id{};
        std::mutex mutex;  // of the thread object
        std::thread thread;
    };

    timer_queue<Executor, Clock>& running() {
        if (!shared_->started.load(std::memory_order_acquire)) shared_->start(shared_);
        return shared_->queue;
    }

    const std::shared_ptr<shared> shared_;
};

using wheel_timer = basic_wheel_timer<>;

}  // namespace sandglass

#endif  // SANDGLASS_WHEEL_TIMER_HPP
