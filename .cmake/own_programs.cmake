# sandglass.own: warnings and sanitizers of the tests, examples and benchmarks. Linked PRIVATE, never exported.
add_library(sandglass.own INTERFACE)
target_link_libraries(sandglass.own INTERFACE sandglass::sandglass)

if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(
        sandglass.own
        INTERFACE -Wall
                  -Wextra
                  -Wpedantic
                  -Wconversion
                  -Wsign-conversion
                  -Wshadow
                  -Wold-style-cast
                  -Wnon-virtual-dtor
                  -Wcast-align
                  -Wnull-dereference
                  -Wdouble-promotion
                  -Wundef
                  -Wextra-semi
                  $<$<BOOL:${SANDGLASS_WARNINGS_AS_ERRORS}>:-Werror>
    )
elseif(MSVC)
    target_compile_options(
        sandglass.own INTERFACE /W4 /permissive- $<$<BOOL:${SANDGLASS_WARNINGS_AS_ERRORS}>:/WX>
    )
endif()

# Seconds that a test may take.
set(sandglass_test_timeout 60)
if(SANDGLASS_SANITIZE)
    set(sandglass_sanitizer_flags "-fsanitize=${SANDGLASS_SANITIZE}" -fno-sanitize-recover=all)
    target_compile_options(sandglass.own INTERFACE ${sandglass_sanitizer_flags} -fno-omit-frame-pointer)
    target_link_options(sandglass.own INTERFACE ${sandglass_sanitizer_flags})
    target_compile_definitions(sandglass.own INTERFACE SANDGLASS_TESTS_SANITIZED)
    set(sandglass_test_timeout 180)
endif()

# sandglass_add_test(NAME name COMMAND command... [LABELS label...])
function(sandglass_add_test)
    cmake_parse_arguments(arg "" "NAME" "COMMAND;LABELS" ${ARGN})
    add_test(NAME "${arg_NAME}" COMMAND ${arg_COMMAND})
    set_tests_properties("${arg_NAME}" PROPERTIES TIMEOUT ${sandglass_test_timeout} LABELS "${arg_LABELS}")
endfunction()
