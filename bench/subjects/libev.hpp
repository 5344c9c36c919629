#ifndef SANDGLASS_BENCH_SUBJECTS_LIBEV_HPP
#define SANDGLASS_BENCH_SUBJECTS_LIBEV_HPP

#include <ev.h>

#include "subjects/loop_nodes.hpp"

namespace bench {

// libev: an ev_timer each, in one loop, by one thread. Delays count from the loop's time, which is read once a turn.
class libev_timers {
    using nodes = loop_nodes<ev_timer>;

  public:
    using handle = nodes::node*;

    libev_timers() : loop_(ev_loop_new(EVFLAG_AUTO)) {}
    libev_timers(const libev_timers&) = delete;
    libev_timers& operator=(const libev_timers&) = delete;
    ~libev_timers() {
        nodes_.for_each([this](nodes::node& n) { ev_timer_stop(loop_, &n.native); });
        ev_loop_destroy(loop_);
    }

    template <class F>
    handle schedule(nanoseconds delay, F callback) {
        const handle h = nodes_.take(std::move(callback), [](nodes::node& n) {
            ev_init(&n.native, [](struct ev_loop* loop, ev_timer* t, int) {
                ev_timer_stop(loop, t);  // renew() makes it a repeating one
                nodes::fire(static_cast<handle>(t->data));
            });
            n.native.data = &n;
        });
        ev_timer_set(&h->native, std::chrono::duration<double>(delay).count(), 0.);
        ev_timer_start(loop_, &h->native);
        return h;
    }
    bool cancel(handle& h) {
        if (!h->pending) return false;
        ev_timer_stop(loop_, &h->native);
        nodes_.give(h);
        return true;
    }
    bool renew(handle& h, nanoseconds delay) {
        if (!h->pending) return false;
        h->native.repeat = std::chrono::duration<double>(delay).count();
        ev_timer_again(loop_, &h->native);
        return true;
    }
    void settle() {}
    void finish() {}
    void run_for(nanoseconds how_long) {
        schedule(how_long, [this] { ev_break(loop_, EVBREAK_ONE); });
        ev_run(loop_, 0);
    }
    void fire_all(milliseconds, const tally&, std::uint64_t) { ev_run(loop_, 0); }

  private:
    struct ev_loop* loop_;
    nodes nodes_;
};

}  // namespace bench

#endif
