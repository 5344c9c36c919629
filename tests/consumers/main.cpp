// A program outside the project: one timer, and whether it fired. The CMakeLists.txt beside it says nothing but how it
// finds sandglass, so the language version and the threads library must come with the target.
#include <sandglass/sandglass.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>

static_assert(__cplusplus >= 202002L, "sandglass::sandglass brings C++20");

int main() {
    std::mutex mutex;
    std::condition_variable changed;
    bool fired = false;

    sandglass::wheel_timer timer;
    timer.schedule_after(std::chrono::milliseconds{5}, [&] {
        const std::lock_guard lock{mutex};
        fired = true;
        changed.notify_one();
    });

    std::unique_lock lock{mutex};
    const bool in_time = changed.wait_for(lock, std::chrono::seconds{20}, [&] { return fired; });
    std::printf("sandglass %d.%d.%d: the timer %s\n", SANDGLASS_VERSION_MAJOR, SANDGLASS_VERSION_MINOR,
                SANDGLASS_VERSION_PATCH, in_time ? "fired" : "did not fire");
    return in_time ? 0 : 1;
}
