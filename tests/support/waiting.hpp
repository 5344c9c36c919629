// Waiting for what another thread does.
#ifndef SANDGLASS_TESTS_SUPPORT_WAITING_HPP
#define SANDGLASS_TESTS_SUPPORT_WAITING_HPP

#include <chrono>
#include <thread>

namespace support {

// Whether the condition came true within a time that only a standstill exceeds, on however busy a machine.
template <class Condition>
bool eventually(Condition&& condition, std::chrono::seconds limit = std::chrono::seconds(30)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
    return true;
}

}  // namespace support

#endif
