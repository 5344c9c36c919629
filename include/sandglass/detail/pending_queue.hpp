#ifndef SANDGLASS_DETAIL_PENDING_QUEUE_HPP
#define SANDGLASS_DETAIL_PENDING_QUEUE_HPP

#include <atomic>
#include <cstdint>

#include <sandglass/detail/node_pool.hpp>

namespace sandglass::detail {

// Everything that the consumer must look at: new timers, cancelled ones, ones pulled forward. An intrusive stack that
// is taken as a whole (R. K. Treiber, "Systems Programming: Coping with Parallelism", 1986) and turned round, so it
// comes out in the order in which it went in. There is no pop of a single node, hence no ABA: a push only needs the head
// to be what it was, not that nothing happened meanwhile.
//
// Threads: push by any; take_all and close by who holds the wheel.
class pending_queue {
  public:
    enum class pushed { queued, batch_complete, closed };

    explicit pending_queue(const node_pool& nodes) noexcept : nodes_(nodes) {}

    // Who pushes has set the node's `queued` bit. The node may be gone as soon as this returns. Cost: one CAS.
    pushed push(node& n) noexcept {
        const std::uint32_t index = index_of(n);
        std::uint64_t old = head_.load(std::memory_order_relaxed);
        std::uint64_t next = 0;
        do {
            if (old == closed_mark) return pushed::closed;
            n.next_queued.store(static_cast<std::uint32_t>(old), std::memory_order_relaxed);
            next = ((old >> 32) + 1) << 32 | index;
            // Release: the consumer sees the node as it is. Sequentially consistent: see timer_core::enqueue.
        } while (!head_.compare_exchange_weak(old, next, std::memory_order_seq_cst, std::memory_order_relaxed));
        return (next >> 32) % node_pool::batch == 0 ? pushed::batch_complete : pushed::queued;
    }

    // Takes all, and calls `handle(node)` for each in the order of the pushes. `handle` may touch the node as it
    // likes. `prepare(node)` is called some nodes ahead, for prefetching.
    template <class Prepare, class Handle>
    void take_all(Prepare&& prepare, Handle&& handle) {
        if (empty()) return;
        take(head_.exchange(0, std::memory_order_seq_cst), prepare, handle);
    }

    // No push succeeds any more; what had been pushed comes as with take_all.
    template <class Handle>
    void close(Handle&& handle) {
        const std::uint64_t last = head_.exchange(closed_mark, std::memory_order_seq_cst);
        if (last != closed_mark) take(last, [](node&) {}, handle);
    }

    void reopen() noexcept { head_.store(0, std::memory_order_seq_cst); }

    [[nodiscard]] bool closed() const noexcept { return head_.load(std::memory_order_seq_cst) == closed_mark; }
    [[nodiscard]] bool empty() const noexcept {
        const std::uint64_t head = head_.load(std::memory_order_seq_cst);
        return head == 0 || head == closed_mark;
    }

  private:
    static constexpr std::uint64_t closed_mark = ~std::uint64_t{0};
    static constexpr std::uint32_t ahead = 8;

    template <class Prepare, class Handle>
    void take(std::uint64_t head, Prepare&& prepare, Handle&& handle) {
        std::uint32_t first = 0;
        for (auto index = static_cast<std::uint32_t>(head); index != 0;) {
            node& n = nodes_.at(index);
            const std::uint32_t before = n.next_queued.load(std::memory_order_relaxed);
            n.next_queued.store(first, std::memory_order_relaxed);
            first = index;
            index = before;
        }
        std::uint32_t scout = first;
        for (std::uint32_t i = 0; i < ahead && scout != 0; ++i) scout = prepare_one(scout, prepare);
        while (first != 0) {
            if (scout != 0) scout = prepare_one(scout, prepare);
            node& n = nodes_.at(first);
            first = n.next_queued.load(std::memory_order_relaxed);
            handle(n);
        }
    }

    template <class Prepare>
    std::uint32_t prepare_one(std::uint32_t index, Prepare& prepare) {
        node& n = nodes_.at(index);
        prepare(n);
        return n.next_queued.load(std::memory_order_relaxed);
    }

    const node_pool& nodes_;
    alignas(cache_line) std::atomic<std::uint64_t> head_{0};  // number of nodes << 32 | index of the last one
};

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_PENDING_QUEUE_HPP
