#ifndef SANDGLASS_BENCH_SUBJECTS_MULTIMAP_HPP
#define SANDGLASS_BENCH_SUBJECTS_MULTIMAP_HPP

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "subjects/adapters.hpp"

namespace bench {

// A std::multimap by deadline: a balanced tree, from which a cancelled timer is really removed.
template <class Time>
class tree_timers {
    struct timer;
    using tree = std::multimap<Time, std::shared_ptr<timer>>;
    struct timer {
        std::function<void()> callback;
        typename tree::iterator place;
        bool pending = true;
    };

  public:
    using handle = std::shared_ptr<timer>;

    template <class F>
    handle schedule(Time deadline, F callback) {
        auto h = std::make_shared<timer>(timer{std::move(callback), {}});
        h->place = tree_.emplace(deadline, h);
        return h;
    }
    bool cancel(handle& h) {
        if (!h->pending) return false;
        h->pending = false;
        tree_.erase(h->place);
        return true;
    }
    bool renew(handle& h, Time deadline) {
        if (!h->pending) return false;
        auto node = tree_.extract(h->place);
        if (node.empty()) return false;  // it never is, which not every compiler sees
        node.key() = deadline;
        h->place = tree_.insert(std::move(node));
        return true;
    }
    bool pop_due(Time now, std::function<void()>& callback) {
        const auto first = tree_.begin();
        if (first == tree_.end() || now < first->first) return false;
        first->second->pending = false;
        callback = std::move(first->second->callback);
        tree_.erase(first);
        return true;
    }
    [[nodiscard]] Time look_again() const { return tree_.empty() ? (Time::max)() : tree_.begin()->first; }

  private:
    tree tree_;
};

using bare_multimap = bare<tree_timers>;
using threaded_multimap = threaded<tree_timers>;

}  // namespace bench

#endif
