#ifndef SANDGLASS_BENCH_SUBJECTS_LIST_SCAN_HPP
#define SANDGLASS_BENCH_SUBJECTS_LIST_SCAN_HPP

#include <functional>
#include <list>
#include <memory>
#include <utility>

#include "subjects/adapters.hpp"

namespace bench {

// The first scheme that anyone writes: a list of timers, all of which are looked at every tick (scheme 1 of G. Varghese
// and T. Lauck, "Hashed and Hierarchical Timing Wheels", 1987, section 3). Nothing is quicker to schedule and to cancel.
template <class Time>
class list_timers {
    struct timer {
        std::function<void()> callback;
        Time deadline;
        typename std::list<std::shared_ptr<timer>>::iterator place{};
        bool pending = true;
    };

  public:
    using handle = std::shared_ptr<timer>;

    template <class F>
    handle schedule(Time deadline, F callback) {
        auto h = std::make_shared<timer>(timer{std::move(callback), deadline});
        h->place = timers_.insert(timers_.end(), h);
        return h;
    }
    bool cancel(handle& h) {
        if (!h->pending) return false;
        remove(*h);
        return true;
    }
    bool renew(handle& h, Time deadline) {
        if (!h->pending) return false;
        h->deadline = deadline;
        return true;
    }
    // One call goes on with the scan where the last one found something.
    bool pop_due(Time now, std::function<void()>& callback) {
        if (!scanning_) next_ = timers_.begin();
        scanning_ = true;
        while (next_ != timers_.end()) {
            timer& t = **next_;
            if (now < t.deadline) {
                ++next_;
                continue;
            }
            callback = std::move(t.callback);
            remove(t);
            return true;
        }
        scanning_ = false;
        look_again_ = now + milliseconds(1);
        return false;
    }
    [[nodiscard]] Time look_again() const { return timers_.empty() ? (Time::max)() : look_again_; }

  private:
    void remove(timer& t) {
        t.pending = false;
        const bool is_next = scanning_ && next_ == t.place;
        const auto after = timers_.erase(t.place);  // t may be gone
        if (is_next) next_ = after;
    }

    std::list<std::shared_ptr<timer>> timers_;
    typename std::list<std::shared_ptr<timer>>::iterator next_{};
    bool scanning_ = false;
    Time look_again_{};
};

using bare_list_scan = bare<list_timers>;
using threaded_list_scan = threaded<list_timers>;

}  // namespace bench

#endif
