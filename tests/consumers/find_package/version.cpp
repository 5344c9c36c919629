#include <sandglass/version.hpp>

static_assert(SANDGLASS_VERSION_MAJOR == PACKAGE_MAJOR);
static_assert(SANDGLASS_VERSION_MINOR == PACKAGE_MINOR);
static_assert(SANDGLASS_VERSION_PATCH == PACKAGE_PATCH);
