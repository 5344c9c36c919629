#ifndef SANDGLASS_DETAIL_THREAD_SLOT_HPP
#define SANDGLASS_DETAIL_THREAD_SLOT_HPP

#include <atomic>
#include <bit>
#include <cstdint>

namespace sandglass::detail {

// A small number for each thread, which is its own while the thread lives: what a core keeps under that number is
// written by this thread alone, with plain loads and stores. (A locked instruction costs 5 to 10 ns, and keeps cache
// misses from overlapping.) Threads beyond `exclusive` share the last few numbers, and what is kept there is guarded.
class thread_slot {
  public:
    static constexpr unsigned exclusive = 56;
    static constexpr unsigned all = 64;

    [[nodiscard]] static unsigned mine() noexcept {
        if (mine_ == 0) [[unlikely]]
            choose();
        return mine_ - 1;
    }

    // Whether what is kept under a number below `exclusive` is the calling thread's alone. Libraries that hide their
    // symbols have a copy of this class each, and each copy gives out the same numbers; so the first copy whose threads
    // come by with a number claims what is kept under it.
    [[nodiscard]] static bool owns(std::atomic<const void*>& owner) noexcept {
        const void* const present = owner.load(std::memory_order_relaxed);
        return present == &used_ || (present == nullptr && claim(owner));
    }
    // A number to go to with what one does not own.
    [[nodiscard]] static unsigned shared_instead_of(unsigned slot) noexcept {
        return slot < exclusive ? exclusive + slot % (all - exclusive) : slot;
    }

  private:
    static bool claim(std::atomic<const void*>& owner) noexcept {
        const void* nobody = nullptr;
        return owner.compare_exchange_strong(nobody, &used_, std::memory_order_relaxed) || nobody == &used_;
    }

    static constexpr std::uint64_t every_slot = (std::uint64_t{1} << exclusive) - 1;

    static void choose() noexcept {
        std::uint64_t used = used_.load(std::memory_order_relaxed);
        while (used != every_slot) {
            const auto slot = static_cast<unsigned>(std::countr_one(used));
            // Acquire: what the slot's former thread has written there happened before; see owner.
            if (used_.compare_exchange_weak(used, used | std::uint64_t{1} << slot, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
                mine_ = slot + 1;
                thread_local owner gives_back_at_exit;
                static_cast<void>(gives_back_at_exit);
                return;
            }
        }
        mine_ = shared() + 1;
    }

    static unsigned shared() noexcept {
        return exclusive + shared_given_out_.fetch_add(1, std::memory_order_relaxed) % (all - exclusive);
    }

    struct owner {
        owner() noexcept {}
        ~owner() {
            const unsigned slot = mine_ - 1;
            mine_ = shared() + 1;  // for destructors of this thread that are still to come
            used_.fetch_and(~(std::uint64_t{1} << slot), std::memory_order_release);
        }
        owner(const owner&) = delete;
        owner& operator=(const owner&) = delete;
    };

    inline static std::atomic<std::uint64_t> used_{0};  // one bit for each exclusive slot
    inline static std::atomic<unsigned> shared_given_out_{0};
    inline static constinit thread_local unsigned mine_ = 0;  // plus one; 0: not chosen yet
};

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_THREAD_SLOT_HPP
