#ifndef SANDGLASS_DETAIL_TIMER_CORE_HPP
#define SANDGLASS_DETAIL_TIMER_CORE_HPP

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include <sandglass/detail/config.hpp>
#include <sandglass/detail/counters.hpp>
#include <sandglass/detail/node.hpp>
#include <sandglass/detail/node_pool.hpp>
#include <sandglass/detail/pending_lanes.hpp>
#include <sandglass/detail/ticks.hpp>
#include <sandglass/detail/wheel_lock.hpp>
#include <sandglass/errors.hpp>
#include <sandglass/hashed_wheel.hpp>

namespace sandglass::detail {

// What a core needs of the timer_queue it serves. Alive until the core is stopped and its last run is over.
class core_host {
  public:
    using word = state::word;
    [[nodiscard]] virtual nanos now_rounded_down() noexcept = 0;
    [[nodiscard]] virtual nanos now_rounded_up() noexcept = 0;
    virtual void wake() noexcept = 0;
    // `given_up`: the owner has gone during the run.
    virtual void callback_failed(node& n, word generation, std::exception_ptr error, std::string_view name,
                                 bool given_up) noexcept = 0;
    virtual void rejected(node& n, word generation, std::exception_ptr error, std::string_view name) noexcept = 0;
    // Whether the callback that began at `began` has been slow; asked only if the host times callbacks.
    virtual bool callback_was_slow(node& n, word generation, nanos began, std::string_view name) noexcept = 0;
    [[nodiscard]] virtual bool times_callbacks() const noexcept = 0;

  protected:
    ~core_host() = default;
};

struct core_settings {
    tick_scale scale;
    std::size_t slots = 0;
    std::size_t limit = 0;            // 0: none
    const void* clock_id = nullptr;   // one address per clock type
    nanos (*static_now)() = nullptr;  // rounded up; null for a clock that is an object
};

// When a series, or a timer that paces itself, runs.
struct series_timing {
    nanos first = 0;   // exact time of the first run
    nanos period = 0;  // see node::repetition
    nanos delay = 0;
};

// What this thread is in the midst of, innermost first: a run of a timer, or a pass (without a timer).
struct run_frame {
    const timer_core* core;
    const node* timer;
    run_frame* outer;
    std::shared_ptr<void> keep{};  // the host, if its owner gave it up during this run
};
inline constinit thread_local run_frame* innermost_run = nullptr;

class run_scope {
  public:
    explicit run_scope(const timer_core& core, const node* timer = nullptr) noexcept
        : frame_{&core, timer, innermost_run} {
        innermost_run = &frame_;
    }
    ~run_scope() { innermost_run = frame_.outer; }
    run_scope(const run_scope&) = delete;
    run_scope& operator=(const run_scope&) = delete;

    // The owner of the timer is gone, and perhaps all that it was made of.
    [[nodiscard]] bool given_up() const noexcept { return frame_.keep != nullptr; }

  private:
    run_frame frame_;
};

// Everything about timers that does not depend on the executor's and the clock's type: nodes, pending queue, wheel, the
// protocol between them, counters. Like its nodes, a core lives for ever: a handle that is used while, or after, its
// timer is destroyed still finds memory of the right kind. Cores whose nodes have all come back are used again.
//
// Roles: *callers* schedule, cancel and move, from any thread; the *consumer* is whoever holds `wheel_mutex_`; *runners*
// call callables. No user code runs while a lock is held, `moving` included.
class timer_core {
  public:
    using word = state::word;
    static constexpr tick_t awake = (std::numeric_limits<tick_t>::min)();

    // Errors: std::bad_alloc.
    [[nodiscard]] static timer_core& acquire(const core_settings& settings, core_host& host);
    // The host is going. Waits for calls that are just reading its clock or waking it; a few instructions.
    void release() noexcept;

    [[nodiscard]] static timer_core& of(const node& n) noexcept { return *chunk_of(n).core; }

    // ---- callers ----------------------------------------------------------------------------------------------

    enum class outcome { scheduled, limit_reached, stopped };

    // Schedules `F(f)`. Sets `out` and `generation` if scheduled; `f` is untouched unless it got as far as building it.
    template <class F, class Arg>
    outcome arm(Arg&& f, tick_t due, const series_timing* timing, node*& out, word& generation);

    static bool cancel(node& n, word generation) noexcept;
    static bool cancel_and_wait(node& n, word generation) noexcept;
    static bool reschedule_after(node& n, word generation, nanos delay) noexcept;
    bool reschedule(node& n, word generation, nanos when, nanos delay) noexcept;
    // Whether reschedule might succeed; and whether a run lies ahead.
    [[nodiscard]] static bool is_live(const node& n, word generation) noexcept;
    [[nodiscard]] static bool is_pending(const node& n, word generation) noexcept;
    [[nodiscard]] static nanos remaining(const node& n, word generation) noexcept;

    // The clock of the host, if there still is one. Cost: a clock read, and for a clock object two locked instructions.
    [[nodiscard]] std::optional<nanos> now_for_handle() noexcept;
    [[nodiscard]] const void* clock_id() const noexcept { return clock_id_.load(std::memory_order_relaxed); }

    // ---- consumer ---------------------------------------------------------------------------------------------

    static constexpr std::size_t batch_size = 64;
    using batch = std::array<node*, batch_size>;

    // Begins a pass at tick `target`; false if somebody else is in one.
    bool begin_pass(tick_t target) noexcept;
    // Takes up to `batch_size` timers that are due out of the wheel, marked as handed. `more`: the pass is not over.
    std::size_t take_due(batch& due, bool& more) noexcept;
    void decline(node& n) noexcept;
    void end_pass() noexcept;

    // Looks at the pending queue, and answers the tick until which nothing will be due, as far as is known now; a tick
    // that has passed if callers are too busy for the question. From then on a caller who schedules for an earlier tick
    // wakes the host.
    [[nodiscard]] tick_t prepare_sleep() noexcept;
    // The same for onlookers: nobody is going to sleep.
    [[nodiscard]] tick_t next_tick() noexcept;

    [[nodiscard]] bool stopped() const noexcept { return pending_.closed(); }

    // Ends every timer that has not begun to run; `claim(node)` gets each, with its callable still in place, and calls
    // `let_go` for it sooner or later. With `wait`, returns when no run is in progress, but for runs of this thread.
    template <class Claim>
    void stop(bool wait, Claim&& claim);
    void let_go(node& n) noexcept;

    // ---- runners ----------------------------------------------------------------------------------------------

    // For the holder of an expired_timer: calls the callable unless the timer was cancelled or moved meanwhile.
    void run(node& n) noexcept;
    // The executor did not want it.
    void refuse(node& n, std::exception_ptr error) noexcept;

    // Whether this thread is in a callback of this core, or in a pass.
    [[nodiscard]] bool runs_here() const noexcept {
        for (const run_frame* f = innermost_run; f != nullptr; f = f->outer) {
            if (f->core == this) return true;
        }
        return false;
    }
    [[nodiscard]] bool in_pass_here() const noexcept {
        for (const run_frame* f = innermost_run; f != nullptr; f = f->outer) {
            if (f->core == this && f->timer == nullptr) return true;
        }
        return false;
    }
    [[nodiscard]] static bool runs_here(const node& n) noexcept {
        for (const run_frame* f = innermost_run; f != nullptr; f = f->outer) {
            if (f->timer == &n) return true;
        }
        return false;
    }
    // Lets the runs of this thread keep the host, which its owner is giving up within them.
    void keep_during_runs(const std::shared_ptr<void>& host) const noexcept {
        for (run_frame* f = innermost_run; f != nullptr; f = f->outer) {
            if (f->core == this) f->keep = host;
        }
    }

    // ---- figures ----------------------------------------------------------------------------------------------

    [[nodiscard]] tick_scale scale() const noexcept {
        return {origin_.load(std::memory_order_relaxed), length_.load(std::memory_order_relaxed)};
    }
    [[nodiscard]] counter_sums sums() const noexcept;
    [[nodiscard]] counters& figures() noexcept { return counters_; }
    [[nodiscard]] const counters& figures() const noexcept { return counters_; }
    [[nodiscard]] std::size_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t slots() const noexcept { return wheel_->slots(); }

  private:
    timer_core() : pool_(*this), pending_(pool_) {}
    ~timer_core() = default;

    struct registry;
    class draft;
    static registry& all_cores();
    void start(const core_settings& settings, core_host& host);
    [[nodiscard]] bool is_quiet() const noexcept;

    [[nodiscard]] bool reserve() noexcept;
    void unreserve() noexcept;

    bool enqueue(node& n) noexcept;
    void enqueue_dead(node& n) noexcept;
    [[nodiscard]] static bool can_move(word s, word generation) noexcept;
    void after_push(pending_queue::pushed pushed, tick_t due) noexcept;
    void wake_if_asleep_at(tick_t due) noexcept;
    void wake_host() noexcept;

    bool end_by_stop(node& n, bool wait) noexcept;
    enum class lanes { mine, all };
    void drain(lanes which) noexcept;
    void look_at(node& n, node_pool::chain& released) noexcept;
    void insert(node& n, tick_t tick) noexcept;
    void publish_figures() noexcept;

    bool begin_run(node& n, word& s) noexcept;
    struct occasion {
        nanos scheduled;
        nanos delay;
        std::uint64_t missed;
    };
    occasion begin_repetition(node& n, nanos now) noexcept;
    bool end_repetition(node& n, core_host& host) noexcept;
    void discard_after_run(node& n, word generation, word mine) noexcept;
    void end_run(node& n) noexcept;
    void await_run(node& n, word generation) noexcept;
    void await_pass() noexcept;
    void announce_end() noexcept;

    void drop(node& n, word holders) noexcept;
    void release(node& n) noexcept;
    void release_into(node& n, node_pool::chain& released) noexcept;

    node_pool pool_;
    pending_lanes pending_;
    // Until which tick the consumer sleeps; `awake`: it will look at the queue before it sleeps.
    alignas(cache_line) std::atomic<tick_t> sleeps_until_{awake};
    std::atomic<tick_t> cursor_{0};  // never ahead of an unseen place in the wheel, see node::will_be_seen_by
    std::atomic<nanos> origin_{0};
    std::atomic<nanos> length_{1};
    std::atomic<nanos (*)()> static_now_{nullptr};
    std::atomic<const void*> clock_id_{nullptr};
    std::atomic<std::size_t> limit_{0};
    alignas(cache_line) std::atomic<std::size_t> live_{0};  // counted only under a limit
    std::atomic<core_host*> host_{nullptr};
    std::atomic<std::uint32_t> host_users_{0};

    wheel_lock wheel_mutex_;  // callers only ever try it
    std::optional<hashed_wheel<node>> wheel_;
    tick_t pass_target_ = awake;  // of the pass under way, else `awake`
    std::atomic<bool> in_pass_{false};

    std::mutex wait_mutex_;
    std::condition_variable run_over_;

    counters counters_;
    counter_sums baseline_;

    timer_core* next_core_ = nullptr;  // guarded by the registry's mutex, as is in_use_
    bool in_use_ = false;
};

}  // namespace sandglass::detail

#include <sandglass/detail/core_callers.hpp>
#include <sandglass/detail/core_consumer.hpp>

#endif  // SANDGLASS_DETAIL_TIMER_CORE_HPP
