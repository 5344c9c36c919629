#ifndef SANDGLASS_BENCH_SUBJECTS_SANDGLASS_HPP
#define SANDGLASS_BENCH_SUBJECTS_SANDGLASS_HPP

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

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

    explicit bare_wheel(std::size_t slots = sandglass::wheel_options{}.slots) : wheel_(slots) {}

    handle schedule(milliseconds delay, task t) {
        entry* const e = take();
        e->callback = t;
        wheel_.insert(*e, wheel_.now() + delay.count());
        return e;
    }
    bool cancel(handle& h) {
        if (!h->linked()) return false;
        wheel_.erase(*h);
        free_.push_back(h);
        return true;
    }
    bool renew(handle& h, milliseconds delay) {
        if (!h->linked()) return false;
        wheel_.postpone(*h, wheel_.now() + delay.count());
        return true;
    }
    void settle() {}
    void finish() {}
    void fire_all(milliseconds horizon, const tally&, std::uint64_t) {
        for (const sandglass::tick_t last = wheel_.now() + horizon.count(); wheel_.now() < last;) {
            wheel_.advance(wheel_.now() + 1, [this](entry& e) {
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

    sandglass::hashed_wheel<entry> wheel_;
    std::vector<std::unique_ptr<entry[]>> blocks_;
    std::vector<entry*> free_;
};

// What wheel_timer and timer_queue have in common.
template <class Timer>
class sandglass_calls {
  public:
    using handle = sandglass::timer_handle;

    template <class... Args>
    explicit sandglass_calls(Args&&... args) : timer_(std::forward<Args>(args)...) {}

    template <class F>
    handle schedule(nanoseconds delay, F callback) {
        return timer_.schedule_after(delay, std::move(callback));
    }
    bool cancel(handle& h) { return h.cancel(); }
    bool renew(handle& h, nanoseconds delay) { return h.reschedule_after(delay); }
    void finish() { timer_.stop(); }

  protected:
    static sandglass::wheel_options options(nanoseconds tick, std::size_t slots) {
        sandglass::wheel_options o;
        o.tick = tick;
        o.slots = slots;
        return o;
    }
    Timer timer_;
};

// wheel_timer with the inline executor and the default number of slots; 1 ms tick unless said.
class threaded_wheel : public sandglass_calls<sandglass::wheel_timer> {
  public:
    explicit threaded_wheel(nanoseconds tick = milliseconds(1), std::size_t slots = sandglass::wheel_options{}.slots)
        : sandglass_calls(options(tick, slots)) {}
    void settle() {}
    void fire_all(milliseconds, const tally& calls, std::uint64_t n) { wait_for(calls, n); }
};

// The same with a pool. One worker, so that one thread adds to the tally.
class pooled_wheel
    : private std::unique_ptr<sandglass::thread_pool>,
      public sandglass_calls<sandglass::basic_wheel_timer<std::reference_wrapper<sandglass::thread_pool>>> {
    using pool = std::unique_ptr<sandglass::thread_pool>;

  public:
    pooled_wheel()
        : pool(std::make_unique<sandglass::thread_pool>(1U)),
          sandglass_calls(sandglass::wheel_options{}, std::ref(*static_cast<pool&>(*this))) {}
    void settle() {}
    void fire_all(milliseconds, const tally& calls, std::uint64_t n) { wait_for(calls, n); }
    void finish() {
        sandglass_calls::finish();
        (*this)->stop();
    }
};

// timer_queue turned by the scheduling thread itself: the same without the thread.
class queue_in_loop : public sandglass_calls<sandglass::timer_queue<>> {
  public:
    void settle() { timer_.poll(); }
    void fire_all(milliseconds, const tally& calls, std::uint64_t n) {
        while (calls.value() < n) {
            timer_.poll();
            if (const auto next = timer_.next_deadline()) std::this_thread::sleep_until(*next);
        }
    }
    void run_for(nanoseconds how_long) {
        for (const auto end = std::chrono::steady_clock::now() + how_long; std::chrono::steady_clock::now() < end;) {
            timer_.poll();
            std::this_thread::sleep_until((std::min)(end, timer_.next_deadline().value_or(end)));
        }
    }
};

}  // namespace bench

#endif
