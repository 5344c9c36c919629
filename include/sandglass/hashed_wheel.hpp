#ifndef SANDGLASS_HASHED_WHEEL_HPP
#define SANDGLASS_HASHED_WHEEL_HPP

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include <sandglass/detail/config.hpp>
#include <sandglass/detail/earliest_tree.hpp>
#include <sandglass/detail/list.hpp>
#include <sandglass/detail/slot_bitmap.hpp>
#include <sandglass/detail/ticks.hpp>

namespace sandglass {

template <class Entry>
class hashed_wheel;

// Base class of whatever is to be put into a `hashed_wheel`: a connection that is its own timer.
//
//     struct connection : sandglass::wheel_hook { int socket; };
//
// An entry must stay where it is, and alive, while it is linked. A copy of an entry is not linked.
class wheel_hook : public detail::list_hook {
  public:
    wheel_hook() = default;
    wheel_hook(const wheel_hook& other) noexcept : detail::list_hook(), tick_(other.tick_) {}
    wheel_hook& operator=(const wheel_hook& other) noexcept {
        if (!linked()) tick_ = other.tick_;
        return *this;
    }

    // The tick on which the entry is due, or was due when it fired.
    [[nodiscard]] tick_t tick() const noexcept { return tick_; }

  private:
    template <class>
    friend class hashed_wheel;

    void tick(tick_t tick) noexcept { tick_ = tick; }
    void enter(tick_t tick, tick_t) noexcept { tick_ = place_ = tick; }
    void stay(tick_t tick, tick_t) noexcept {
        if (place_ != tick) place_ = tick;  // a pass writes nothing to what stays as it was
    }

    tick_t tick_ = 0;
    tick_t place_ = 0;  // the tick under which it stands in the wheel: its own, or an earlier one
};

// A single-level hashed timing wheel: scheme 6 of G. Varghese and T. Lauck, "Hashed and Hierarchical Timing Wheels"
// (SOSP 1987, section 6.1.2), with the rounds kept relative to the slot's own pass counter.
//
// A slot holds the entries whose tick is congruent to it modulo the number of slots, as an intrusive doubly-linked list.
// The high bits of an entry's tick are the pass of its slot in which it is due, so the remaining rounds need no
// counting down: a pass writes nothing to the entries that stay, and each slot knows the earliest of its ticks, so a
// slot in which nothing is due is skipped without looking at its entries.
//
// Passive: reads no clock, starts no thread, takes no lock, and allocates in its constructor only. Time comes in as the
// argument of `advance`. Ticks are 64 bits wide and may start anywhere; `never_tick` is never due.
//
// Threads: one at a time.
template <class Entry>
class hashed_wheel {
  public:
    static constexpr std::size_t max_slots = std::size_t{1} << 24;
    static constexpr std::size_t no_limit = static_cast<std::size_t>(-1);

    // `slots` is rounded up to a power of two. Ticks up to and including `start` count as passed.
    // Errors: std::invalid_argument unless 1 <= slots <= max_slots; std::bad_alloc. Memory: 32 bytes a slot.
    explicit hashed_wheel(std::size_t slots, tick_t start = 0)
        : mask_(checked(slots) - 1), slots_(std::make_unique<slot[]>(mask_ + 1)), occupied_(mask_ + 1),
          earliest_(mask_ + 1), now_((std::min)(start, never_tick - 1)) {}

    hashed_wheel(const hashed_wheel&) = delete;
    hashed_wheel& operator=(const hashed_wheel&) = delete;
    // Entries that are still linked are left as they are and must not be touched through the wheel again.
    ~hashed_wheel() = default;

    // Schedules an entry that is in no wheel for `tick`. A tick that has passed is due in the next pass.
    // Cost: O(1); the slot and the last entry of the slot are written.
    void insert(Entry& entry, tick_t tick) noexcept {
        SANDGLASS_ASSERT(!entry.linked());
        entry.enter(tick, now_);
        place(entry, tick);
        ++size_;
    }

    // Takes an entry out, also one that would fire later in the pass that is under way. Cost: O(1).
    void erase(Entry& entry) noexcept {
        SANDGLASS_ASSERT(entry.linked());
        unlink(entry);
        --size_;
    }

    // Moves an entry to another tick, as a rule to a later one, and then without touching its neighbours: the wheel
    // notices when the cursor comes to where the entry stands. Where it then comes among the other entries of its tick is
    // not specified; within a pass, an entry that was inserted as overdue and then postponed waits for the next pass.
    // Cost: O(1), one store. A tick that has passed, or is before the one under which the entry stands, moves it at once.
    void postpone(Entry& entry, tick_t tick) noexcept {
        if (tick >= entry.tick() || (tick >= entry.place_ && tick > now_)) {
            entry.tick(tick);
        } else {
            erase(entry);
            insert(entry, tick);
        }
    }

    // Looks again where a linked entry belongs whose tick was changed from outside. Cost: O(1).
    void reconsider(Entry& entry) noexcept {
        unlink(entry);
        place(entry, settle(entry));
    }

    // One pass: fires what was already overdue, then every entry due up to and including `to`, in the order of their
    // ticks and, within a tick, in the order in which they were inserted. `fire(entry)` is called after the entry has
    // been taken out; `now()` is the entry's tick meanwhile, or a later one if it was overdue. It may insert, erase and
    // postpone entries, this one too.
    // What it inserts for a tick that is still ahead and not beyond `to` fires in this pass, the rest later.
    //
    // After `limit` entries the pass pauses; the next call goes on where it paused. If `fire` throws, likewise.
    // Returns the number of entries fired. Must not be called by `fire`. If `to` is before `now()`, only what is overdue
    // at `to` fires, and `now()` stays.
    // Cost: what is due, plus the other entries of slots where something is due; not the length of the gap.
    template <class Fire>
    std::size_t advance(tick_t to, Fire&& fire, std::size_t limit = no_limit) {
        std::size_t fired = 0;
        if (!pass_under_way_) {
            firing_.splice_back(overdue_);
            pass_under_way_ = true;
        }
        for (;;) {
            while (!firing_.empty()) {
                Entry& entry = *static_cast<Entry*>(firing_.front());
                detail::prefetch(entry.next);
                if (entry.tick() > now_) {  // postponed since it was placed
                    reconsider(entry);
                    continue;
                }
                if (entry.tick() > to) {  // time has gone back to before this entry
                    entry.unlink();
                    overdue_.push_back(entry);
                    continue;
                }
                if (fired == limit) return fired;
                entry.unlink();
                --size_;
                ++fired;
                fire(entry);
            }
            if (next_ > to || next_ == never_tick) break;
            collect(next_);
            next_ = find_next();
        }
        now_ = (std::max)(now_, (std::min)(to, never_tick - 1));
        pass_under_way_ = false;
        if (next_ > warmed_ && ticks_ahead(next_) <= soon) warm_up();
        return fired;
    }

    // Whether a pass has paused and not been brought to its end.
    [[nodiscard]] bool pass_under_way() const noexcept { return pass_under_way_; }

    // The tick to which the cursor has come. Everything up to it has fired, unless a pass has paused there.
    [[nodiscard]] tick_t now() const noexcept { return now_; }

    // The tick of the earliest entry; `now() + 1` if something is already overdue; `never_tick` if there is nothing.
    // After an erase or a postponement it may be too early, but never too late. Cost: O(1).
    [[nodiscard]] tick_t next_expiry() const noexcept {
        return overdue_.empty() && firing_.empty() ? next_ : (std::min)(next_, now_ + 1);
    }

    // How many more times the cursor will pass over the entry's slot before the pass in which the entry fires.
    [[nodiscard]] std::uint64_t remaining_rounds(const Entry& entry) const noexcept {
        return entry.tick() <= now_ ? 0 : (ticks_ahead(entry.tick()) - 1) / slots();
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t slots() const noexcept { return mask_ + 1; }
    [[nodiscard]] std::size_t occupied_slots() const noexcept { return occupied_.count(); }
    // The most entries of a slot of mixed rounds, as the cursor found it. (One that is due as a whole is not counted.)
    [[nodiscard]] std::size_t longest_slot() const noexcept { return longest_slot_; }

    // Takes every entry out and hands it to `drop(entry)`, in no particular order. Cost: O(slots / 64 + entries).
    template <class Drop>
    void clear(Drop&& drop) {
        firing_.splice_back(overdue_);
        firing_.splice_back(never_);
        for (std::size_t i = occupied_.find_from(0); i != detail::slot_bitmap::none; i = occupied_.find_from(i + 1)) {
            firing_.splice_back(slots_[i].entries);
            slots_[i].forget();
            occupied_.clear(i);
        }
        next_ = never_tick;
        while (!firing_.empty()) {
            Entry& entry = *static_cast<Entry*>(firing_.front());
            entry.unlink();
            --size_;
            drop(entry);
        }
        pass_under_way_ = false;
    }

    // For callers that know which entries they are about to insert: ask for the lines that `insert` will write, the
    // slot's and, once that has arrived, the last entry's.
    void prefetch_slot(tick_t tick) const noexcept { detail::prefetch(&slots_[index_of(tick)]); }
    void prefetch_last(tick_t tick) const noexcept { detail::prefetch(slots_[index_of(tick)].entries.back()); }

  private:
    // See warm_up: how far ahead, how many lists at a time, how many entries in all.
    static constexpr std::uint64_t soon = 64;
    static constexpr std::size_t most_at_once = 16;
    static constexpr std::size_t most_entries = 2048;

    struct slot {
        detail::intrusive_list entries;
        tick_t earliest = never_tick;  // of the ticks under which entries were placed here: never too late
        tick_t latest = (std::numeric_limits<tick_t>::min)();

        void forget() noexcept {
            earliest = never_tick;
            latest = (std::numeric_limits<tick_t>::min)();
        }
        void include(tick_t tick) noexcept {
            earliest = (std::min)(earliest, tick);
            latest = (std::max)(latest, tick);
        }
    };

    static std::size_t checked(std::size_t slots) {
        if (slots == 0 || slots > max_slots) {
            detail::throw_invalid("slots is " + std::to_string(slots) + "; allowed is 1 to " +
                                  std::to_string(max_slots));
        }
        return std::bit_ceil(slots);
    }

    [[nodiscard]] std::size_t index_of(tick_t tick) const noexcept { return static_cast<std::size_t>(tick) & mask_; }

    // Unsigned, since the difference of two 64-bit ticks may need all 64 bits.
    [[nodiscard]] std::uint64_t ticks_ahead(tick_t tick) const noexcept {
        return static_cast<std::uint64_t>(tick) - static_cast<std::uint64_t>(now_);
    }

    // Tells the entry where it will stand, and looks again: an entry whose tick other threads may change can thus be
    // sure that whoever moves it forward afterwards knows where it stands.
    tick_t settle(Entry& entry) const noexcept {
        for (;;) {
            const tick_t tick = entry.tick();
            entry.stay(tick, now_);
            if (entry.tick() >= tick) return tick;
        }
    }

    void place(Entry& entry, tick_t tick) noexcept {
        if (tick <= now_) {
            overdue_.push_back(entry);
            return;
        }
        if (tick == never_tick) {
            never_.push_back(entry);
            return;
        }
        const std::size_t index = index_of(tick);
        slot& target = slots_[index];
        if (target.entries.empty()) occupied_.set(index);
        target.entries.push_back(entry);
        target.latest = (std::max)(target.latest, tick);
        if (tick < target.earliest) {
            target.earliest = tick;
            earliest_.lower(index, tick);
            next_ = (std::min)(next_, tick);
        }
    }

    void unlink(Entry& entry) noexcept {
        detail::list_hook* const before = entry.prev;
        const bool was_alone = before == entry.next;
        entry.unlink();
        if (!was_alone) return;
        // The sentinel that is left belongs to a slot, unless it is that of the overdue or of the firing list.
        const auto offset = reinterpret_cast<std::uintptr_t>(before) - reinterpret_cast<std::uintptr_t>(slots_.get());
        if (offset < slots() * sizeof(slot)) {
            const std::size_t index = offset / sizeof(slot);
            slots_[index].forget();
            occupied_.clear(index);
        }
    }

    // The cursor has come to `tick`: moves what is due in its slot to the firing list.
    void collect(tick_t tick) noexcept {
        now_ = tick;
        const std::size_t index = index_of(tick);
        slot& current = slots_[index];
        std::size_t seen = 0;
        if (current.latest <= tick) {  // all of them, so none needs to be looked at here
            firing_.splice_back(current.entries);
            current.forget();
            occupied_.clear(index);
        } else {
            detail::list_hook* hook = current.entries.front();
            current.forget();
            while (hook != current.entries.sentinel()) {
                Entry& entry = *static_cast<Entry*>(hook);
                hook = hook->next;
                ++seen;
                const tick_t due = entry.tick() <= tick ? tick : settle(entry);
                if (due <= tick) {
                    entry.unlink();
                    firing_.push_back(entry);
                } else if (index_of(due) == index) {
                    current.include(due);
                } else {  // postponed since it was placed
                    entry.unlink();
                    place(entry, due);
                }
            }
            if (current.entries.empty()) occupied_.clear(index);
        }
        longest_slot_ = (std::max)(longest_slot_, seen);
    }

    // Brings what the next few passes will look at into the cache. A list is a chain of cache misses, each of which
    // only tells where the next one is; but the lists of several slots do not depend on each other, nor do the two ends
    // of one. Walked side by side, their misses overlap: a quarter of the time.
    void warm_up() noexcept {
        struct walk {
            const detail::list_hook* front;
            const detail::list_hook* back;
        };
        // Of long lists few, so that those that are begun come to their end.
        const std::size_t mean = size_ / ((std::max)(occupied_.count(), std::size_t{1})) + 1;
        const std::size_t at_once = (std::clamp)(most_entries / mean, std::size_t{2}, most_at_once);
        std::array<walk, most_at_once> walks;
        std::size_t count = 0;
        for (tick_t tick = next_; count < at_once && ticks_ahead(tick) <= soon && tick != never_tick; ++tick) {
            const slot& s = slots_[index_of(tick)];
            if (s.earliest <= tick && !s.entries.empty()) walks[count++] = {s.entries.front(), s.entries.back()};
            warmed_ = tick;
        }
        for (std::size_t left = most_entries / 2; count != 0 && left >= count; left -= count) {
            for (std::size_t i = 0; i < count;) {
                walk& w = walks[i];
                const detail::list_hook* const next = w.front->next;
                if (w.front == w.back || next == w.back) {
                    w = walks[--count];
                } else {
                    w = {next, w.back->prev};
                    detail::prefetch(w.front);
                    detail::prefetch(w.back);
                    ++i;
                }
            }
        }
    }

    // The next tick on which something is due. Cost: the next few occupied slots as a rule, else see earliest_tree.
    [[nodiscard]] tick_t find_next() noexcept {
        constexpr int patience = 16;
        const std::size_t start = index_of(now_ + 1);
        std::size_t from = start;
        bool wrapped = false;
        tick_t lowest = never_tick;
        for (int looked_at = 0; looked_at < patience; ++looked_at) {
            std::size_t index = occupied_.find_from(from);
            if (index == detail::slot_bitmap::none && !wrapped) {
                wrapped = true;
                index = occupied_.find_from(0);
            }
            if (index == detail::slot_bitmap::none || (wrapped && index >= start)) return lowest;  // has seen them all
            const tick_t earliest = slots_[index].earliest;
            const std::uint64_t distance = ((index - start) & mask_) + 1;
            // Due when the cursor comes next: every slot farther on comes later, and every slot before was not due.
            if (ticks_ahead(earliest) == distance) return earliest;
            lowest = (std::min)(lowest, earliest);
            from = index + 1;
        }
        return earliest_.find(slots(), [this](std::size_t index) { return slots_[index].earliest; });
    }

    std::size_t mask_;
    std::unique_ptr<slot[]> slots_;
    detail::slot_bitmap occupied_;
    detail::earliest_tree earliest_;
    detail::intrusive_list overdue_;  // placed under a tick that had passed: for the next pass
    detail::intrusive_list firing_;   // to fire in the pass that is under way
    detail::intrusive_list never_;    // in no slot: no pass needs to look at them
    tick_t now_;
    tick_t next_ = never_tick;                              // lower bound of the tick of everything in the slots
    tick_t warmed_ = (std::numeric_limits<tick_t>::min)();  // what is due up to here has been brought into the cache
    std::size_t size_ = 0;
    std::size_t longest_slot_ = 0;
    bool pass_under_way_ = false;
};

}  // namespace sandglass

#endif  // SANDGLASS_HASHED_WHEEL_HPP
