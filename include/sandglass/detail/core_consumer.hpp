#ifndef SANDGLASS_DETAIL_CORE_CONSUMER_HPP
#define SANDGLASS_DETAIL_CORE_CONSUMER_HPP

#include <algorithm>
#include <thread>

#include <sandglass/detail/timer_core.hpp>

// What whoever holds the wheel does: drain the pending queue, take out what is due, sleep, stop. See timer_core.

namespace sandglass::detail {

inline void timer_core::drain(lanes which) noexcept {
    // If stopped, they are empty. The wheel may be gone then.
    if (which == lanes::mine ? pending_.mine_is_empty() : pending_.empty()) return;
    node_pool::chain released;
    const auto look = [this](const node& n) {
        const word s = n.word.load(std::memory_order_relaxed);
        if ((s & state::placed) != 0) {
            prefetch(n.next);
            prefetch(n.prev);
        }
        if (state::phase(s) == state::pending) wheel_->prefetch_slot(n.tick());
    };
    const auto ready = [this](const node& n) {
        if (state::phase(n.word.load(std::memory_order_relaxed)) == state::pending) wheel_->prefetch_last(n.tick());
    };
    const auto handle = [this, &released](node& n) { look_at(n, released); };
    if (which == lanes::mine) {
        // More than one batch, so that a backlog shrinks. It is rarely that long: then the wheel was taken just before, and
        // one long hold costs the others less than four short ones.
        pending_.drain_mine(4 * pending_queue::batch, look, ready, handle);
    } else {
        pending_.drain_all(look, ready, handle);
    }
    if (released.first != nullptr) pool_.give(released);
    publish_figures();
}

// For a timer that was taken out and is not to be handed over after all, since the queue is stopped.
inline void timer_core::decline(node& n) noexcept { drop(n, state::handed); }

// Compares what is wanted of a node from the queue with where it is, and makes it so.
inline void timer_core::look_at(node& n, node_pool::chain& released) noexcept {
    word s = n.word.load(std::memory_order_acquire);
    bool linked = (s & state::placed) != 0;
    for (;;) {
        if (linked) wheel_->erase(n);
        linked = state::phase(s) == state::pending && (s & state::handed) == 0;
        if (linked) {
            const tick_t tick = n.tick();
            insert(n, tick);
            if (!n.word.compare_exchange_strong(s, (s & ~state::queued) | state::placed, std::memory_order_acq_rel,
                                                std::memory_order_acquire)) {
                continue;
            }
            // Pulled forward while it was queued, by somebody who relied on the queue. From the step above on, whoever
            // pulls it forward knows its place.
            if (n.tick() < tick) wheel_->reconsider(n);
            return;
        }
        if (state::phase(s) == state::dead && (s & state::holders & ~(state::queued | state::placed)) == 0) {
            release_into(n, released);  // nobody else is left who could change the word
            return;
        }
        const word left = s & ~(state::queued | state::placed);
        if (n.word.compare_exchange_weak(s, left, std::memory_order_acq_rel, std::memory_order_acquire)) {
            if (state::releasable(left)) release_into(n, released);
            return;
        }
    }
}

inline void timer_core::insert(node& n, tick_t tick) noexcept {
    // In the middle of a pass, whatever is due waits for the next one: a callback that re-arms itself with no delay
    // runs once per pass.
    wheel_->insert(n, tick <= pass_target_ ? wheel_->now() : tick);
}

inline void timer_core::publish_figures() noexcept {
    counters_.in_wheel.store(wheel_->size(), std::memory_order_relaxed);
    counters_.occupied_slots.store(wheel_->occupied_slots(), std::memory_order_relaxed);
    counters_.longest_slot.store(wheel_->longest_slot(), std::memory_order_relaxed);
}

inline bool timer_core::begin_pass(tick_t target) noexcept {
    if (in_pass_.exchange(true, std::memory_order_acquire)) return false;
    sleeps_until_.store(awake, std::memory_order_seq_cst);
    const std::lock_guard wheel(wheel_mutex_);
    if (!pending_.closed()) {
        // Before the pass: what has been due for a while still comes in order.
        drain(lanes::all);
        pass_target_ = target;
        cursor_.store((std::max)(target, wheel_->now()), std::memory_order_relaxed);
    }
    return true;
}

inline std::size_t timer_core::take_due(batch& due, bool& more) noexcept {
    std::size_t count = 0;
    node_pool::chain released;
    const std::lock_guard wheel(wheel_mutex_);
    more = false;
    if (pending_.closed()) return 0;
    const auto hand_out = [&](node& n) {
        constexpr word both = state::placed | state::handed;
        word s = n.word.fetch_xor(both, std::memory_order_acq_rel) ^ both;
        if (state::phase(s) != state::pending) {
            drop(n, state::handed);
        } else if (n.tick() <= (std::min)(wheel_->now(), pass_target_)) {
            due[count++] = &n;
        } else {
            // Pushed back at the last moment. Whoever does that from now on leaves the mark `moved`.
            while (!n.word.compare_exchange_weak(s, (s & ~(state::handed | state::moved)) | state::queued,
                                                 std::memory_order_acq_rel, std::memory_order_acquire)) {}
            if ((s & state::queued) == 0) look_at(n, released);
        }
    };
    wheel_->advance(pass_target_, hand_out, batch_size);
    more = wheel_->pass_under_way();
    if (!more) publish_figures();
    if (released.first != nullptr) pool_.give(released);
    return count;
}

inline void timer_core::end_pass() noexcept {
    {
        const std::lock_guard wheel(wheel_mutex_);
        pass_target_ = awake;
    }
    // Pairs with stop(), which closes the queue before it looks at the mark: one of the two sees the other.
    in_pass_.store(false, std::memory_order_seq_cst);
    if (pending_.closed()) announce_end();
}

inline tick_t timer_core::prepare_sleep() noexcept {
    constexpr int patience = 4;
    const std::lock_guard wheel(wheel_mutex_);
    if (pending_.closed()) return never_tick;
    for (int tries = 0; tries < patience; ++tries) {
        drain(lanes::all);
        const tick_t next = wheel_->next_expiry();
        // Written before the queue is looked at once more. See after_push.
        sleeps_until_.store(next, std::memory_order_seq_cst);
        if (pending_.empty()) return next;
    }
    // Callers are so busy that there is no point in sleeping; and something may have become due meanwhile.
    sleeps_until_.store(awake, std::memory_order_seq_cst);
    return wheel_->now();
}

inline tick_t timer_core::next_tick() noexcept {
    const std::lock_guard wheel(wheel_mutex_);
    if (pending_.closed()) return never_tick;
    drain(lanes::all);
    return wheel_->next_expiry();
}

template <class Claim>
void timer_core::stop(bool wait, Claim&& claim) {
    {
        const std::lock_guard wheel(wheel_mutex_);
        if (!pending_.closed()) {
            // From here on nothing is accepted, nothing enters the wheel, and the consumer does nothing.
            pending_.close([this](node& n) { drop(n, state::queued); });
            wheel_->clear([this](node& n) { drop(n, state::placed); });
            publish_figures();
        }
    }
    wake_if_asleep_at(awake + 1);

    // Everything that was accepted is in memory that the pool knows: in the queue or the wheel until now, in the
    // executor's hands, or running. A node that becomes pending after it was passed here is ended by its runner. The
    // number of nodes in use only falls from here on; a core that was once much fuller need not be searched to its end.
    std::uint64_t in_use = sums().nodes;
    if (in_use != 0) {
        pool_.for_each([&](node& n) {
            if (state::phase(n.word.load(std::memory_order_seq_cst)) == state::free) return false;
            if (end_by_stop(n, wait)) claim(n);
            return --in_use == 0;
        });
    }
    if (wait && !in_pass_here()) await_pass();
}

// True if the timer was pending, and now belongs to the caller.
inline bool timer_core::end_by_stop(node& n, bool wait) noexcept {
    word s = n.word.load(std::memory_order_seq_cst);
    for (;;) {
        if (state::phase(s) == state::running && wait && !runs_here(n)) {
            await_run(n, state::generation(s));
        } else if (state::phase(s) != state::pending) {
            return false;
        } else if ((s & state::moving) != 0) {  // for a few instructions; the visitor reads what is being written
            std::this_thread::yield();
        } else if (n.word.compare_exchange_weak(s, state::with_phase(s, state::dead) | state::closing,
                                                std::memory_order_acq_rel, std::memory_order_acquire)) {
            counters_.add(&counter_line::discarded, 1);
            unreserve();
            return true;
        }
        s = n.word.load(std::memory_order_seq_cst);
    }
}

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_CORE_CONSUMER_HPP
