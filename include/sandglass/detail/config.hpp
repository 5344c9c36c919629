#ifndef SANDGLASS_DETAIL_CONFIG_HPP
#define SANDGLASS_DETAIL_CONFIG_HPP

#include <cstddef>

// A check for faults of the library itself, never for bad input (that is an exception) and never an assumption: the
// optimizer learns nothing from it. Off unless the program defines the macro, the same in every translation unit.
#ifndef SANDGLASS_ASSERT
#define SANDGLASS_ASSERT(condition) static_cast<void>(0)
#endif

namespace sandglass::detail {

// Not std::hardware_destructive_interference_size: g++ 12 warns about its use in a header, clang 14 lacks it.
inline constexpr std::size_t cache_line = 64;

// Asks for a line that will be written soon. A hint: any address is allowed, none is read.
inline void prefetch(const void* address) noexcept {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(address, 1);
#else
    static_cast<void>(address);
#endif
}

// Tells the processor that this is a waiting loop.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_CONFIG_HPP
