#ifndef SANDGLASS_BENCH_SUBJECTS_LIBUV_HPP
#define SANDGLASS_BENCH_SUBJECTS_LIBUV_HPP

#include <uv.h>

#include "subjects/loop_nodes.hpp"

namespace bench {

// libuv: a uv_timer_t each, in one loop, by one thread. Delays count from the loop's time, which is read once a turn;
// whole milliseconds.
class libuv_timers {
    using nodes = loop_nodes<uv_timer_t>;

  public:
    using handle = nodes::node*;

    libuv_timers() { uv_loop_init(&loop_); }
    libuv_timers(const libuv_timers&) = delete;
    libuv_timers& operator=(const libuv_timers&) = delete;
    ~libuv_timers() {
        nodes_.for_each([](nodes::node& n) { uv_close(reinterpret_cast<uv_handle_t*>(&n.native), nullptr); });
        uv_run(&loop_, UV_RUN_DEFAULT);
        uv_loop_close(&loop_);
    }

    template <class F>
    handle schedule(nanoseconds delay, F callback) {
        const handle h = nodes_.take(std::move(callback), [this](nodes::node& n) {
            uv_timer_init(&loop_, &n.native);
            n.native.data = &n;
        });
        start(h, delay);
        return h;
    }
    bool cancel(handle& h) {
        if (!h->pending) return false;
        uv_timer_stop(&h->native);
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
        schedule(how_long, [this] { uv_stop(&loop_); });
        uv_run(&loop_, UV_RUN_DEFAULT);
    }
    void fire_all(milliseconds, const tally&, std::uint64_t) { uv_run(&loop_, UV_RUN_DEFAULT); }

  private:
    static void start(handle h, nanoseconds delay) {
        uv_timer_start(
            &h->native, [](uv_timer_t* t) { nodes::fire(static_cast<handle>(t->data)); },
            static_cast<std::uint64_t>(std::chrono::ceil<milliseconds>(delay).count()), 0);
    }

    uv_loop_t loop_{};
    nodes nodes_;
};

}  // namespace bench

#endif
