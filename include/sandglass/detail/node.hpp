#ifndef SANDGLASS_DETAIL_NODE_HPP
#define SANDGLASS_DETAIL_NODE_HPP

#include <atomic>
#include <cstdint>
#include <type_traits>

#include <sandglass/detail/callable.hpp>
#include <sandglass/detail/config.hpp>
#include <sandglass/detail/list.hpp>
#include <sandglass/detail/ticks.hpp>

namespace sandglass::detail {

class timer_core;

// One 64-bit word decides every race about a timer: a generation, a phase, and bits that say who holds the node.
//
//   free -> pending -> running -> dead -> free (next generation)
//               \---- cancelled, discarded, refused ----^
//
// A series, and a callable that takes a context, goes from running back to pending.
//
// Invariant: a node goes back to the pool in phase dead, when the last *holder* bit is cleared, by whoever clears it.
// A holder bit is cleared only by who holds it, and none is set in phase dead except by a holder that lets go of
// another one in the same step. So a node is released exactly once, and nobody who still needs it is left.
namespace state {

using word = std::uint64_t;

inline constexpr word phase_mask = 3;
inline constexpr word free = 0;
inline constexpr word pending = 1;
inline constexpr word running = 2;
inline constexpr word dead = 3;

// Holders.
inline constexpr word queued = 1U << 2;   // in the pending queue; whoever sets it pushes the node
inline constexpr word placed = 1U << 3;   // in the wheel; changed by the consumer only
inline constexpr word handed = 1U << 4;   // an expired_timer for it exists
inline constexpr word moving = 1U << 5;   // a lock for `wanted`, held for a few instructions and never over user code
inline constexpr word closing = 1U << 6;  // whoever ended it is still destroying the captures
inline constexpr word holders = queued | placed | handed | moving | closing;

// Marks.
inline constexpr word moved = 1U << 7;     // rescheduled while handed or running: that expiry no longer counts
inline constexpr word ended = 1U << 8;     // running, and no further run will start
inline constexpr word awaited = 1U << 9;   // somebody sleeps until the run is over
inline constexpr word repeats = 1U << 10;  // a series or a callable that may re-arm itself: has an extension
inline constexpr word trivial = 1U << 11;  // nothing to destroy: cancelling is one step

inline constexpr word self_paced = 1U << 12;  // of these: runs again only if it chooses to

inline constexpr unsigned generation_shift = 13;

[[nodiscard]] constexpr word phase(word s) noexcept { return s & phase_mask; }
[[nodiscard]] constexpr word with_phase(word s, word phase) noexcept { return (s & ~phase_mask) | phase; }
[[nodiscard]] constexpr word generation(word s) noexcept { return s >> generation_shift; }
[[nodiscard]] constexpr bool releasable(word s) noexcept { return phase(s) == dead && (s & holders) == 0; }
[[nodiscard]] constexpr word next_generation(word s) noexcept {
    return ((s >> generation_shift) + 1) << generation_shift | free;
}

}  // namespace state

static_assert(64 - state::generation_shift >= 48, "a handle must not come to match a later timer by wrapping around");

// A timer: one cache line, in memory that stays a node for ever (see node_pool), so that a handle however old may look
// at `word`. The links and the place are the consumer's (whoever holds the wheel); `wanted` may be written by who holds
// `moving`, or who has not published the node yet; the rest belongs to who has the timer: its scheduler, the thread
// that runs it, or the one that ended it.
struct alignas(cache_line) node : list_hook {
    // A series, or a callable that may re-arm itself, keeps its timing here and its callable in the extension, a second
    // node, whose `wanted` is the exact time of the next run in ns.
    struct repetition {
        node* extension;
        nanos period;  // 0: paces itself; negative: fixed delay, and the period is the absolute value
        nanos delay;   // from the call that scheduled the next run to that run
    };

    std::atomic<state::word> word{0};
    std::atomic<tick_t> wanted{0};        // the tick on which the timer is to fire
    std::atomic<std::uint32_t> place{0};  // low bits of the tick under which it stands in the wheel; 0: unknown
    std::atomic<std::uint32_t> next_queued{0};
    union {
        callable plain;
        repetition repeat;
    };

    node() noexcept : repeat{} {}

    [[nodiscard]] callable& body() noexcept {
        return (word.load(std::memory_order_relaxed) & state::repeats) != 0 ? repeat.extension->plain : plain;
    }

    // What hashed_wheel asks of an entry. The wheel reads the wanted tick itself, so a timer that was pushed back is
    // found to be later when the cursor comes to its place, and whoever pushed it back need not touch the wheel.
    [[nodiscard]] tick_t tick() const noexcept { return wanted.load(std::memory_order_relaxed); }
    void enter(tick_t tick, tick_t cursor) noexcept { place.store(place_of(tick, cursor), std::memory_order_relaxed); }

    // Says where the consumer will come to this node, to whoever pulls the timer forward. A Dekker pair with
    // timer_core::reschedule: here the place is stored, then the word is written, then `wanted` is read again; there
    // `wanted` is stored, then the word is written, then the place is read. The two writes of the word are ordered, and
    // the later one acquires what was stored before the earlier one.
    void stay(tick_t tick, tick_t cursor) noexcept {
        const std::uint32_t low = place_of(tick, cursor);
        if (place.load(std::memory_order_relaxed) == low) return;  // if unknown: whoever moves it asks for a look
        place.store(low, std::memory_order_relaxed);
        word.fetch_or(0, std::memory_order_acq_rel);
    }

    // Whether the consumer, who has come as far as `cursor`, will look at this node at or before `tick` by itself. May
    // answer no without need, never yes without right: a place that was passed meanwhile looks far away.
    [[nodiscard]] bool will_be_seen_by(tick_t tick, tick_t cursor) const noexcept {
        const std::uint32_t low = place.load(std::memory_order_relaxed);
        if (low == 0 || tick < cursor) return false;
        const std::uint32_t ahead = low - static_cast<std::uint32_t>(cursor);
        return static_cast<std::uint64_t>(tick) - static_cast<std::uint64_t>(cursor) >= ahead;
    }

  private:
    // Far ticks have no place in 32 bits. One too late for a tick whose low bits are 0, since 0 stands for "unknown".
    static constexpr std::uint32_t place_of(tick_t tick, tick_t cursor) noexcept {
        if (static_cast<std::uint64_t>(tick) - static_cast<std::uint64_t>(cursor) >= std::uint64_t{1} << 31) return 0;
        const auto low = static_cast<std::uint32_t>(static_cast<std::uint64_t>(tick));
        return low == 0 ? 1 : low;
    }
};

static_assert(sizeof(node) == cache_line, "a timer is one cache line");
static_assert(std::atomic<state::word>::is_always_lock_free);

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_NODE_HPP
