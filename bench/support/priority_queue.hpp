#ifndef SANDGLASS_BENCH_SUPPORT_PRIORITY_QUEUE_HPP
#define SANDGLASS_BENCH_SUPPORT_PRIORITY_QUEUE_HPP

#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>

#include "support/workload.hpp"

// The baseline: what one writes with the standard library. A binary heap of deadlines; a cancelled timer's place in the
// heap is found to be void when it comes to the top (lazy cancel), since a heap cannot remove from its middle.
namespace bench {

template <class Time>
class heap_timers {
  public:
    struct handle {
        std::uint32_t index;
        std::uint32_t generation;
    };

    handle schedule(Time deadline, task t) {
        std::uint32_t index = 0;
        if (free_.empty()) {
            index = static_cast<std::uint32_t>(slab_.size());
            slab_.push_back({});
        } else {
            index = free_.back();
            free_.pop_back();
        }
        slab_[index].callback = t;
        heap_.push({deadline, {index, slab_[index].generation}});
        return {index, slab_[index].generation};
    }
    bool cancel(handle h) {
        if (slab_[h.index].generation != h.generation) return false;
        end(h.index);
        return true;
    }
    bool renew(handle& h, Time deadline) {
        if (slab_[h.index].generation != h.generation) return false;
        h.generation = ++slab_[h.index].generation;
        heap_.push({deadline, h});
        return true;
    }
    // The callback of the earliest timer, if it is due.
    bool pop_due(Time now, std::function<void()>& callback) {
        while (!heap_.empty() && !(now < heap_.top().deadline)) {
            const handle h = heap_.top().timer;
            heap_.pop();
            if (slab_[h.index].generation != h.generation) continue;
            callback = std::move(slab_[h.index].callback);
            end(h.index);
            return true;
        }
        return false;
    }
    [[nodiscard]] bool empty() const { return heap_.empty(); }
    [[nodiscard]] Time earliest() const { return heap_.top().deadline; }

  private:
    struct entry {
        Time deadline;
        handle timer;
        bool operator<(const entry& other) const { return other.deadline < deadline; }
    };
    struct slot {
        std::function<void()> callback;
        std::uint32_t generation = 0;
    };

    void end(std::uint32_t index) {
        slab_[index].callback = nullptr;
        ++slab_[index].generation;
        free_.push_back(index);
    }

    std::priority_queue<entry> heap_;
    std::vector<slot> slab_;
    std::vector<std::uint32_t> free_;
};

// On virtual time, one thread.
class bare_priority_queue {
  public:
    using handle = heap_timers<std::uint64_t>::handle;

    handle schedule(milliseconds delay, task t) {
        return timers_.schedule(static_cast<std::uint64_t>(delay.count()), t);
    }
    bool cancel(handle h) { return timers_.cancel(h); }
    bool renew(handle& h, milliseconds delay) { return timers_.renew(h, static_cast<std::uint64_t>(delay.count())); }
    void settle() {}
    void finish() {}
    void fire_all(milliseconds horizon, std::uint64_t) {
        std::function<void()> callback;
        for (std::uint64_t tick = 1; tick <= static_cast<std::uint64_t>(horizon.count()); ++tick) {
            while (timers_.pop_due(tick, callback)) callback();
        }
    }

  private:
    heap_timers<std::uint64_t> timers_;
};

// With a mutex, a condition variable and a thread.
class threaded_priority_queue {
  public:
    using clock = std::chrono::steady_clock;
    using handle = heap_timers<clock::time_point>::handle;

    threaded_priority_queue() : thread_([this] { work(); }) {}
    ~threaded_priority_queue() { finish(); }

    void finish() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        changed_.notify_all();
        if (thread_.joinable()) thread_.join();
    }

    handle schedule(milliseconds delay, task t) {
        const clock::time_point deadline = clock::now() + delay;
        const std::lock_guard lock(mutex_);
        const bool earlier = timers_.empty() || deadline < timers_.earliest();
        const handle h = timers_.schedule(deadline, t);
        if (earlier) changed_.notify_one();
        return h;
    }
    bool cancel(handle h) {
        const std::lock_guard lock(mutex_);
        return timers_.cancel(h);
    }
    bool renew(handle& h, milliseconds delay) {
        const clock::time_point deadline = clock::now() + delay;
        const std::lock_guard lock(mutex_);
        const bool earlier = timers_.empty() || deadline < timers_.earliest();
        const bool moved = timers_.renew(h, deadline);
        if (earlier) changed_.notify_one();
        return moved;
    }
    void settle() {}
    void fire_all(milliseconds, std::uint64_t n) {
        while (fired_.load(std::memory_order_acquire) != n) std::this_thread::sleep_for(milliseconds(1));
    }

  private:
    void work() {
        std::function<void()> callback;
        std::unique_lock lock(mutex_);
        while (!stopping_) {
            if (timers_.pop_due(clock::now(), callback)) {
                lock.unlock();
                callback();
                callback = nullptr;
                fired_.store(fired_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
                lock.lock();
            } else if (timers_.empty()) {
                changed_.wait(lock);
            } else {
                const clock::time_point until = timers_.earliest();
                changed_.wait_until(lock, until);
            }
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    heap_timers<clock::time_point> timers_;
    std::atomic<std::uint64_t> fired_{0};
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace bench

#endif
