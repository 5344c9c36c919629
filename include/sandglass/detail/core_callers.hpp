#ifndef SANDGLASS_DETAIL_CORE_CALLERS_HPP
#define SANDGLASS_DETAIL_CORE_CALLERS_HPP

#include <thread>

#include <sandglass/detail/timer_core.hpp>

// What callers do to a timer: schedule, cancel, move, ask. See timer_core.

namespace sandglass::detail {

// ---- cores --------------------------------------------------------------------------------------------------------

// Never destroyed: handles may be used by the destructors of static objects. Holds on to every core, so that a leak
// checker finds them reachable.
struct timer_core::registry {
    std::mutex mutex;
    timer_core* newest = nullptr;
};

inline timer_core::registry& timer_core::all_cores() {
    static registry* const instance = new registry;
    return *instance;
}

inline timer_core& timer_core::acquire(const core_settings& settings, core_host& host) {
    registry& all = all_cores();
    const std::lock_guard lock(all.mutex);
    for (timer_core* core = all.newest; core != nullptr; core = core->next_core_) {
        if (core->in_use_ || !core->is_quiet()) continue;
        core->start(settings, host);
        return *core;
    }
    auto* const core = new timer_core;
    core->next_core_ = all.newest;
    all.newest = core;
    core->start(settings, host);
    return *core;
}

// Whether no call of the former life is still going on: each holds a node, or has not counted yet what it did to one.
inline bool timer_core::is_quiet() const noexcept {
    const counter_sums s = sums();
    return pool_.returned() == pool_.taken() && s.scheduled == s.over();
}

inline void timer_core::start(const core_settings& settings, core_host& host) {
    {
        const std::lock_guard wheel(wheel_mutex_);
        wheel_.emplace(settings.slots, tick_t{-1});  // tick 0, the moment of construction, has not passed yet
        pass_target_ = awake;
    }
    in_use_ = true;
    origin_.store(settings.scale.origin, std::memory_order_relaxed);
    length_.store(settings.scale.length, std::memory_order_relaxed);
    static_now_.store(settings.static_now, std::memory_order_relaxed);
    clock_id_.store(settings.clock_id, std::memory_order_relaxed);
    limit_.store(settings.limit, std::memory_order_relaxed);
    live_.store(0, std::memory_order_relaxed);
    cursor_.store(-1, std::memory_order_relaxed);
    counters_.forget_figures();
    baseline_ = counter_sums{};
    baseline_ = sums();
    sleeps_until_.store(awake, std::memory_order_seq_cst);
    host_.store(&host, std::memory_order_seq_cst);
    pending_.reopen();
}

inline void timer_core::release() noexcept {
    host_.store(nullptr, std::memory_order_seq_cst);
    while (host_users_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
    {
        const std::lock_guard wheel(wheel_mutex_);
        wheel_.reset();
    }
    const std::lock_guard lock(all_cores().mutex);
    in_use_ = false;
}

// A call on a handle may come while the host is going. Pairs with release(): either that sees the count, or this sees
// that the host has gone.
class host_guard {
  public:
    host_guard(std::atomic<core_host*>& host, std::atomic<std::uint32_t>& users) noexcept : users_(users) {
        users_.fetch_add(1, std::memory_order_seq_cst);
        host_ = host.load(std::memory_order_seq_cst);
    }
    ~host_guard() { users_.fetch_sub(1, std::memory_order_release); }
    host_guard(const host_guard&) = delete;
    host_guard& operator=(const host_guard&) = delete;
    [[nodiscard]] core_host* get() const noexcept { return host_; }

  private:
    std::atomic<std::uint32_t>& users_;
    core_host* host_;
};

inline std::optional<nanos> timer_core::now_for_handle() noexcept {
    if (auto* const now = static_now_.load(std::memory_order_relaxed)) return now();
    const host_guard host(host_, host_users_);
    if (host.get() == nullptr) return std::nullopt;
    return host.get()->now_rounded_up();
}

inline void timer_core::wake_host() noexcept {
    const host_guard host(host_, host_users_);
    if (host.get() != nullptr) host.get()->wake();
}

// ---- counting -----------------------------------------------------------------------------------------------------

inline bool timer_core::reserve() noexcept {
    const std::size_t limit = limit_.load(std::memory_order_relaxed);
    if (limit == 0) return true;
    std::size_t live = live_.load(std::memory_order_relaxed);
    do {
        if (live >= limit) return false;
    } while (!live_.compare_exchange_weak(live, live + 1, std::memory_order_relaxed));
    return true;
}

inline void timer_core::unreserve() noexcept {
    if (limit_.load(std::memory_order_relaxed) != 0) live_.fetch_sub(1, std::memory_order_relaxed);
}

inline counter_sums timer_core::sums() const noexcept {
    counter_sums s;
    // Whatever is subtracted is read before what it is subtracted from, so that a sum taken meanwhile shows a timer or a
    // node too many rather than one too few: stop() relies on that, and nothing wraps around below zero.
    s.fired = counters_.sum(&counter_line::fired) - baseline_.fired;
    s.cancelled = counters_.sum(&counter_line::cancelled) - baseline_.cancelled;
    s.discarded = counters_.sum(&counter_line::discarded) - baseline_.discarded;
    s.rejected = counters_.sum(&counter_line::rejected) - baseline_.rejected;
    s.failed = counters_.sum(&counter_line::failed) - baseline_.failed;
    s.slow = counters_.sum(&counter_line::slow) - baseline_.slow;
    s.missed = counters_.sum(&counter_line::missed) - baseline_.missed;
    const std::uint64_t withdrawn = counters_.sum(&counter_line::withdrawn);
    const std::uint64_t returned = pool_.returned();
    const std::uint64_t extensions = counters_.sum(&counter_line::extensions);
    const std::uint64_t extensions_returned = counters_.sum(&counter_line::extensions_returned);
    const std::uint64_t rearmed = counters_.sum(&counter_line::rearmed);
    const std::uint64_t taken = pool_.taken();
    s.scheduled = taken - extensions + rearmed - withdrawn - baseline_.scheduled;
    s.nodes = (taken + extensions_returned) - (returned + extensions);
    return s;
}

// ---- schedule -----------------------------------------------------------------------------------------------------

// The node or nodes of a timer that is being built; undone unless it gets as far as being published.
class timer_core::draft {
  public:
    explicit draft(timer_core& core) noexcept : core_(core) {}
    ~draft() {
        if (published_) return;
        core_.unreserve();
        if (extension_ != nullptr) {
            core_.counters_.add(&counter_line::extensions_returned, 1);
            core_.pool_.give(*extension_);
        }
        if (timer_ != nullptr) {
            core_.counters_.add(&counter_line::withdrawn, 1);
            core_.pool_.give(*timer_);
        }
    }
    draft(const draft&) = delete;
    draft& operator=(const draft&) = delete;

    node& take_timer() { return *(timer_ = &core_.pool_.take()); }
    node& take_extension() {
        extension_ = &core_.pool_.take();
        core_.counters_.add(&counter_line::extensions, 1);
        return *extension_;
    }
    void publish() noexcept { published_ = true; }

  private:
    timer_core& core_;
    node* timer_ = nullptr;
    node* extension_ = nullptr;
    bool published_ = false;
};

template <class F, class Arg>
timer_core::outcome timer_core::arm(Arg&& f, tick_t due, const series_timing* timing, node*& out, word& generation) {
    if (pending_.closed()) return outcome::stopped;
    if (!reserve()) return outcome::limit_reached;
    draft made(*this);
    node& n = made.take_timer();
    word marks = state::pending | state::queued;
    if (timing == nullptr) {
        n.plain.template emplace<F>(std::forward<Arg>(f));
        if constexpr (callable::trivial_to_destroy<F>) marks |= state::trivial;
    } else {
        node& extension = made.take_extension();
        extension.plain.template emplace<F>(std::forward<Arg>(f));
        extension.wanted.store(timing->first, std::memory_order_relaxed);
        n.repeat = {&extension, timing->period, timing->delay};
        marks |= timing->period == 0 ? state::repeats | state::self_paced : state::repeats;
    }
    made.publish();
    n.wanted.store(due, std::memory_order_relaxed);
    const word armed = n.word.load(std::memory_order_relaxed) | marks;  // a free node's word is its generation
    n.word.store(armed, std::memory_order_release);

    const pending_queue::pushed pushed = pending_.push(n);
    if (pushed == pending_queue::pushed::closed) {
        word s = armed;
        if (n.word.compare_exchange_strong(s, state::with_phase(s, state::dead), std::memory_order_acq_rel)) {
            counters_.add(&counter_line::withdrawn, 1);
            unreserve();
            n.body().destroy();
            drop(n, state::queued);
            return outcome::stopped;
        }
        drop(n, state::queued);  // stop() has got hold of it: accepted, and discarded
    } else {
        after_push(pushed, due);
    }
    out = &n;
    generation = state::generation(armed);
    return outcome::scheduled;
}

inline void timer_core::wake_if_asleep_at(tick_t due) noexcept {
    tick_t asleep = sleeps_until_.load(std::memory_order_seq_cst);
    while (due < asleep) {
        // One of several callers wakes the consumer.
        if (sleeps_until_.compare_exchange_weak(asleep, awake, std::memory_order_seq_cst)) return wake_host();
    }
}

inline void timer_core::after_push(pending_queue::pushed pushed, tick_t due) noexcept {
    // The push comes before the read of the sleep, both sequentially consistent; prepare_sleep writes the sleep before
    // it reads the queue. So one of the two sees the other, and no timer is slept through.
    wake_if_asleep_at(due);
    if (pushed == pending_queue::pushed::queued) return;
    // Who completes a batch handles it, and what is left of earlier ones, while it is still in this core's cache. He waits
    // for the wheel, for some microseconds, only if he has outrun those who hold it by far.
    if (pushed == pending_queue::pushed::batch_complete) {
        if (!wheel_mutex_.try_lock()) return;
    } else {
        wheel_mutex_.lock();
    }
    const std::lock_guard wheel(wheel_mutex_, std::adopt_lock);
    drain(lanes::mine);
}

// For a pending node whose `queued` bit the caller has just set; false if stopped, with the bit still set.
//
// While the bit is set others pull the timer forward without a push. They check the sleep after their step on the word;
// here the word is read after the push and before `wanted`. Whichever comes later in the order of all sequentially
// consistent operations sees the earlier tick, or the later sleep. (The node may have gone by then: a wake-up for
// nothing, at worst.)
inline bool timer_core::enqueue(node& n) noexcept {
    const pending_queue::pushed pushed = pending_.push(n);
    if (pushed == pending_queue::pushed::closed) return false;
    static_cast<void>(n.word.load(std::memory_order_seq_cst));
    after_push(pushed, n.tick());
    return true;
}

// Likewise for a node in the wheel whose timer has ended. There is no hurry.
inline void timer_core::enqueue_dead(node& n) noexcept {
    const pending_queue::pushed pushed = pending_.push(n);
    if (pushed == pending_queue::pushed::closed) return drop(n, state::queued);
    after_push(pushed, never_tick);
}

// ---- cancel -------------------------------------------------------------------------------------------------------

inline bool timer_core::cancel(node& n, word generation) noexcept {
    word s = n.word.load(std::memory_order_acquire);
    word next = 0;
    do {
        if (state::generation(s) != generation) return false;
        if (state::phase(s) == state::running && (s & (state::repeats | state::ended)) == state::repeats) {
            next = s | state::ended | state::closing;
        } else if (state::phase(s) != state::pending) {
            return false;
        } else if ((s & state::trivial) != 0) {
            // Nothing to destroy: on to the consumer at once, if it has the node in the wheel.
            next = state::with_phase(s, state::dead) | ((s & state::placed) != 0 ? state::queued : 0);
        } else {
            next = state::with_phase(s, state::dead) | state::closing;
        }
    } while (!n.word.compare_exchange_weak(s, next, std::memory_order_acq_rel, std::memory_order_acquire));

    timer_core& core = of(n);
    // In this order: what has been counted is over, see is_quiet. Somebody else may have released the node by now.
    core.unreserve();
    core.counters_.add(&counter_line::cancelled, 1);
    if (state::phase(s) == state::running) {
        core.let_go(n);  // the captures are left to the run
    } else if ((s & state::trivial) != 0) {
        if (state::releasable(next)) {
            core.release(n);
        } else if ((next & ~s & state::queued) != 0) {
            core.enqueue_dead(n);
        }
    } else {
        n.body().destroy();
        core.let_go(n);
    }
    return true;
}

// Ends `closing`: the captures are gone. A node that is in the wheel goes to the consumer.
inline void timer_core::let_go(node& n) noexcept {
    word s = n.word.load(std::memory_order_relaxed);
    word next = 0;
    do {
        next = (s & ~state::closing) | ((s & state::placed) != 0 ? state::queued : 0);
    } while (!n.word.compare_exchange_weak(s, next, std::memory_order_acq_rel, std::memory_order_relaxed));
    if (state::releasable(next)) {
        release(n);
    } else if ((next & ~s & state::queued) != 0) {
        enqueue_dead(n);
    }
}

inline bool timer_core::cancel_and_wait(node& n, word generation) noexcept {
    const bool cancelled = cancel(n, generation);
    if (!runs_here(n)) of(n).await_run(n, generation);  // else it would wait for itself
    return cancelled;
}

inline void timer_core::await_run(node& n, word generation) noexcept {
    word s = n.word.load(std::memory_order_acquire);
    do {
        if (state::generation(s) != generation || state::phase(s) != state::running) return;
    } while (
        !n.word.compare_exchange_weak(s, s | state::awaited, std::memory_order_acq_rel, std::memory_order_acquire));
    std::unique_lock lock(wait_mutex_);
    run_over_.wait(lock, [&] {
        const word now = n.word.load(std::memory_order_acquire);
        return state::generation(now) != generation || state::phase(now) != state::running;
    });
}

inline void timer_core::await_pass() noexcept {
    std::unique_lock lock(wait_mutex_);
    run_over_.wait(lock, [this] { return !in_pass_.load(std::memory_order_seq_cst); });
}

inline void timer_core::announce_end() noexcept {
    // Whoever waits has either not looked yet, or is asleep.
    { const std::lock_guard lock(wait_mutex_); }
    run_over_.notify_all();
}

// ---- reschedule ---------------------------------------------------------------------------------------------------

inline bool timer_core::reschedule_after(node& n, word generation, nanos delay) noexcept {
    // The clock is read while the node's line is on its way, not after.
    prefetch(&n);
    timer_core& core = of(n);
    const std::optional<nanos> now = core.now_for_handle();
    return now.has_value() && core.reschedule(n, generation, add_saturating(*now, delay), delay);
}

inline bool timer_core::can_move(word s, word generation) noexcept {
    if (state::generation(s) != generation) return false;
    // During a run only what may run again.
    return state::phase(s) == state::pending ||
           (state::phase(s) == state::running && (s & (state::repeats | state::ended)) == state::repeats);
}

inline bool timer_core::reschedule(node& n, word generation, nanos when, nanos delay) noexcept {
    const tick_t tick = scale().at_or_after(when);
    word s = n.word.load(std::memory_order_acquire);
    for (;;) {
        if (!can_move(s, generation)) return false;
        if ((s & state::moving) != 0) {  // somebody else is moving it, and holds this for a few instructions
            std::this_thread::yield();
            s = n.word.load(std::memory_order_acquire);
        } else if (n.word.compare_exchange_weak(s, s | state::moving, std::memory_order_acq_rel,
                                                std::memory_order_acquire)) {
            s |= state::moving;
            break;
        }
    }

    if ((s & state::repeats) != 0) {
        n.repeat.extension->wanted.store(when, std::memory_order_relaxed);
        n.repeat.delay = delay;
    }
    n.wanted.store(tick, std::memory_order_relaxed);

    word next = 0;
    do {
        if (!can_move(s, generation)) {  // cancelled meanwhile
            drop(n, state::moving);
            return false;
        }
        next = s & ~state::moving;
        if (state::phase(s) == state::running || (s & state::handed) != 0) {
            next |= state::moved;
        } else if ((s & state::queued) == 0) {
            // Pushed back, as a rule: the consumer will find that out by itself. Held by nobody: its expiry was dropped
            // because of this move.
            const bool seen =
                (s & state::placed) != 0 && n.will_be_seen_by(tick, cursor_.load(std::memory_order_relaxed));
            if (!seen) next |= state::queued;
        }
    } while (!n.word.compare_exchange_weak(s, next, std::memory_order_seq_cst, std::memory_order_acquire));

    if ((next & ~s & state::queued) != 0) {
        // Stopped: stop() ends what is pending and empties the wheel without our help.
        if (!enqueue(n)) drop(n, state::queued);
        return true;
    }
    if ((next & state::moved) != 0) return true;  // handed or running: the runner queues it
    // In the queue already, but perhaps as one that could wait (see enqueue); or in the wheel, put there under the new
    // tick by a caller who drained the queue, while the consumer slept. As a rule it was pushed back, and this is one
    // comparison.
    wake_if_asleep_at(tick);
    if ((next & state::queued) != 0) return true;
    // The consumer may have put it under another tick between the look and the step. See node::stay.
    s = next;
    while (state::generation(s) == generation && state::phase(s) == state::pending &&
           (s & (state::placed | state::queued)) == state::placed &&
           !n.will_be_seen_by(tick, cursor_.load(std::memory_order_relaxed))) {
        if (n.word.compare_exchange_weak(s, s | state::queued, std::memory_order_acq_rel, std::memory_order_acquire)) {
            if (!enqueue(n)) drop(n, state::queued);
            break;
        }
    }
    return true;
}

// ---- ask ----------------------------------------------------------------------------------------------------------

inline bool timer_core::is_live(const node& n, word generation) noexcept {
    return can_move(n.word.load(std::memory_order_acquire), generation);
}

inline bool timer_core::is_pending(const node& n, word generation) noexcept {
    const word s = n.word.load(std::memory_order_acquire);
    if (!can_move(s, generation)) return false;
    // While it runs, a series is pending; a timer that paces itself only if it has chosen its next run.
    return state::phase(s) == state::pending || (s & state::self_paced) == 0 || (s & state::moved) != 0;
}

inline nanos timer_core::remaining(const node& n, word generation) noexcept {
    if (!is_pending(n, generation)) return 0;
    const tick_t tick = n.wanted.load(std::memory_order_relaxed);
    if (tick == never_tick) return is_pending(n, generation) ? never : 0;
    timer_core& core = of(n);
    const tick_scale ticks = core.scale();
    const std::optional<nanos> now = core.now_for_handle();
    if (!now.has_value() || !is_pending(n, generation)) return 0;
    const nanos left = subtract_saturating(ticks.start_of(tick), *now);
    return left > 0 ? left : 0;
}

// ---- nodes --------------------------------------------------------------------------------------------------------

inline void timer_core::drop(node& n, word holders) noexcept {
    const word left = n.word.fetch_and(~holders, std::memory_order_acq_rel) & ~holders;
    if (state::releasable(left)) release(n);
}

inline void timer_core::release_into(node& n, node_pool::chain& released) noexcept {
    const word s = n.word.load(std::memory_order_relaxed);
    if ((s & state::repeats) != 0) {
        counters_.add(&counter_line::extensions_returned, 1);
        released.push(*n.repeat.extension);
    }
    n.word.store(state::next_generation(s), std::memory_order_release);
    released.push(n);
}

inline void timer_core::release(node& n) noexcept {
    node_pool::chain released;
    release_into(n, released);
    pool_.give(released);
}

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_CORE_CALLERS_HPP
