#ifndef SANDGLASS_DETAIL_WHEEL_LOCK_HPP
#define SANDGLASS_DETAIL_WHEEL_LOCK_HPP

#include <atomic>
#include <cstdint>
#include <mutex>

#include <sandglass/detail/config.hpp>

namespace sandglass::detail {

// Who holds it is the consumer. Callers only ever try, and not even that while somebody waits for it: with a mutex alone,
// which is unfair, busy callers kept the tick thread from the wheel for whole seconds. Nobody holds it for long, so who
// waits looks a few times before he sleeps: to sleep costs milliseconds when every core has something to do.
class wheel_lock {
  public:
    void lock() {
        if (mutex_.try_lock()) return;
        waiting_.fetch_add(1, std::memory_order_relaxed);
        lock_soon();
        waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
    [[nodiscard]] bool try_lock() { return waiting_.load(std::memory_order_relaxed) == 0 && mutex_.try_lock(); }
    void unlock() { mutex_.unlock(); }

  private:
    void lock_soon() {
        constexpr int looks = 64;  // some 20 us: a caller's batch takes 5 to 30
        for (int i = 0; i < looks; ++i) {
            for (int pause = 0; pause < 8; ++pause) relax();
            if (mutex_.try_lock()) return;
        }
        mutex_.lock();
    }

    std::atomic<std::uint32_t> waiting_{0};
    std::mutex mutex_;
};

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_WHEEL_LOCK_HPP
