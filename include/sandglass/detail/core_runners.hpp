#ifndef SANDGLASS_DETAIL_CORE_RUNNERS_HPP
#define SANDGLASS_DETAIL_CORE_RUNNERS_HPP

#include <exception>
#include <utility>

#include <sandglass/context.hpp>
#include <sandglass/detail/timer_core.hpp>

// What the thread does that calls a callable, or declines to. See timer_core.

namespace sandglass::detail {

// From handed to running, if the timer is still to run on account of this expiry: this is where every race about a run
// is decided. Otherwise lets go of the node. A repeating timer is claimed together with the lock of its timing.
inline bool timer_core::begin_run(node& n, word& s) noexcept {
    s = n.word.load(std::memory_order_acquire);
    for (;;) {
        if (state::phase(s) != state::pending) {  // cancelled, or discarded
            drop(n, state::handed);
            return false;
        }
        if ((s & (state::moving | state::moved)) != 0) {
            // Moved after it expired. Whoever is still moving it will queue it; otherwise that is up to us.
            const word queue = (s & state::moving) != 0 ? 0 : state::queued;
            const word next = (s & ~(state::handed | state::moved)) | queue;
            if (!n.word.compare_exchange_weak(s, next, std::memory_order_seq_cst, std::memory_order_acquire)) continue;
            if ((next & ~s & state::queued) != 0) {
                // Stopped: it is pending, so stop() has yet to come by.
                if (!enqueue(n)) drop(n, state::queued);
            } else if ((s & state::moving) == 0) {
                wake_if_asleep_at(n.tick());  // in the queue already. See enqueue.
            }
            return false;
        }
        word next = state::with_phase(s, state::running) & ~state::handed;
        if ((s & state::repeats) != 0) next |= state::moving;
        if (n.word.compare_exchange_weak(s, next, std::memory_order_acq_rel, std::memory_order_acquire)) {
            s = next;
            return true;
        }
    }
}

// Settles when the timer runs next, before it runs, and unlocks the timing: a call that moves it during the run finds
// that already done, and wins. A pause in the time before the next run is made up for by one run.
inline timer_core::occasion timer_core::begin_repetition(node& n, nanos now) noexcept {
    node& extension = *n.repeat.extension;
    occasion present{extension.wanted.load(std::memory_order_relaxed), n.repeat.delay, 0};
    nanos next = never;  // chosen when the run is over
    if (const nanos period = n.repeat.period; period > 0) {
        // Missed are the runs that were due before the present tick began, and are over with this one. (Counted up to
        // `now`, a series whose period is a tick would miss every other run: rounding up makes each almost a tick late,
        // and waking up does the rest.) One that is due just as this tick began will run in the next pass, unless it
        // would then be late for ever.
        const tick_scale ticks = scale();
        const nanos begun = ticks.start_of(ticks.at_or_before(now));
        if (begun > present.scheduled) {
            const nanos behind = subtract_saturating(begun, present.scheduled) - (period > ticks.length ? 1 : 0);
            present.missed = static_cast<std::uint64_t>(behind / period);
        }
        const nanos ahead = multiply_saturating(add_saturating(static_cast<nanos>(present.missed), 1), period);
        next = add_saturating(present.scheduled, ahead);
        n.repeat.delay = period;
    }
    extension.wanted.store(next, std::memory_order_relaxed);
    n.wanted.store(scale().at_or_after(next), std::memory_order_relaxed);
    n.word.fetch_and(~state::moving, std::memory_order_release);
    counters_.add(&counter_line::rearmed, 1);
    if (present.missed != 0) counters_.add(&counter_line::missed, present.missed);
    return present;
}

inline void timer_core::run(node& n) noexcept {
    word s = 0;
    if (!begin_run(n, s)) return;
    const run_scope scope(*this, &n);
    core_host& host = *host_.load(std::memory_order_relaxed);  // outlives what is running
    const nanos now = host.now_rounded_down();
    occasion present{};
    nanos due = 0;  // the tick's time, from which lateness counts: what the library can be blamed for
    if ((s & state::repeats) != 0) {
        present = begin_repetition(n, now);
        const tick_scale ticks = scale();
        due = ticks.start_of(ticks.at_or_after(present.scheduled));
    } else {
        present.scheduled = due = scale().start_of(n.tick());
        unreserve();
    }
    counters_.add(&counter_line::fired, 1);
    counters::raise(counters_.worst_lateness, subtract_saturating(now, due));

    callable& body = n.body();
    const timer_handle handle = handle_access::make(n, state::generation(s));
    timer_context context = handle_access::context(handle, present.scheduled, now, present.delay, present.missed);
    try {
        body.invoke(context);
    } catch (...) {
        counters_.add(&counter_line::failed, 1);
        host.callback_failed(n, state::generation(s), std::current_exception(), body.name(), scope.given_up());
    }
    if (host.times_callbacks() && !scope.given_up() &&
        host.callback_was_slow(n, state::generation(s), now, body.name())) {
        counters_.add(&counter_line::slow, 1);
    }
    if ((s & state::repeats) == 0 || !end_repetition(n, host)) end_run(n);
}

inline void timer_core::refuse(node& n, std::exception_ptr error) noexcept {
    word s = 0;
    if (!begin_run(n, s)) return;
    // Counts as a run that is over at once: stop() waits for the report, so the host is there for it.
    const run_scope scope(*this, &n);
    core_host& host = *host_.load(std::memory_order_relaxed);
    if ((s & state::repeats) != 0) {
        static_cast<void>(begin_repetition(n, host.now_rounded_down()));
    } else {
        unreserve();
    }
    counters_.add(&counter_line::rejected, 1);
    host.rejected(n, state::generation(s), std::move(error), n.body().name());
    if ((s & state::repeats) == 0 || !end_repetition(n, host)) end_run(n);
}

// After a run: back to pending if there is to be another one; true if so. Otherwise marks the timer as ended.
inline bool timer_core::end_repetition(node& n, core_host& host) noexcept {
    word s = n.word.load(std::memory_order_acquire);
    for (;;) {
        if ((s & state::ended) != 0) return false;  // cancelled during the run, and counted there
        const bool chosen = (s & (state::moved | state::moving)) != 0;
        const bool over = n.repeat.period == 0 && !chosen;
        // A stop() that waits for this run will find the timer pending, and hand it to its visitor.
        if (over || (pending_.closed() && (s & state::awaited) == 0)) {
            if (!n.word.compare_exchange_weak(s, s | state::ended, std::memory_order_acq_rel)) continue;
            counters_.add(over ? &counter_line::withdrawn : &counter_line::discarded, 1);
            unreserve();
            return false;
        }
        if (n.repeat.period < 0 && !chosen) {  // fixed delay: the pause begins now
            if (!n.word.compare_exchange_weak(s, s | state::moving, std::memory_order_acq_rel)) continue;
            const nanos next = add_saturating(host.now_rounded_up(), -n.repeat.period);
            n.repeat.delay = -n.repeat.period;
            n.repeat.extension->wanted.store(next, std::memory_order_relaxed);
            n.wanted.store(scale().at_or_after(next), std::memory_order_relaxed);
            constexpr word flip = state::moving | state::moved;
            s = n.word.fetch_xor(flip, std::memory_order_acq_rel) ^ flip;
            continue;
        }
        const word next = (state::with_phase(s, state::pending) & ~state::moved) | state::queued;
        if (!n.word.compare_exchange_weak(s, next, std::memory_order_seq_cst, std::memory_order_acquire)) continue;
        if ((s & state::queued) == 0) {
            if (!enqueue(n)) discard_after_run(n, state::generation(s), state::queued);
        } else {
            wake_if_asleep_at(n.tick());  // in the queue already. See enqueue.
            if (pending_.closed()) discard_after_run(n, state::generation(s), 0);
        }
        if ((s & state::awaited) != 0) announce_end();
        return true;
    }
}

// stop() came between the run and the way back to the queue, and may have passed this node while it was running. What
// nobody waits for is ended here.
inline void timer_core::discard_after_run(node& n, word generation, word mine) noexcept {
    word s = n.word.load(std::memory_order_acquire);
    while (state::generation(s) == generation && state::phase(s) == state::pending && (s & state::awaited) == 0) {
        if (n.word.compare_exchange_weak(s, state::with_phase(s, state::dead) | state::closing,
                                         std::memory_order_acq_rel, std::memory_order_acquire)) {
            counters_.add(&counter_line::discarded, 1);
            unreserve();
            n.body().destroy();
            mine |= state::closing;
            break;
        }
    }
    if (mine != 0) drop(n, mine);
}

inline void timer_core::end_run(node& n) noexcept {
    n.body().destroy();
    constexpr word flip = state::running ^ state::dead;
    const word s = n.word.fetch_xor(flip, std::memory_order_acq_rel) ^ flip;
    if (state::releasable(s)) release(n);
    if ((s & state::awaited) != 0) announce_end();
}

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_CORE_RUNNERS_HPP
