// How often the program allocates. A program that links allocations.cpp has operator new replaced by one that counts.
#ifndef SANDGLASS_TESTS_SUPPORT_ALLOCATIONS_HPP
#define SANDGLASS_TESTS_SUPPORT_ALLOCATIONS_HPP

#include <cstdint>

// Clang's thread sanitizer brings an operator new that cannot be replaced: nothing is counted there.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANDGLASS_TESTS_NO_ALLOCATION_COUNT
#endif
#endif

namespace support {

#if defined(SANDGLASS_TESTS_NO_ALLOCATION_COUNT)
inline constexpr bool allocations_are_counted = false;
#else
inline constexpr bool allocations_are_counted = true;
#endif

// Calls of operator new so far, by all threads. Catch2 allocates too: compare two readings before the first CHECK.
[[nodiscard]] std::uint64_t allocations() noexcept;

}  // namespace support

#endif
