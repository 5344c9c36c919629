#ifndef SANDGLASS_BENCH_SUBJECTS_ADAPTERS_HPP
#define SANDGLASS_BENCH_SUBJECTS_ADAPTERS_HPP

#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include "support/workload.hpp"

// Make a subject of a data structure that brings, with `Time` as its template argument:
//
//   handle schedule(Time deadline, F)
//   bool cancel(handle&)
//   bool renew(handle&, Time deadline)
//   bool pop_due(Time now, std::function<void()>& callback)   false when nothing more is due
//   Time look_again() const                                   when pop_due may find something; the greatest if never
namespace bench {

// Alone, on virtual time, by one thread.
template <template <class> class Structure>
class bare {
    using structure = Structure<milliseconds>;

  public:
    using handle = typename structure::handle;

    template <class F>
    handle schedule(milliseconds delay, F callback) {
        return timers_.schedule(now_ + delay, std::move(callback));
    }
    bool cancel(handle& h) { return timers_.cancel(h); }
    bool renew(handle& h, milliseconds delay) { return timers_.renew(h, now_ + delay); }
    void settle() {}
    void finish() {}
    void fire_all(milliseconds horizon, const tally&, std::uint64_t) {
        std::function<void()> callback;
        for (const milliseconds last = now_ + horizon; now_ < last;) {
            now_ += milliseconds(1);
            while (timers_.pop_due(now_, callback)) callback();
        }
    }

  private:
    structure timers_;
    milliseconds now_{0};
};

// With a mutex, a condition variable and a thread.
template <template <class> class Structure>
class threaded {
    using clock = std::chrono::steady_clock;
    using structure = Structure<clock::time_point>;

  public:
    using handle = typename structure::handle;

    threaded() : thread_([this] { work(); }) {}
    threaded(const threaded&) = delete;
    threaded& operator=(const threaded&) = delete;
    ~threaded() { finish(); }

    template <class F>
    handle schedule(nanoseconds delay, F callback) {
        const clock::time_point deadline = clock::now() + delay;
        const std::lock_guard lock(mutex_);
        const wake_if_nearer wake(*this);
        return timers_.schedule(deadline, std::move(callback));
    }
    bool cancel(handle& h) {
        const std::lock_guard lock(mutex_);
        return timers_.cancel(h);
    }
    bool renew(handle& h, nanoseconds delay) {
        const clock::time_point deadline = clock::now() + delay;
        const std::lock_guard lock(mutex_);
        const wake_if_nearer wake(*this);
        return timers_.renew(h, deadline);
    }
    void settle() {}
    void fire_all(milliseconds, const tally& calls, std::uint64_t n) { wait_for(calls, n); }
    void finish() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        changed_.notify_all();
        if (thread_.joinable()) thread_.join();
    }

  private:
    struct wake_if_nearer {
        explicit wake_if_nearer(threaded& t) : timer(t), before(t.timers_.look_again()) {}
        wake_if_nearer(const wake_if_nearer&) = delete;
        wake_if_nearer& operator=(const wake_if_nearer&) = delete;
        ~wake_if_nearer() {
            if (timer.timers_.look_again() < before) timer.changed_.notify_one();
        }
        threaded& timer;
        clock::time_point before;
    };

    void work() {
        std::function<void()> callback;
        std::unique_lock lock(mutex_);
        while (!stopping_) {
            if (timers_.pop_due(clock::now(), callback)) {
                lock.unlock();
                callback();
                callback = nullptr;
                lock.lock();
            } else if (const auto until = timers_.look_again(); until == (clock::time_point::max)()) {
                changed_.wait(lock);
            } else {
                changed_.wait_until(lock, until);
            }
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    structure timers_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace bench

#endif
