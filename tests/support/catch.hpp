// The only place that names a Catch2 header. Tests use what version 2 and version 3 share: TEST_CASE, TEMPLATE_TEST_CASE,
// SECTION, GENERATE, CHECK, REQUIRE and their _THROWS, _FALSE and _NOTHROW forms, INFO, CAPTURE, FAIL, SUCCEED.
#ifndef SANDGLASS_TESTS_SUPPORT_CATCH_HPP
#define SANDGLASS_TESTS_SUPPORT_CATCH_HPP

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#endif
