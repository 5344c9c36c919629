#ifndef SANDGLASS_DETAIL_NODE_POOL_HPP
#define SANDGLASS_DETAIL_NODE_POOL_HPP

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>

#include <sandglass/detail/config.hpp>
#include <sandglass/detail/node.hpp>
#include <sandglass/detail/pages.hpp>
#include <sandglass/detail/spin_lock.hpp>
#include <sandglass/detail/thread_slot.hpp>

namespace sandglass::detail {

// 256 KiB of nodes, aligned to their size, so that a node finds its core, and its own index, by its address alone. The
// first node's place holds the header, hence index 0 is no node.
inline constexpr std::size_t chunk_bytes = std::size_t{1} << 18;
inline constexpr std::uint32_t chunk_nodes = chunk_bytes / sizeof(node);

struct alignas(cache_line) chunk_header {
    timer_core* core;
    std::uint32_t first_index;                   // of the header's own place
    std::uint32_t batches_given_out = 0;         // guarded by the depot's lock
    std::atomic<std::uint64_t> batches_made{0};  // one bit for each 64 places that hold nodes by now
};
static_assert(sizeof(chunk_header) <= sizeof(node) && chunk_nodes == 64 * 64);

[[nodiscard]] inline chunk_header& chunk_of(const node& n) noexcept {
    return *reinterpret_cast<chunk_header*>(reinterpret_cast<std::uintptr_t>(&n) & ~(chunk_bytes - 1));
}

[[nodiscard]] inline std::uint32_t index_of(const node& n) noexcept {
    const chunk_header& chunk = chunk_of(n);
    return chunk.first_index + static_cast<std::uint32_t>(&n - reinterpret_cast<const node*>(&chunk));
}

// Nodes for one core. Memory, once taken, stays a node for ever, since a handle may be looked at for ever; so the pool
// is bounded by the peak of live timers, and is never destroyed.
//
// Threads: any. A thread works on a stripe of its own where it can, and takes from and gives to the shared depot in
// batches. Free nodes come back last in, first out, because the last one is still in somebody's cache.
class node_pool {
  public:
    static constexpr std::uint32_t batch = 64;

    explicit node_pool(timer_core& core) noexcept : core_(core) {}
    node_pool(const node_pool&) = delete;
    node_pool& operator=(const node_pool&) = delete;

    // A list of free nodes, linked by `next`.
    struct chain {
        node* first = nullptr;
        node* last = nullptr;
        std::uint32_t count = 0;

        void push(node& n) noexcept {
            n.next = first;
            if (first == nullptr) last = &n;
            first = &n;
            ++count;
        }
        node* pop() noexcept {
            node* const n = first;
            first = static_cast<node*>(n->next);
            --count;
            return n;
        }
        // All of `other` before those that are here.
        void push_all(const chain& other) noexcept {
            if (other.first == nullptr) return;
            other.last->next = first;
            if (first == nullptr) last = other.last;
            first = other.first;
            count += other.count;
        }
    };

    // Cost: the thread's own line, no locked instruction; once in 64 calls the depot's lock; an allocation when the number of
    // live timers is higher than ever. Errors: std::bad_alloc, and nothing has changed.
    [[nodiscard]] node& take() {
        const stripe_lock mine(stripes_);
        if (mine->free.first == nullptr) refill(mine->free);
        node& n = *mine->free.pop();
        if (mine->free.first != nullptr) prefetch(mine->free.first);
        count(mine->taken, 1);
        n.next = nullptr;
        return n;
    }

    // Gives back nodes whose generation has been advanced.
    void give(chain nodes) noexcept {
        const stripe_lock mine(stripes_);
        count(mine->returned, nodes.count);
        mine->free.push_all(nodes);
        while (mine->free.count >= 3 * batch) {
            chain surplus;
            while (surplus.count < batch) surplus.push(*mine->free.pop());
            const std::lock_guard depot(depot_);
            // The first node of a batch links the batches.
            surplus.first->prev = full_batches_;
            full_batches_ = surplus.first;
        }
    }

    void give(node& n) noexcept {
        chain one;
        one.push(n);
        give(one);
    }

    // How many nodes were ever taken and given back. Exact when nobody is in a call.
    [[nodiscard]] std::uint64_t taken() const noexcept {
        std::uint64_t sum = 0;
        for (const stripe& s : stripes_) sum += s.taken.load(std::memory_order_acquire);
        return sum;
    }
    [[nodiscard]] std::uint64_t returned() const noexcept {
        std::uint64_t sum = 0;
        for (const stripe& s : stripes_) sum += s.returned.load(std::memory_order_acquire);
        return sum;
    }

    // The node of an index. Cost: two loads.
    [[nodiscard]] node& at(std::uint32_t index) const noexcept {
        return reinterpret_cast<node*>(
            directory_at(index / chunk_nodes).load(std::memory_order_acquire))[index % chunk_nodes];
    }

    // For who looks up many nodes one after another: most are in the same chunk as the one before.
    class lookup {
      public:
        explicit lookup(const node_pool& pool) noexcept : pool_(pool) {}
        [[nodiscard]] node& at(std::uint32_t index) noexcept {
            const std::uint32_t chunk = index / chunk_nodes;
            if (chunk != chunk_) {
                chunk_ = chunk;
                nodes_ = reinterpret_cast<node*>(pool_.directory_at(chunk).load(std::memory_order_acquire));
            }
            return nodes_[index % chunk_nodes];
        }

      private:
        const node_pool& pool_;
        std::uint32_t chunk_ = static_cast<std::uint32_t>(-1);
        node* nodes_ = nullptr;
    };

    // Calls `visit(node)` for every node that was ever handed out and became known to the caller, until one answers
    // that it was the last of interest.
    template <class Visit>
    void for_each(Visit&& visit) const {
        const std::uint32_t chunks = chunks_.load(std::memory_order_acquire);
        for (std::uint32_t c = 0; c < chunks; ++c) {
            chunk_header* const chunk = directory_at(c).load(std::memory_order_acquire);
            const std::uint64_t made = chunk->batches_made.load(std::memory_order_acquire);
            for (std::uint32_t b = 0; b < chunk_nodes / batch; ++b) {
                if ((made >> b & 1U) == 0) continue;
                for (std::uint32_t i = first_of(b); i < (b + 1) * batch; ++i) {
                    if (visit(reinterpret_cast<node*>(chunk)[i])) return;
                }
            }
        }
    }

  private:
    struct alignas(2 * cache_line) stripe {
        std::atomic<const void*> owner{nullptr};
        spin_lock lock;  // for who does not own it
        chain free;
        std::atomic<std::uint64_t> taken{0};
        std::atomic<std::uint64_t> returned{0};
    };
    using stripe_array = std::array<stripe, thread_slot::all>;

    // This thread's own stripe, or a shared one, locked.
    class stripe_lock {
      public:
        explicit stripe_lock(stripe_array& stripes) noexcept : stripe_(&stripes[thread_slot::mine()]) {
            if (stripe_ < &stripes[thread_slot::exclusive] && thread_slot::owns(stripe_->owner)) return;
            stripe_ = &stripes[thread_slot::shared_instead_of(static_cast<unsigned>(stripe_ - stripes.data()))];
            stripe_->lock.lock();
            locked_ = true;
        }
        ~stripe_lock() {
            if (locked_) stripe_->lock.unlock();
        }
        stripe_lock(const stripe_lock&) = delete;
        stripe_lock& operator=(const stripe_lock&) = delete;
        stripe* operator->() const noexcept { return stripe_; }

      private:
        stripe* stripe_;
        bool locked_ = false;
    };

    // How many batches, of a page each, the system is asked for at a time: few enough to keep the one call that does so
    // well below 0.1 ms.
    static constexpr std::uint32_t batches_ahead = 8;

    static void count(std::atomic<std::uint64_t>& counter, std::uint64_t more) noexcept {
        counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_release);
    }

    // The place of the header is no node.
    static constexpr std::uint32_t first_of(std::uint32_t b) noexcept { return b == 0 ? 1 : b * batch; }

    void refill(chain& free) {
        for (;;) {
            chunk_header* fresh = nullptr;
            std::uint32_t number = 0;
            {
                const std::lock_guard depot(depot_);
                if (full_batches_ != nullptr) {
                    free.first = static_cast<node*>(full_batches_);  // `last` is of no interest here
                    free.count = batch;
                    full_batches_ = full_batches_->prev;
                    return;
                }
                if (current_ != nullptr && current_->batches_given_out < chunk_nodes / batch) {
                    fresh = current_;
                    number = fresh->batches_given_out++;
                }
            }
            if (fresh != nullptr) {  // outside the lock, since the first touch of a page is slow
                if (number % batches_ahead == 0) {
                    will_write(reinterpret_cast<node*>(fresh) + number * batch, batches_ahead * batch * sizeof(node));
                }
                for (std::uint32_t i = (number + 1) * batch; i-- > first_of(number);) {
                    free.push(*::new (static_cast<void*>(reinterpret_cast<node*>(fresh) + i)) node);
                }
                fresh->batches_made.fetch_or(std::uint64_t{1} << number, std::memory_order_release);
                return;
            }
            add_chunk();
        }
    }

    void add_chunk() {
        const std::lock_guard growing(growth_);
        {
            const std::lock_guard depot(depot_);
            if (current_ != nullptr && current_->batches_given_out < chunk_nodes / batch) return;  // somebody else did
        }
        const std::uint32_t number = chunks_.load(std::memory_order_relaxed);
        if (number == max_chunks) throw std::bad_alloc();
        const unsigned segment = segment_of(number);
        if (directory_[segment].load(std::memory_order_relaxed) == nullptr) {
            directory_[segment].store(new std::atomic<chunk_header*>[std::size_t{1} << segment](),
                                      std::memory_order_release);
        }
        void* const memory = ::operator new(chunk_bytes, std::align_val_t{chunk_bytes});
        auto* const chunk = ::new (memory) chunk_header{&core_, number * chunk_nodes};
        directory_at(number).store(chunk, std::memory_order_release);
        chunks_.store(number + 1, std::memory_order_release);
        const std::lock_guard depot(depot_);
        current_ = chunk;
    }

    // The directory is an array of arrays that double in length, so that it grows without moving.
    static constexpr std::uint32_t max_chunks = (std::uint32_t{1} << 20) - 1;
    static unsigned segment_of(std::uint32_t chunk) noexcept {
        return static_cast<unsigned>(std::bit_width(chunk + 1)) - 1;
    }
    std::atomic<chunk_header*>& directory_at(std::uint32_t chunk) const noexcept {
        const unsigned segment = segment_of(chunk);
        return directory_[segment].load(std::memory_order_acquire)[chunk + 1 - (std::uint32_t{1} << segment)];
    }

    timer_core& core_;
    stripe_array stripes_{};
    std::mutex growth_;  // taken before depot_
    spin_lock depot_;
    list_hook* full_batches_ = nullptr;
    chunk_header* current_ = nullptr;
    std::atomic<std::uint32_t> chunks_{0};
    std::array<std::atomic<std::atomic<chunk_header*>*>, 20> directory_{};
};

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_NODE_POOL_HPP
