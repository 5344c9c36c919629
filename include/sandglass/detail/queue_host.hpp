#ifndef SANDGLASS_DETAIL_QUEUE_HOST_HPP
#define SANDGLASS_DETAIL_QUEUE_HOST_HPP

#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include <sandglass/clock.hpp>
#include <sandglass/executor.hpp>
#include <sandglass/options.hpp>
#include <sandglass/stats.hpp>

namespace sandglass::detail {

// The hooks of a timer, in the form in which the core calls them.
class hooks {
  public:
    explicit hooks(const wheel_options& options)
        : on_error_(options.on_error), on_slow_(options.on_slow), slow_callback_(options.slow_callback.count()),
          slow_tick_(options.slow_tick.count()) {}

    void error(const timer_error& error) const noexcept {
        try {
            if (on_error_) {
                on_error_(error);
            } else {
                print(error);
            }
        } catch (...) {  // a hook that throws has been told what there is to tell
        }
    }

    static void print_if_possible(const timer_error& error) noexcept {
        try {
            print(error);
        } catch (...) {  // nowhere to tell it
        }
    }

    // Whether `took` is more than allowed; tells on_slow if so.
    bool slow_callback(nanos took, timer_handle timer, std::string_view name) const noexcept {
        if (took <= slow_callback_) return false;
        slow({slow_kind::callback, std::chrono::nanoseconds(took), timer, name});
        return true;
    }
    void tick_took(nanos took) const noexcept {
        if (slow_tick_ > 0 && took > slow_tick_) slow({slow_kind::tick, std::chrono::nanoseconds(took), {}, {}});
    }
    [[nodiscard]] bool times_callbacks() const noexcept { return slow_callback_ > 0; }

  private:
    void slow(const slow_event& event) const noexcept {
        try {
            if (on_slow_) on_slow_(event);
        } catch (...) {}
    }

    static void print(const timer_error& error) {
        const char* what = "not a std::exception";
        const char* const verb = error.kind == error_kind::callback_failed ? "threw"
                                 : error.kind == error_kind::rejected      ? "was rejected by its executor"
                                                                           : "has a hook or an executor that threw";
        const auto line = [&](const char* reason) {
            std::fprintf(stderr, "sandglass: %s%.*s%s %s: %s\n", error.name.empty() ? "a timer" : "timer '",
                         static_cast<int>(error.name.size()), error.name.data(), error.name.empty() ? "" : "'", verb,
                         reason);
        };
        if (!error.exception) return line("the task was dropped");
        try {
            std::rethrow_exception(error.exception);
        } catch (const std::exception& e) {
            line(e.what());
        } catch (...) {
            line(what);
        }
    }

    std::function<void(const timer_error&)> on_error_;
    std::function<void(const slow_event&)> on_slow_;
    nanos slow_callback_;
    nanos slow_tick_;
};

template <class Clock>
using time_point_of = std::remove_cvref_t<decltype(std::declval<unwrapped_t<Clock>&>().now())>;

// A clock without state has the same time everywhere, so a handle can read it without asking for the timer.
template <class Clock>
inline constexpr bool is_static_clock = std::is_empty_v<Clock> && requires { Clock::now(); };

template <class Clock>
nanos static_now() {
    return to_nanos<rounding::up>(Clock::now().time_since_epoch(), "the clock's time");
}

// What a timer_queue owns that the core does not know the type of. Held by the timer_queue, by a poll in progress, and
// by runs during which the timer_queue is destroyed.
template <class Executor, class Clock>
class queue_host final : public core_host {
  public:
    queue_host(const wheel_options& options, Executor&& executor, Clock&& clock)
        : executor_(std::move(executor)), clock_(std::move(clock)), hooks_(options),
          core_(timer_core::acquire(settings(options), *this)) {}
    ~queue_host() { core_.release(); }
    queue_host(const queue_host&) = delete;
    queue_host& operator=(const queue_host&) = delete;

    [[nodiscard]] timer_core& core() noexcept { return core_; }
    [[nodiscard]] unwrapped_t<Clock>& clock() noexcept { return unwrap(clock_); }
    [[nodiscard]] const hooks& user_hooks() const noexcept { return hooks_; }

    nanos now_rounded_down() noexcept override { return now<rounding::down>(); }
    nanos now_rounded_up() noexcept override { return now<rounding::up>(); }

    template <rounding Direction>
    [[nodiscard]] nanos now() {
        return to_nanos<Direction>(unwrap(clock_).now().time_since_epoch(), "the clock's time");
    }

    void on_earlier(std::function<void()> hook) {
        auto shared = std::make_shared<const std::function<void()>>(std::move(hook));
        const std::lock_guard lock(wake_mutex_);
        on_earlier_ = std::move(shared);
    }
    void wake() noexcept override {
        std::shared_ptr<const std::function<void()>> hook;
        {
            const std::lock_guard lock(wake_mutex_);
            hook = on_earlier_;
        }
        if (hook == nullptr || !*hook) return;
        try {
            (*hook)();
        } catch (...) {
            hooks_.error({error_kind::hook_failed, std::current_exception(), {}, {}});
        }
    }

    std::size_t poll() {
        const nanos began = now<rounding::down>();
        if (!core_.begin_pass(core_.scale().at_or_before(began))) return 0;
        std::size_t total = 0;
        {
            const run_scope scope(core_);
            timer_core::batch due;
            for (bool more = true; more;) {
                const std::size_t count = core_.take_due(due, more);
                for (std::size_t i = 0; i < count; ++i) {
                    if (core_.stopped()) {
                        // Executor, clock and hooks may be gone: stop() returns to a callback without waiting.
                        core_.decline(*due[i]);
                    } else {
                        hand_over_to_executor(*due[i]);
                        ++total;
                    }
                }
            }
            if (total != 0 && !core_.stopped()) {
                const nanos took = subtract_saturating(now<rounding::down>(), began);
                core_.figures().last_tick.store(took, std::memory_order_relaxed);
                counters::raise(core_.figures().longest_tick, took);
                hooks_.tick_took(took);
            }
        }
        core_.end_pass();
        return total;
    }

  private:
    void hand_over_to_executor(node& n) noexcept {
        std::exception_ptr error;
        hand_over present{&n, innermost_hand_over};
        innermost_hand_over = &present;
        {
            expired_timer task = token_access::make(core_, n);
            try {
                execute(unwrap(executor_), std::move(task));
            } catch (...) {
                error = std::current_exception();
            }
        }
        innermost_hand_over = present.outer;
        if (present.dropped) {
            core_.refuse(n, std::move(error));
        } else if (error) {
            hooks_.error({error_kind::hook_failed, std::move(error), {}, {}});
        }
    }

    void callback_failed(node& n, word generation, std::exception_ptr error, std::string_view name,
                         bool given_up) noexcept override {
        const timer_error what{error_kind::callback_failed, std::move(error), handle_access::make(n, generation), name};
        if (given_up) return hooks::print_if_possible(what);
        hooks_.error(what);
    }
    void rejected(node& n, word generation, std::exception_ptr error, std::string_view name) noexcept override {
        hooks_.error({error_kind::rejected, std::move(error), handle_access::make(n, generation), name});
    }
    bool callback_was_slow(node& n, word generation, nanos began, std::string_view name) noexcept override {
        const nanos took = subtract_saturating(now_rounded_down(), began);
        return hooks_.slow_callback(took, handle_access::make(n, generation), name);
    }
    bool times_callbacks() const noexcept override { return hooks_.times_callbacks(); }

    [[nodiscard]] core_settings settings(const wheel_options& options) {
        core_settings s;
        s.scale = {now<rounding::down>(), options.tick.count()};
        s.slots = options.slots;
        s.limit = options.max_pending;
        s.clock_id = &clock_identity<typename time_point_of<Clock>::clock>;
        if constexpr (is_static_clock<Clock>) s.static_now = &static_now<Clock>;
        return s;
    }

    Executor executor_;
    Clock clock_;
    hooks hooks_;
    std::mutex wake_mutex_;
    std::shared_ptr<const std::function<void()>> on_earlier_;
    timer_core& core_;
};

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_QUEUE_HOST_HPP
