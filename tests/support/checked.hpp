// Included before anything else (-include) where the library's own checks are to be on.
#ifndef SANDGLASS_TESTS_SUPPORT_CHECKED_HPP
#define SANDGLASS_TESTS_SUPPORT_CHECKED_HPP

#include <cstdio>
#include <cstdlib>

#define SANDGLASS_ASSERT(condition)                                                                                    \
    ((condition) ? static_cast<void>(0)                                                                                \
                 : (std::fprintf(stderr, "%s:%d: sandglass: %s\n", __FILE__, __LINE__, #condition), std::abort()))

#endif
