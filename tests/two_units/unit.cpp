// Compiled twice: SANDGLASS_TEST_UNIT is the namespace that holds this translation unit's answers.
#include "unit.hpp"

#include <functional>

namespace {

struct connection : sandglass::wheel_hook {
    int socket = 0;
};

template <class T>
layout of(const char* type) {
    return {type, sizeof(T), alignof(T)};
}

}  // namespace

namespace SANDGLASS_TEST_UNIT {

std::vector<layout> layouts() {
    using manual_queue =
        sandglass::timer_queue<sandglass::inline_executor, std::reference_wrapper<sandglass::manual_clock>>;
    using pooled_timer = sandglass::basic_wheel_timer<std::reference_wrapper<sandglass::thread_pool>>;
    return {
        of<sandglass::wheel_hook>("wheel_hook"),
        of<sandglass::hashed_wheel<connection>>("hashed_wheel"),
        of<sandglass::timer_handle>("timer_handle"),
        of<sandglass::scoped_timer>("scoped_timer"),
        of<sandglass::timer_context>("timer_context"),
        of<sandglass::expired_timer>("expired_timer"),
        of<sandglass::leftover_timer>("leftover_timer"),
        of<sandglass::inline_executor>("inline_executor"),
        of<sandglass::thread_pool>("thread_pool"),
        of<sandglass::manual_clock>("manual_clock"),
        of<sandglass::wheel_options>("wheel_options"),
        of<sandglass::pool_options>("pool_options"),
        of<sandglass::repeat_options>("repeat_options"),
        of<sandglass::timer_error>("timer_error"),
        of<sandglass::slow_event>("slow_event"),
        of<sandglass::timer_stats>("timer_stats"),
        of<sandglass::timer_queue<>>("timer_queue<>"),
        of<manual_queue>("timer_queue on a manual clock"),
        of<sandglass::wheel_timer>("wheel_timer"),
        of<pooled_timer>("basic_wheel_timer on a pool"),
        // What these point to, which inline functions of both units work on.
        of<sandglass::detail::callable>("detail::callable"),
        of<sandglass::detail::node>("detail::node"),
        of<sandglass::detail::node_pool>("detail::node_pool"),
        of<sandglass::detail::pending_queue>("detail::pending_queue"),
        of<sandglass::detail::counters>("detail::counters"),
        of<sandglass::detail::timer_core>("detail::timer_core"),
    };
}

long language() { return __cplusplus; }

std::unique_ptr<sandglass::wheel_timer> make_timer() { return std::make_unique<sandglass::wheel_timer>(); }

sandglass::timer_handle schedule(sandglass::wheel_timer& timer, std::chrono::milliseconds delay,
                                 std::atomic<int>& runs) {
    return timer.schedule_after(delay, [&runs] { ++runs; });
}

bool cancel(sandglass::timer_handle handle) { return handle.cancel(); }

}  // namespace SANDGLASS_TEST_UNIT
