#ifndef SANDGLASS_BENCH_SUBJECTS_LOOP_NODES_HPP
#define SANDGLASS_BENCH_SUBJECTS_LOOP_NODES_HPP

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "support/workload.hpp"

namespace bench {

// For the event loops in C, whose timers are objects of the caller's: these objects, taken and used again, each with a
// callback. `Native` is the loop's own type.
template <class Native>
class loop_nodes {
  public:
    struct node {
        Native native{};
        std::function<void()> callback;
        loop_nodes* home = nullptr;
        bool pending = false;
    };

    // Calls `prepare(node&)` for each node once.
    template <class Prepare>
    node* take(std::function<void()> callback, Prepare&& prepare) {
        if (free_.empty()) {
            blocks_.push_back(std::make_unique<node[]>(block));
            for (std::size_t i = block; i-- > 0;) {
                node& n = blocks_.back()[i];
                n.home = this;
                prepare(n);
                free_.push_back(&n);
            }
        }
        node* const n = free_.back();
        free_.pop_back();
        n->callback = std::move(callback);
        n->pending = true;
        return n;
    }
    void give(node* n) {
        n->pending = false;
        n->callback = nullptr;
        free_.push_back(n);
    }
    // What the loop's callback does.
    static void fire(node* n) {
        const std::function<void()> callback = std::move(n->callback);
        n->home->give(n);
        callback();
    }
    template <class Visit>
    void for_each(Visit&& visit) {
        for (auto& b : blocks_) {
            for (std::size_t i = 0; i < block; ++i) visit(b[i]);
        }
    }

  private:
    static constexpr std::size_t block = 1024;
    std::vector<std::unique_ptr<node[]>> blocks_;
    std::vector<node*> free_;
};

}  // namespace bench

#endif
