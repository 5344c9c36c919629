#ifndef SANDGLASS_DETAIL_PENDING_LANES_HPP
#define SANDGLASS_DETAIL_PENDING_LANES_HPP

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>

#include <sandglass/detail/pending_queue.hpp>
#include <sandglass/detail/thread_slot.hpp>

namespace sandglass::detail {

// Everything that the consumer must look at: new timers, cancelled ones, ones pulled forward. A thread pushes into a lane
// of its own and handles the batches that it completes itself, so that nodes stay in the cache of the thread that uses
// them. (With one queue for all, two producers were slower than one: each drained what the other had pushed.) What one
// thread pushes comes out in the order in which it went in; there is no order between threads.
//
// Threads: push by any; drain and close by who holds the wheel.
class pending_lanes {
  public:
    using pushed = pending_queue::pushed;
    static constexpr unsigned lanes = 16;

    explicit pending_lanes(const node_pool& nodes) noexcept
        : pending_lanes(nodes, std::make_integer_sequence<unsigned, lanes>{}) {}

    // See pending_queue. The lane is marked as used before the push, both sequentially consistent: whoever reads the
    // marks too early to see this one comes before the push as well.
    pushed push(node& n) noexcept {
        const unsigned lane = mine();
        const std::uint32_t mark = std::uint32_t{1} << lane;
        if ((used_.load(std::memory_order_relaxed) & mark) == 0) used_.fetch_or(mark, std::memory_order_seq_cst);
        return lanes_[lane].push(n);
    }

    // As pending_queue's: the calling thread's own lane; all lanes, everything that was pushed before.
    template <class Look, class Ready, class Handle>
    void drain_mine(std::uint32_t limit, Look&& look, Ready&& ready, Handle&& handle) {
        lanes_[mine()].drain(limit, look, ready, handle);
    }
    template <class Look, class Ready, class Handle>
    void drain_all(Look&& look, Ready&& ready, Handle&& handle) {
        for_each_used([&](pending_queue& lane) { lane.drain(pending_queue::all, look, ready, handle); });
    }

    // No push succeeds any more; what had been pushed comes to `handle(node)`. Pushes that come while it closes one lane
    // after the other succeed or fail; those that succeed are handled.
    template <class Handle>
    void close(Handle&& handle) {
        closed_.store(true, std::memory_order_seq_cst);
        for (pending_queue& lane : lanes_) lane.close(handle);
    }
    void reopen() noexcept {
        for (pending_queue& lane : lanes_) lane.reopen();
        closed_.store(false, std::memory_order_seq_cst);
    }
    [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_seq_cst); }

    // For who holds the wheel.
    [[nodiscard]] bool empty() const noexcept {
        for (std::uint32_t left = used_.load(std::memory_order_seq_cst); left != 0; left &= left - 1) {
            if (!lanes_[static_cast<unsigned>(std::countr_zero(left))].empty()) return false;
        }
        return true;
    }
    [[nodiscard]] bool mine_is_empty() const noexcept { return lanes_[mine()].empty(); }

  private:
    template <unsigned... Lane>
    pending_lanes(const node_pool& nodes, std::integer_sequence<unsigned, Lane...>) noexcept
        : lanes_{((void)Lane, pending_queue(nodes))...} {}

    static unsigned mine() noexcept { return thread_slot::mine() % lanes; }

    template <class Visit>
    void for_each_used(Visit&& visit) {
        for (std::uint32_t left = used_.load(std::memory_order_seq_cst); left != 0; left &= left - 1) {
            visit(lanes_[static_cast<unsigned>(std::countr_zero(left))]);
        }
    }

    std::array<pending_queue, lanes> lanes_;
    std::atomic<std::uint32_t> used_{0};  // one bit a lane; written rarely, read by every push
    std::atomic<bool> closed_{false};
};

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_PENDING_LANES_HPP
