// What both translation units offer, each in a namespace of its own.
#ifndef SANDGLASS_TESTS_TWO_UNITS_UNIT_HPP
#define SANDGLASS_TESTS_TWO_UNITS_UNIT_HPP

#include <sandglass/sandglass.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

struct layout {
    std::string type;
    std::size_t size;
    std::size_t alignment;
};

// NOLINTNEXTLINE(bugprone-macro-parentheses): namespaces take no parentheses
#define SANDGLASS_TEST_DECLARE_UNIT(unit)                                                                              \
    namespace unit {                                                                                                   \
    std::vector<layout> layouts();                                                                                     \
    long language();                                                                                                   \
    std::unique_ptr<sandglass::wheel_timer> make_timer();                                                              \
    sandglass::timer_handle schedule(sandglass::wheel_timer& timer, std::chrono::milliseconds delay,                   \
                                     std::atomic<int>& runs);                                                          \
    bool cancel(sandglass::timer_handle handle);                                                                       \
    }

SANDGLASS_TEST_DECLARE_UNIT(plain)
SANDGLASS_TEST_DECLARE_UNIT(tuned)

#endif
