#ifndef SANDGLASS_STATS_HPP
#define SANDGLASS_STATS_HPP

#include <chrono>
#include <cstdint>

namespace sandglass {

// A snapshot. When no call and no callback is in progress,
//
//     scheduled == fired + cancelled + rejected + discarded + pending
//
// exactly. Every arming counts as scheduled: a series once for each of its runs.
struct timer_stats {
    std::uint64_t pending = 0;    // armed, and neither called nor ended yet
    std::uint64_t scheduled = 0;  // armings
    std::uint64_t fired = 0;      // callables called
    std::uint64_t cancelled = 0;  // cancel() returned true
    std::uint64_t rejected = 0;   // refused by the executor
    std::uint64_t discarded = 0;  // left over at stop(), handed to a visitor or not
    std::uint64_t failed = 0;     // of the fired ones: threw
    std::uint64_t slow = 0;       // of the fired ones: longer than wheel_options::slow_callback
    std::uint64_t missed = 0;     // runs of fixed-rate series that another run made up for
    // No longer pending, but their memory is not back yet: running ones, and cancelled ones that the thread has not looked
    // at. A sleeping thread is not woken for those; before a calling thread has left 64, it looks at them itself.
    std::uint64_t unreclaimed = 0;

    std::uint64_t longest_slot = 0;  // the most entries of a slot of mixed rounds, as the cursor found it
    double mean_slot = 0;            // entries per non-empty slot

    std::chrono::nanoseconds last_tick{0};       // time that the last pass took that handed something out
    std::chrono::nanoseconds longest_tick{0};    // the longest of them
    std::chrono::nanoseconds turn{0};            // time of a whole turn of the wheel: slots * tick
    std::chrono::nanoseconds worst_lateness{0};  // longest time from a deadline, rounded up to a tick, to its call
};

}  // namespace sandglass

#endif  // SANDGLASS_STATS_HPP
