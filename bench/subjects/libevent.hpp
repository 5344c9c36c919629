#ifndef SANDGLASS_BENCH_SUBJECTS_LIBEVENT_HPP
#define SANDGLASS_BENCH_SUBJECTS_LIBEVENT_HPP

#include <event2/event.h>
#include <event2/event_struct.h>

#include "subjects/loop_nodes.hpp"

namespace bench {

// libevent: an event each, in one base, by one thread.
class libevent_timers {
    using nodes = loop_nodes<event>;

  public:
    using handle = nodes::node*;

    libevent_timers() : base_(event_base_new()) {}
    libevent_timers(const libevent_timers&) = delete;
    libevent_timers& operator=(const libevent_timers&) = delete;
    ~libevent_timers() {
        nodes_.for_each([](nodes::node& n) { event_del(&n.native); });
        event_base_free(base_);
    }

    template <class F>
    handle schedule(nanoseconds delay, F callback) {
        const handle h = nodes_.take(std::move(callback), [this](nodes::node& n) {
            event_assign(
                &n.native, base_, -1, 0, [](evutil_socket_t, short, void* p) { nodes::fire(static_cast<handle>(p)); },
                &n);
        });
        start(h, delay);
        return h;
    }
    bool cancel(handle& h) {
        if (!h->pending) return false;
        event_del(&h->native);
        nodes_.give(h);
        return true;
    }
    bool renew(handle& h, nanoseconds delay) {
        if (!h->pending) return false;
        start(h, delay);
        return true;
    }
    void settle() {}
    void finish() {}
    void run_for(nanoseconds how_long) {
        const timeval t = as_timeval(how_long);
        event_base_loopexit(base_, &t);
        event_base_dispatch(base_);
    }
    void fire_all(milliseconds, const tally&, std::uint64_t) { event_base_dispatch(base_); }

  private:
    static timeval as_timeval(nanoseconds delay) {
        const auto us = std::chrono::ceil<std::chrono::microseconds>(delay).count();
        timeval t{};
        t.tv_sec = us / 1'000'000;
        t.tv_usec = us % 1'000'000;
        return t;
    }
    static void start(handle h, nanoseconds delay) {
        const timeval t = as_timeval(delay);
        event_add(&h->native, &t);
    }

    event_base* base_;
    nodes nodes_;
};

}  // namespace bench

#endif
