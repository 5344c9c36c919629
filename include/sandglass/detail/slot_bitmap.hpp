#ifndef SANDGLASS_DETAIL_SLOT_BITMAP_HPP
#define SANDGLASS_DETAIL_SLOT_BITMAP_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sandglass::detail {

// One bit a slot, and above it one bit a word, so that the next occupied slot of a mostly empty wheel is found by a few
// counts of trailing zeros. Threads: one at a time.
class slot_bitmap {
  public:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    explicit slot_bitmap(std::size_t bits) : words_((bits + 63) / 64, 0), summary_((words_.size() + 63) / 64, 0) {}

    void set(std::size_t bit) noexcept {
        std::uint64_t& word = words_[bit / 64];
        const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
        count_ += (word & mask) == 0 ? 1U : 0U;
        word |= mask;
        summary_[bit / 4096] |= std::uint64_t{1} << (bit / 64 % 64);
    }

    void clear(std::size_t bit) noexcept {
        std::uint64_t& word = words_[bit / 64];
        const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
        count_ -= (word & mask) != 0 ? 1U : 0U;
        word &= ~mask;
        if (word == 0) summary_[bit / 4096] &= ~(std::uint64_t{1} << (bit / 64 % 64));
    }

    [[nodiscard]] bool test(std::size_t bit) const noexcept { return (words_[bit / 64] >> (bit % 64) & 1U) != 0; }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    // The first set bit at or after `from`, or `none`. Cost: O(bits / 4096) at worst, two words as a rule.
    [[nodiscard]] std::size_t find_from(std::size_t from) const noexcept {
        std::size_t word = from / 64;
        if (word >= words_.size()) return none;
        if (const std::uint64_t rest = words_[word] >> (from % 64); rest != 0) {
            return from + static_cast<std::size_t>(std::countr_zero(rest));
        }
        ++word;
        std::size_t group = word / 64;
        if (group >= summary_.size()) return none;
        std::uint64_t candidates = summary_[group] >> (word % 64) << (word % 64);
        while (candidates == 0) {
            if (++group == summary_.size()) return none;
            candidates = summary_[group];
        }
        word = group * 64 + static_cast<std::size_t>(std::countr_zero(candidates));
        return word * 64 + static_cast<std::size_t>(std::countr_zero(words_[word]));
    }

  private:
    std::vector<std::uint64_t> words_;
    std::vector<std::uint64_t> summary_;
    std::size_t count_ = 0;
};

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_SLOT_BITMAP_HPP
