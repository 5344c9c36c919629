#ifndef SANDGLASS_DETAIL_EARLIEST_TREE_HPP
#define SANDGLASS_DETAIL_EARLIEST_TREE_HPP

#include <algorithm>
#include <cstddef>
#include <vector>

#include <sandglass/detail/ticks.hpp>

namespace sandglass::detail {

// Lower bounds of the earliest tick, for groups of 64 slots, groups of 64 such groups, and so on up to one group.
// An insert lowers them on its way up and stops where nothing changes; nothing raises them until somebody asks, so an
// answer may need a few groups to be read again, and is then exact. Threads: one at a time.
class earliest_tree {
  public:
    explicit earliest_tree(std::size_t slots) {
        do {
            slots = (slots + fan_out - 1) / fan_out;
            levels_.emplace_back(slots, never_tick);
        } while (slots > 1);
    }

    // Slot `slot` has got an entry due at `tick`. Cost: O(1) unless it is the earliest of its group.
    void lower(std::size_t slot, tick_t tick) noexcept {
        for (auto& level : levels_) {
            slot /= fan_out;
            if (level[slot] <= tick) return;
            level[slot] = tick;
        }
    }

    // The earliest tick of all slots, exactly what `earliest_of(slot)` says. Cost: 64 reads a level as a rule.
    template <class EarliestOf>
    [[nodiscard]] tick_t find(std::size_t slots, EarliestOf&& earliest_of) noexcept {
        for (;;) {
            const tick_t bound = levels_.back()[0];
            if (bound == never_tick || refresh(levels_.size() - 1, 0, bound, slots, earliest_of) == bound) return bound;
        }
    }

  private:
    static constexpr std::size_t fan_out = 64;

    // Makes the bound of one group true again along the path on which it stands, and returns it.
    template <class EarliestOf>
    tick_t refresh(std::size_t level, std::size_t group, tick_t bound, std::size_t slots,
                   EarliestOf& earliest_of) noexcept {
        const std::size_t first = group * fan_out;
        tick_t lowest = never_tick;
        if (level == 0) {
            const std::size_t last = (std::min)(first + fan_out, slots);
            for (std::size_t slot = first; slot < last; ++slot) lowest = (std::min)(lowest, earliest_of(slot));
        } else {
            auto& below = levels_[level - 1];
            const std::size_t last = (std::min)(first + fan_out, below.size());
            for (std::size_t child = first; child < last; ++child) {
                tick_t value = below[child];
                if (value <= bound && value != never_tick) value = refresh(level - 1, child, value, slots, earliest_of);
                lowest = (std::min)(lowest, value);
            }
        }
        levels_[level][group] = lowest;
        return lowest;
    }

    std::vector<std::vector<tick_t>> levels_;
};

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_EARLIEST_TREE_HPP
