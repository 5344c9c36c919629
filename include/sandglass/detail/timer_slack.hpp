#ifndef SANDGLASS_DETAIL_TIMER_SLACK_HPP
#define SANDGLASS_DETAIL_TIMER_SLACK_HPP

#include <algorithm>
#include <chrono>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace sandglass::detail {

// Linux wakes a thread up to 50 us (its timer slack) later than it asked, so that one interrupt may serve several. Half
// a tick of 100 us would be lost on that. Allows the calling thread's wake-ups a hundredth of a tick, never more than
// they were allowed before.
inline void limit_timer_slack(std::chrono::nanoseconds tick) noexcept {
#if defined(__linux__)
    const int allowed = prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
    const auto wanted = (std::max)(tick.count() / 100, std::chrono::nanoseconds::rep{1});  // 0 would mean the default
    if (wanted < allowed) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(wanted), 0UL, 0UL, 0UL);
#else
    static_cast<void>(tick);
#endif
}

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_TIMER_SLACK_HPP
