#ifndef SANDGLASS_SANDGLASS_HPP
#define SANDGLASS_SANDGLASS_HPP

// Everything but the opt-in adapters.

#include <sandglass/clock.hpp>
#include <sandglass/context.hpp>
#include <sandglass/errors.hpp>
#include <sandglass/executor.hpp>
#include <sandglass/handle.hpp>
#include <sandglass/hashed_wheel.hpp>
#include <sandglass/leftover.hpp>
#include <sandglass/named.hpp>
#include <sandglass/options.hpp>
#include <sandglass/stats.hpp>
#include <sandglass/timer_queue.hpp>
#include <sandglass/version.hpp>
#include <sandglass/wheel_timer.hpp>

#endif  // SANDGLASS_SANDGLASS_HPP
