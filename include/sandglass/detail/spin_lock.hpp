#ifndef SANDGLASS_DETAIL_SPIN_LOCK_HPP
#define SANDGLASS_DETAIL_SPIN_LOCK_HPP

#include <atomic>
#include <thread>

#include <sandglass/detail/config.hpp>

namespace sandglass::detail {

// For a few instructions that call nothing. A mutex would be as quick when nobody waits, but whoever waits for it is put
// to sleep, and under load that costs milliseconds for what takes nanoseconds.
class spin_lock {
  public:
    // The exchange acquires what the former holder's store released.
    [[nodiscard]] bool try_lock() noexcept { return !busy_.exchange(true, std::memory_order_acquire); }
    void lock() noexcept {
        while (!try_lock()) {
            for (int i = 0; i < 64 && busy_.load(std::memory_order_relaxed); ++i) relax();
            if (busy_.load(std::memory_order_relaxed)) std::this_thread::yield();  // its holder is not running
        }
    }
    void unlock() noexcept { busy_.store(false, std::memory_order_release); }

  private:
    std::atomic<bool> busy_{false};
};

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_SPIN_LOCK_HPP
