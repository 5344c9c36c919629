#ifndef SANDGLASS_DETAIL_WHEEL_LOCK_HPP
#define SANDGLASS_DETAIL_WHEEL_LOCK_HPP

#include <atomic>
#include <cstdint>
#include <mutex>

namespace sandglass::detail {

// Who holds it is the consumer. Callers only ever try, and not even that while somebody waits for it: a mutex alone is
// unfair, and busy callers kept the tick thread from the wheel for whole seconds.
class wheel_lock {
  public:
    void lock() {
        waiting_.fetch_add(1, std::memory_order_relaxed);
        mutex_.lock();
        waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
    [[nodiscard]] bool try_lock() { return waiting_.load(std::memory_order_relaxed) == 0 && mutex_.try_lock(); }
    void unlock() { mutex_.unlock(); }

  private:
    std::atomic<std::uint32_t> waiting_{0};
    std::mutex mutex_;
};

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_WHEEL_LOCK_HPP
