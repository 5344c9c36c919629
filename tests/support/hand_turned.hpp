// A timer_queue whose time goes on when the test says so.
#ifndef SANDGLASS_TESTS_SUPPORT_HAND_TURNED_HPP
#define SANDGLASS_TESTS_SUPPORT_HAND_TURNED_HPP

#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>

#include <sandglass/clock.hpp>
#include <sandglass/timer_queue.hpp>

namespace support {

struct hand_turned {
    using nanoseconds = std::chrono::nanoseconds;
    using time_point = sandglass::manual_clock::time_point;

    sandglass::manual_clock clock;
    sandglass::timer_queue<sandglass::inline_executor, std::reference_wrapper<sandglass::manual_clock>> queue;

    explicit hand_turned(sandglass::wheel_options options = {}, time_point start = time_point{})
        : clock(start), queue(std::move(options), sandglass::inline_executor{}, std::ref(clock)) {}

    // Lets time go on, then makes one pass.
    std::size_t go(nanoseconds by) {
        clock.advance(by);
        return queue.poll();
    }
    std::size_t go_to(nanoseconds when) {
        clock.set(time_point(when));
        return queue.poll();
    }
    [[nodiscard]] nanoseconds now() const { return clock.now().time_since_epoch(); }
    [[nodiscard]] sandglass::timer_stats stats() const { return queue.stats(); }
};

}  // namespace support

#endif
