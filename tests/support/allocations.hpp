// How often the program allocates. A program that links allocations.cpp has operator new replaced by one that counts.
#ifndef SANDGLASS_TESTS_SUPPORT_ALLOCATIONS_HPP
#define SANDGLASS_TESTS_SUPPORT_ALLOCATIONS_HPP

#include <cstdint>

namespace support {

// Calls of operator new so far, by all threads. Catch2 allocates too: compare two readings before the first CHECK.
[[nodiscard]] std::uint64_t allocations() noexcept;

}  // namespace support

#endif
