#ifndef SANDGLASS_LEFTOVER_HPP
#define SANDGLASS_LEFTOVER_HPP

#include <chrono>
#include <string_view>
#include <utility>

#include <sandglass/context.hpp>

namespace sandglass {

namespace detail {
struct leftover_access;
}

// A timer that was still pending at stop(), as the visitor gets it: to be run, kept for later, or counted. Owns the
// callable; destroys it when it goes. May outlive the timer object.
//
// Threads: one at a time. Move-only.
class leftover_timer {
  public:
    leftover_timer(leftover_timer&& other) noexcept
        : node_(std::exchange(other.node_, nullptr)), deadline_(other.deadline_), now_(other.now_) {}
    leftover_timer& operator=(leftover_timer&& other) noexcept {
        if (this != &other) {
            end();
            node_ = std::exchange(other.node_, nullptr);
            deadline_ = other.deadline_;
            now_ = other.now_;
        }
        return *this;
    }
    ~leftover_timer() { end(); }

    // When it would have been due, since the epoch of the timer's clock; exact for a series and for a callable that
    // takes a context, else rounded up to a tick. nanoseconds::max() for never.
    [[nodiscard]] std::chrono::nanoseconds deadline() const noexcept { return std::chrono::nanoseconds(deadline_); }
    template <class TimePoint = std::chrono::steady_clock::time_point>
    [[nodiscard]] TimePoint deadline_time() const noexcept {
        return detail::to_time_point<TimePoint>(deadline_);
    }
    // How long after the stop that would have been; negative if it was overdue.
    [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept {
        return std::chrono::nanoseconds(deadline_ == detail::never ? deadline_
                                                                   : detail::subtract_saturating(deadline_, now_));
    }

    // See `named`. Valid as long as this object.
    [[nodiscard]] std::string_view name() const noexcept { return node_->body().name(); }
    // The period of a series; zero for anything else.
    [[nodiscard]] std::chrono::nanoseconds period() const noexcept {
        if (!has_repetition()) return std::chrono::nanoseconds(0);
        const detail::nanos period = node_->repeat.period;
        return std::chrono::nanoseconds(period < 0 ? -period : period);
    }
    // The one that schedule_* returned. No longer pending.
    [[nodiscard]] timer_handle handle() const noexcept {
        return detail::handle_access::make(*node_,
                                           detail::state::generation(node_->word.load(std::memory_order_relaxed)));
    }

    // Calls the callable, here and now; what it throws comes through. Its context can schedule no further run.
    void operator()() {
        timer_context context = detail::handle_access::context(handle(), deadline_, deadline_,
                                                               has_repetition() ? node_->repeat.delay : 0, 0);
        node_->body().invoke(context);
    }

  private:
    friend struct detail::leftover_access;

    leftover_timer(detail::node& n, detail::nanos deadline, detail::nanos now) noexcept
        : node_(&n), deadline_(deadline), now_(now) {}

    [[nodiscard]] bool has_repetition() const noexcept {
        return (node_->word.load(std::memory_order_relaxed) & detail::state::repeats) != 0;
    }

    void end() noexcept {
        if (node_ == nullptr) return;
        detail::node& n = *std::exchange(node_, nullptr);
        n.body().destroy();
        detail::timer_core::of(n).let_go(n);
    }

    detail::node* node_;
    detail::nanos deadline_;
    detail::nanos now_;
};

namespace detail {

struct leftover_access {
    // For a node that stop() has claimed.
    static leftover_timer make(node& n, const tick_scale& scale, nanos now) noexcept {
        const bool repeats = (n.word.load(std::memory_order_relaxed) & state::repeats) != 0;
        const nanos deadline = repeats ? n.repeat.extension->wanted.load(std::memory_order_relaxed)
                                       : scale.start_of(n.wanted.load(std::memory_order_relaxed));
        return {n, deadline, now};
    }
};

}  // namespace detail
}  // namespace sandglass

#endif  // SANDGLASS_LEFTOVER_HPP
