#ifndef SANDGLASS_DETAIL_PENDING_QUEUE_HPP
#define SANDGLASS_DETAIL_PENDING_QUEUE_HPP

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include <sandglass/detail/node_pool.hpp>

namespace sandglass::detail {

// One lane of the pending queue (see pending_lanes). An intrusive stack that is taken as a whole (R. K. Treiber, "Systems
// Programming: Coping with Parallelism", 1986) and turned round, so it comes out in the order in which it went in. There
// is no pop of a single node, hence no ABA: a push only needs the head to be what it was, not that nothing happened
// meanwhile. What was taken but not yet handled is the backlog.
//
// Threads: push by any; drain and close by who holds the wheel.
class alignas(2 * cache_line) pending_queue {
  public:
    // What the pusher is to do: nothing; handle a batch, if the wheel is free; do so even if he must wait for it.
    enum class pushed { queued, batch_complete, overfull, closed };

    static constexpr std::uint32_t batch = 64;
    // Nodes beyond which callers wait for the consumer rather than outrun it. Memory stays bounded by that.
    static constexpr std::uint32_t overfull_at = 32 * batch;
    static constexpr std::uint32_t all = static_cast<std::uint32_t>(-1);

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
            // Release: the consumer sees the node as it is. Sequentially consistent: see timer_core::after_push.
        } while (!head_.compare_exchange_weak(old, next, std::memory_order_seq_cst, std::memory_order_relaxed));
        const std::uint64_t count = next >> 32;
        if (count % batch != 0) return pushed::queued;
        return count + backlog_size_.load(std::memory_order_relaxed) < overfull_at ? pushed::batch_complete
                                                                                   : pushed::overfull;
    }

    // Hands up to `limit` nodes to `handle(node)`, in the order of the pushes; with `all`, at least those that were
    // pushed before. `handle` may touch the node as it likes. Nodes come in groups, and for a whole group `look(node)`
    // is called first, then `ready(node)`: to ask for cold lines, and for those to which these lead.
    template <class Look, class Ready, class Handle>
    void drain(std::uint32_t limit, Look&& look, Ready&& ready, Handle&& handle) {
        const auto work = [&](std::span<node* const> nodes) {
            for (node* n : nodes) look(*n);
            for (node* n : nodes) ready(*n);
            for (node* n : nodes) handle(*n);
        };
        const std::uint32_t left = work_off(limit, work);
        if (left == 0 || closed() || head_.load(std::memory_order_seq_cst) == 0) return;
        take(head_.exchange(0, std::memory_order_seq_cst), left, work);
    }

    // No push succeeds any more; what had been pushed comes as with drain.
    template <class Handle>
    void close(Handle&& handle) {
        const auto work = [&](std::span<node* const> nodes) {
            for (node* n : nodes) handle(*n);
        };
        const std::uint64_t last = head_.exchange(closed_mark, std::memory_order_seq_cst);
        if (last == closed_mark) return;
        work_off(all, work);
        take(last, all, work);
    }

    void reopen() noexcept { head_.store(0, std::memory_order_seq_cst); }

    [[nodiscard]] bool closed() const noexcept { return head_.load(std::memory_order_seq_cst) == closed_mark; }
    // For who holds the wheel.
    [[nodiscard]] bool empty() const noexcept {
        const std::uint64_t head = head_.load(std::memory_order_seq_cst);
        return backlog_ == 0 && (head == 0 || head == closed_mark);
    }

  private:
    static constexpr std::uint64_t closed_mark = ~std::uint64_t{0};
    using group = std::array<node*, batch>;

    // What was in the stack. As a rule it is one group, and turned round by filling that from its end.
    template <class Work>
    void take(std::uint64_t head, std::uint32_t limit, Work& work) {
        const auto count = static_cast<std::uint32_t>(head >> 32);
        if (count > (std::min)(limit, batch)) {
            turn_round(head);
            work_off(limit, work);
            return;
        }
        group nodes;
        node_pool::lookup known(nodes_);
        auto index = static_cast<std::uint32_t>(head);
        for (std::uint32_t i = count; i-- > 0;) {
            nodes[i] = &known.at(index);
            index = nodes[i]->next_queued.load(std::memory_order_relaxed);
        }
        work(std::span<node* const>(nodes.data(), count));
    }

    // Makes the stack the backlog, which is empty.
    void turn_round(std::uint64_t head) noexcept {
        node_pool::lookup known(nodes_);
        for (auto index = static_cast<std::uint32_t>(head); index != 0;) {
            node& n = known.at(index);
            const std::uint32_t before = n.next_queued.load(std::memory_order_relaxed);
            n.next_queued.store(backlog_, std::memory_order_relaxed);
            backlog_ = index;
            index = before;
        }
        backlog_size_.store(static_cast<std::uint32_t>(head >> 32), std::memory_order_relaxed);
    }

    // Works on the backlog. Returns how many more nodes may be handled.
    template <class Work>
    std::uint32_t work_off(std::uint32_t limit, Work& work) {
        node_pool::lookup known(nodes_);
        while (backlog_ != 0 && limit != 0) {
            group nodes;
            std::uint32_t count = 0;
            for (; backlog_ != 0 && count < (std::min)(limit, batch); ++count) {
                nodes[count] = &known.at(backlog_);
                backlog_ = nodes[count]->next_queued.load(std::memory_order_relaxed);
            }
            limit -= count;
            backlog_size_.store(backlog_size_.load(std::memory_order_relaxed) - count, std::memory_order_relaxed);
            work(std::span<node* const>(nodes.data(), count));
        }
        return limit;
    }

    const node_pool& nodes_;
    std::atomic<std::uint64_t> head_{0};  // number of nodes << 32 | index of the last one
    std::uint32_t backlog_ = 0;           // index of the first one, linked in order
    std::atomic<std::uint32_t> backlog_size_{0};
};

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_PENDING_QUEUE_HPP
