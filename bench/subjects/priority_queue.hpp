#ifndef SANDGLASS_BENCH_SUBJECTS_PRIORITY_QUEUE_HPP
#define SANDGLASS_BENCH_SUBJECTS_PRIORITY_QUEUE_HPP

#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "subjects/adapters.hpp"

// The baseline: a binary heap of deadlines, std::priority_queue. A heap cannot remove from its middle, so a cancelled
// timer's place is found to be void when it comes to the top (lazy cancel): it is quick to cancel, and grows.
namespace bench {

// As it is commonly written: each timer is an object of its own, shared by the heap and the handle.
template <class Time>
class shared_heap {
    struct timer {
        std::function<void()> callback;
        bool pending = true;
    };

  public:
    using handle = std::shared_ptr<timer>;

    template <class F>
    handle schedule(Time deadline, F callback) {
        return push(deadline, std::move(callback));
    }
    bool cancel(handle& h) {
        if (!h->pending) return false;
        h->pending = false;
        h->callback = nullptr;
        return true;
    }
    bool renew(handle& h, Time deadline) {
        if (!h->pending) return false;
        h->pending = false;
        h = push(deadline, std::move(h->callback));
        return true;
    }
    bool pop_due(Time now, std::function<void()>& callback) {
        while (!heap_.empty() && !(now < heap_.top().deadline)) {
            const handle h = heap_.top().which;
            heap_.pop();
            if (!h->pending) continue;
            h->pending = false;
            callback = std::move(h->callback);
            return true;
        }
        return false;
    }
    [[nodiscard]] Time look_again() const { return heap_.empty() ? (Time::max)() : heap_.top().deadline; }

  private:
    struct entry {
        Time deadline;
        handle which;
        bool operator<(const entry& other) const { return other.deadline < deadline; }
    };

    handle push(Time deadline, std::function<void()> callback) {
        auto h = std::make_shared<timer>(timer{std::move(callback)});
        heap_.push({deadline, h});
        return h;
    }

    std::priority_queue<entry> heap_;
};

// Tuned: numbers and generations in the heap, callbacks in an array whose places are used again. No allocation a timer.
template <class Time>
class slab_heap {
  public:
    struct handle {
        std::uint32_t index;
        std::uint32_t generation;
    };

    template <class F>
    handle schedule(Time deadline, F callback) {
        std::uint32_t index = 0;
        if (free_.empty()) {
            index = static_cast<std::uint32_t>(slab_.size());
            slab_.push_back({});
        } else {
            index = free_.back();
            free_.pop_back();
        }
        slab_[index].callback = std::move(callback);
        heap_.push({deadline, {index, slab_[index].generation}});
        return {index, slab_[index].generation};
    }
    bool cancel(handle& h) {
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
    bool pop_due(Time now, std::function<void()>& callback) {
        while (!heap_.empty() && !(now < heap_.top().deadline)) {
            const handle h = heap_.top().which;
            heap_.pop();
            if (slab_[h.index].generation != h.generation) continue;
            callback = std::move(slab_[h.index].callback);
            end(h.index);
            return true;
        }
        return false;
    }
    [[nodiscard]] Time look_again() const { return heap_.empty() ? (Time::max)() : heap_.top().deadline; }

  private:
    struct entry {
        Time deadline;
        handle which;
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

// Alone, the faster of the two is the baseline.
using bare_priority_queue = bare<slab_heap>;
using threaded_priority_queue = threaded<shared_heap>;
using threaded_priority_queue_slab = threaded<slab_heap>;

}  // namespace bench

#endif
