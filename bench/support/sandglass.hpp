#ifndef SANDGLASS_BENCH_SUPPORT_SANDGLASS_HPP
#define SANDGLASS_BENCH_SUPPORT_SANDGLASS_HPP

#include <memory>

#include <sandglass/sandglass.hpp>

#include "support/workload.hpp"

namespace bench {

// hashed_wheel alone, on virtual time, one thread. The entries come from a free list, as they would in a program that
// has no use for timer_queue.
class bare_wheel {
    struct entry : sandglass::wheel_hook {
        task callback;
    };

  public:
    using handle = entry*;

    handle schedule(milliseconds delay, task t) {
        entry* const e = take();
        e->callback = t;
        wheel_.insert(*e, wheel_.now() + delay.count());
        return e;
    }
    bool cancel(handle h) {
        if (!h->linked()) return false;
        wheel_.erase(*h);
        free_.push_back(h);
        return true;
    }
    bool renew(handle h, milliseconds delay) {
        if (!h->linked()) return false;
        wheel_.postpone(*h, wheel_.now() + delay.count());
        return true;
    }
    void settle() {}
    void finish() {}
    void fire_all(milliseconds horizon, std::uint64_t) {
        for (sandglass::tick_t tick = 1; tick <= horizon.count(); ++tick) {
            wheel_.advance(tick, [this](entry& e) {
                e.callback();
                free_.push_back(&e);
            });
        }
    }

  private:
    static constexpr std::size_t block = 1024;

    entry* take() {
        if (free_.empty()) {
            blocks_.push_back(std::make_unique<entry[]>(block));
            for (std::size_t i = block; i-- > 0;) free_.push_back(&blocks_.back()[i]);
        }
        entry* const e = free_.back();
        free_.pop_back();
        return e;
    }

    sandglass::hashed_wheel<entry> wheel_{sandglass::wheel_options{}.slots};
    std::vector<std::unique_ptr<entry[]>> blocks_;
    std::vector<entry*> free_;
};

// wheel_timer, the inline executor, 1 ms tick, the default number of slots.
class threaded_wheel {
  public:
    using handle = sandglass::timer_handle;

    handle schedule(milliseconds delay, task t) { return timer_.schedule_after(delay, t); }
    bool cancel(handle h) { return h.cancel(); }
    bool renew(handle h, milliseconds delay) { return h.reschedule_after(delay); }
    void settle() {}
    void fire_all(milliseconds, std::uint64_t n) {
        // Counted as fired when the call begins; finish() waits for the last one's end.
        while (timer_.stats().fired != n) std::this_thread::sleep_for(milliseconds(1));
    }
    void finish() { timer_.stop(); }

  private:
    sandglass::wheel_timer timer_;
};

// timer_queue driven by hand: the same without the thread.
class queue_on_own_loop {
  public:
    using handle = sandglass::timer_handle;

    handle schedule(milliseconds delay, task t) { return queue_.schedule_after(delay, t); }
    bool cancel(handle h) { return h.cancel(); }
    bool renew(handle h, milliseconds delay) { return h.reschedule_after(delay); }
    void settle() { queue_.poll(); }
    void finish() { queue_.stop(); }
    void fire_all(milliseconds, std::uint64_t n) {
        std::uint64_t fired = 0;
        while (fired != n) {
            fired += queue_.poll();
            if (const auto next = queue_.next_deadline()) std::this_thread::sleep_until(*next);
        }
    }

  private:
    sandglass::timer_queue<> queue_;
};

}  // namespace bench

#endif
