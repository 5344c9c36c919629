#ifndef SANDGLASS_BENCH_SUPPORT_WORKLOAD_HPP
#define SANDGLASS_BENCH_SUPPORT_WORKLOAD_HPP

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>

// What every workload and every implementation ("subject") uses. A subject brings:
//
//   template <class F> handle schedule(duration delay, F)   F captures 16 bytes
//   bool cancel(handle&)                                    true if it will not run
//   bool renew(handle&, duration delay)                     true if it will run once, at the new time
//   void settle()                                           waits for work that is still owed
//   void fire_all(milliseconds horizon, const tally&, n)    returns when n calls were counted; all are due by then
//   void finish()                                           from now on nothing is called
//
// Its constructor may take a `tick`. `duration` is nanoseconds where time is real; on virtual time it is milliseconds,
// one a tick.
namespace bench {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// The smallest sizes that still run everything: for a check that no benchmark rots.
inline bool quick() { return std::getenv("SANDGLASS_BENCH_QUICK") != nullptr; }

// Counts calls. One thread adds, any may read.
class tally {
  public:
    void add(std::uint64_t n) { n_.store(n_.load(std::memory_order_relaxed) + n, std::memory_order_release); }
    [[nodiscard]] std::uint64_t value() const { return n_.load(std::memory_order_acquire); }

  private:
    std::atomic<std::uint64_t> n_{0};
};

// What a callback does. Its captures are 16 bytes: where to count, and what.
struct task {
    tally* counter;
    std::uint64_t amount;
    void operator()() const { counter->add(amount); }
};
static_assert(sizeof(task) == 16);

// xorshift64* (S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016): cheap
// enough not to be what is measured, and the same for all.
class random {
  public:
    explicit random(std::uint64_t seed = 0) : state_(0x9E3779B97F4A7C15U + seed * 0xD1342543DE82EF95U) {}
    std::uint64_t next() {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545F4914F6CDD1DU;
    }
    std::uint64_t below(std::uint64_t n) { return static_cast<std::uint64_t>((next() >> 32) * n >> 32); }
    milliseconds long_delay() { return milliseconds(1000 + below(1'799'000)); }  // 1 s to 1800 s

  private:
    std::uint64_t state_;
};

inline double seconds_of(clockid_t clock) {
    timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}
inline double process_cpu_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

// For subjects that have a thread of their own.
inline void wait_for(const tally& calls, std::uint64_t n) {
    while (calls.value() < n) std::this_thread::sleep_for(milliseconds(1));
}

}  // namespace bench

#endif
