#ifndef SANDGLASS_DETAIL_PAGES_HPP
#define SANDGLASS_DETAIL_PAGES_HPP

#include <cstddef>

#if defined(__linux__)
#include <sys/mman.h>

#include <cerrno>
#endif

namespace sandglass::detail {

// Says that fresh, page-aligned memory is about to be written: one system call in place of a page fault for each page,
// which halves what the first use of memory costs. A hint; kernels before Linux 5.14 do not take it.
inline void will_write(void* memory, std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_POPULATE_WRITE)
    const int before = errno;
    static_cast<void>(::madvise(memory, bytes, MADV_POPULATE_WRITE));
    errno = before;
#else
    static_cast<void>(memory);
    static_cast<void>(bytes);
#endif
}

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_PAGES_HPP
