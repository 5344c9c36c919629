#ifndef SANDGLASS_DETAIL_THREAD_NAME_HPP
#define SANDGLASS_DETAIL_THREAD_NAME_HPP

#include <string>

#if defined(__linux__)
#include <pthread.h>
#endif

namespace sandglass::detail {

// Names the calling thread where the system can; Linux takes 15 bytes.
inline void name_this_thread(const std::string& name) noexcept {
#if defined(__linux__)
    char text[16] = {};
    name.copy(text, sizeof text - 1);
    pthread_setname_np(pthread_self(), text);
#else
    static_cast<void>(name);
#endif
}

}  // namespace sandglass::detail

#endif  // SANDGLASS_DETAIL_THREAD_NAME_HPP
