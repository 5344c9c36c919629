# Which of the timers of others are on this machine. Defines a target bench.peer.<name> for each that is, and writes
# peers.json: its version, or null.
#
# bench_find_peer(NAME HEADER header [LIBRARY library] VERSION_HEADER header VERSION_MACROS macro...)
function(bench_find_peer name)
    cmake_parse_arguments(arg "" "HEADER;LIBRARY;VERSION_HEADER" "VERSION_MACROS" ${ARGN})
    find_path(SANDGLASS_BENCH_${name}_INCLUDE "${arg_HEADER}")
    set(found "${SANDGLASS_BENCH_${name}_INCLUDE}")
    if(arg_LIBRARY)
        find_library(SANDGLASS_BENCH_${name}_LIBRARY "${arg_LIBRARY}")
        if(NOT SANDGLASS_BENCH_${name}_LIBRARY)
            set(found NO)
        endif()
    endif()
    if(NOT found)
        message(STATUS "sandglass: ${name} not found, not measured")
        set_property(GLOBAL APPEND_STRING PROPERTY sandglass_bench_peers "  \"${name}\": null\n")
        return()
    endif()

    file(READ "${SANDGLASS_BENCH_${name}_INCLUDE}/${arg_VERSION_HEADER}" text)
    set(version "")
    foreach(macro IN LISTS arg_VERSION_MACROS)
        if(text MATCHES "#[ \t]*define[ \t]+${macro}[ \t]+\"?([0-9A-Za-z._]+)")
            list(APPEND version "${CMAKE_MATCH_1}")
        endif()
    endforeach()
    string(REGEX REPLACE "[;_]" "." version "${version}")
    set_property(GLOBAL APPEND_STRING PROPERTY sandglass_bench_peers "  \"${name}\": \"${version}\"\n")

    add_library(bench.peer.${name} INTERFACE)
    target_include_directories(bench.peer.${name} SYSTEM INTERFACE "${SANDGLASS_BENCH_${name}_INCLUDE}")
    if(arg_LIBRARY)
        target_link_libraries(bench.peer.${name} INTERFACE "${SANDGLASS_BENCH_${name}_LIBRARY}")
    endif()
endfunction()

bench_find_peer(
    asio
    HEADER boost/asio/steady_timer.hpp
    VERSION_HEADER boost/version.hpp
    VERSION_MACROS BOOST_LIB_VERSION
)
bench_find_peer(
    libuv
    HEADER uv.h
    LIBRARY uv
    VERSION_HEADER uv/version.h
    VERSION_MACROS UV_VERSION_MAJOR UV_VERSION_MINOR UV_VERSION_PATCH
)
bench_find_peer(
    libevent
    HEADER event2/event.h
    LIBRARY event_core
    VERSION_HEADER event2/event-config.h
    VERSION_MACROS EVENT__VERSION
)
bench_find_peer(libev HEADER ev.h LIBRARY ev VERSION_HEADER ev.h VERSION_MACROS EV_VERSION_MAJOR EV_VERSION_MINOR)

get_property(sandglass_bench_peers GLOBAL PROPERTY sandglass_bench_peers)
string(STRIP "${sandglass_bench_peers}" sandglass_bench_peers)
string(REPLACE "\n" ",\n" sandglass_bench_peers "${sandglass_bench_peers}")
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/peers.json" "{\n  ${sandglass_bench_peers}\n}\n")
