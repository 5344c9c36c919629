#ifndef SANDGLASS_ERRORS_HPP
#define SANDGLASS_ERRORS_HPP

#include <stdexcept>
#include <string>

namespace sandglass {

// A `schedule_*` call would have exceeded `wheel_options::max_pending`. Nothing was scheduled, the callable untouched.
class pending_limit_reached : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// A `schedule_*` call came after `stop()`. Nothing was scheduled.
class timer_stopped : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// A `thread_pool` that is full, or stopped, refused a task. Reaches `wheel_options::on_error`, not the caller.
class executor_full : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

namespace detail {

// Error paths stand out of line, so that the paths without an error stay small.
[[noreturn]] inline void throw_invalid(const std::string& what) { throw std::invalid_argument("sandglass: " + what); }

[[noreturn]] inline void throw_limit(std::size_t limit) {
    throw pending_limit_reached("sandglass: wheel_options::max_pending is " + std::to_string(limit) +
                                " and as many timers are pending");
}

[[noreturn]] inline void throw_stopped() { throw timer_stopped("sandglass: schedule after stop()"); }

}  // namespace detail
}  // namespace sandglass

#endif  // SANDGLASS_ERRORS_HPP
