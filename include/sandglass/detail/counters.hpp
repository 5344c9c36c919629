#ifndef SANDGLASS_DETAIL_COUNTERS_HPP
#define SANDGLASS_DETAIL_COUNTERS_HPP

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <sandglass/detail/config.hpp>
#include <sandglass/detail/thread_slot.hpp>

namespace sandglass::detail {

// What the threads of one slot have counted. A sum is exact when nobody is in a call.
struct alignas(2 * cache_line) counter_line {
    using value = std::atomic<std::uint64_t>;
    std::atomic<const void*> owner{nullptr};  // see thread_slot
    value rearmed{0};    // further runs of a series, and possible ones of a timer that paces itself
    value withdrawn{0};  // of those, and of timers that were being built: the ones that came to nothing
    value fired{0};
    value cancelled{0};
    value discarded{0};
    value rejected{0};
    value failed{0};
    value slow{0};
    value missed{0};
    value extensions{0};
    value extensions_returned{0};
};

struct counter_sums {
    std::uint64_t scheduled = 0;
    std::uint64_t fired = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t discarded = 0;
    std::uint64_t rejected = 0;
    std::uint64_t failed = 0;
    std::uint64_t slow = 0;
    std::uint64_t missed = 0;
    std::uint64_t nodes = 0;  // timers whose node is not back in the pool

    [[nodiscard]] std::uint64_t over() const noexcept { return fired + cancelled + discarded + rejected; }
    // Never "negative", though the sums were not taken at one moment.
    [[nodiscard]] std::uint64_t pending() const noexcept { return scheduled > over() ? scheduled - over() : 0; }
};

// Threads: any. Cost: adding is a load and a store on a line that only this thread writes.
class counters {
  public:
    void add(counter_line::value counter_line::* what, std::uint64_t more) noexcept {
        const unsigned slot = thread_slot::mine();
        if (slot < thread_slot::exclusive && thread_slot::owns(lines_[slot].owner)) {
            counter_line::value& mine = lines_[slot].*what;
            mine.store(mine.load(std::memory_order_relaxed) + more, std::memory_order_release);
        } else {
            (lines_[thread_slot::shared_instead_of(slot)].*what).fetch_add(more, std::memory_order_release);
        }
    }
    [[nodiscard]] std::uint64_t sum(counter_line::value counter_line::* what) const noexcept {
        std::uint64_t total = 0;
        for (const counter_line& line : lines_) total += (line.*what).load(std::memory_order_acquire);
        return total;
    }

    // Written by the consumer or, the lateness, by runners.
    std::atomic<std::uint64_t> in_wheel{0};
    std::atomic<std::uint64_t> occupied_slots{0};
    std::atomic<std::uint64_t> longest_slot{0};
    std::atomic<std::int64_t> last_tick{0};
    std::atomic<std::int64_t> longest_tick{0};
    std::atomic<std::int64_t> worst_lateness{0};

    static void raise(std::atomic<std::int64_t>& highest, std::int64_t value) noexcept {
        std::int64_t old = highest.load(std::memory_order_relaxed);
        while (old < value && !highest.compare_exchange_weak(old, value, std::memory_order_relaxed)) {}
    }

    void forget_figures() noexcept {
        for (auto* figure : {&in_wheel, &occupied_slots, &longest_slot}) figure->store(0, std::memory_order_relaxed);
        for (auto* figure : {&last_tick, &longest_tick, &worst_lateness}) figure->store(0, std::memory_order_relaxed);
    }

  private:
    std::array<counter_line, thread_slot::all> lines_{};
};

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_COUNTERS_HPP
