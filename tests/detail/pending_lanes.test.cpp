#include <sandglass/detail/pending_lanes.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <support/catch.hpp>

namespace {

using namespace sandglass::detail;
using pushed = pending_lanes::pushed;
using numbers = std::vector<int>;

timer_core& some_core() {
    alignas(cache_line) static std::byte place[cache_line];
    return reinterpret_cast<timer_core&>(place);
}

auto into(numbers& taken) {
    return [&taken](node& n) { taken.push_back(static_cast<int>(n.wanted.load())); };
}

// Lanes, and nodes whose `wanted` is their number. The pool is kept where a leak checker sees it.
struct lanes_and_nodes {
    explicit lanes_and_nodes(int count) : pool(new_pool()), lanes(pool) {
        for (int i = 0; i < count; ++i) {
            nodes.push_back(&pool.take());
            nodes.back()->wanted.store(i);
        }
    }
    lanes_and_nodes(const lanes_and_nodes&) = delete;
    lanes_and_nodes& operator=(const lanes_and_nodes&) = delete;
    ~lanes_and_nodes() {
        for (node* n : nodes) pool.give(*n);
    }

    pushed push(int i) { return lanes.push(*nodes[static_cast<std::size_t>(i)]); }
    numbers drain_mine(std::uint32_t limit = pending_queue::all) {
        numbers taken;
        if (!lanes.mine_is_empty()) lanes.drain_mine(limit, ignore, ignore, into(taken));
        return taken;
    }
    numbers drain_all() {
        numbers taken;
        if (!lanes.empty()) lanes.drain_all(ignore, ignore, into(taken));
        return taken;
    }
    numbers close() {
        numbers taken;
        lanes.close(into(taken));
        return taken;
    }

    static void ignore(node&) {}
    static node_pool& new_pool() {
        static auto* const pools = new std::vector<node_pool*>;
        pools->push_back(new node_pool(some_core()));
        return *pools->back();
    }

    node_pool& pool;
    pending_lanes lanes;
    std::vector<node*> nodes;
};

template <class F>
void on_another_thread(F&& f) {
    std::thread(f).join();
}

TEST_CASE("a thread drains its own lane alone, the consumer all of them", "[pending_lanes]") {
    lanes_and_nodes q(6);
    CHECK(q.lanes.empty());
    q.push(0);
    on_another_thread([&] {
        CHECK(q.lanes.mine_is_empty());
        q.push(1);
        q.push(2);
        CHECK(q.drain_mine() == numbers{1, 2});
        q.push(3);
        q.push(4);
    });
    q.push(5);
    CHECK_FALSE(q.lanes.empty());
    CHECK(q.drain_mine() == numbers{0, 5});
    CHECK_FALSE(q.lanes.empty());
    CHECK(q.drain_all() == numbers{3, 4});
    CHECK(q.lanes.empty());
}

TEST_CASE("what one thread pushed comes out in its order", "[pending_lanes]") {
    constexpr int each = 1000;
    constexpr int threads = 3;
    lanes_and_nodes q(each * threads);
    std::atomic<bool> go{false};
    std::vector<std::thread> pushers;
    for (int t = 0; t < threads; ++t) {
        pushers.emplace_back([&q, &go, t] {
            while (!go) std::this_thread::yield();
            for (int i = 0; i < each; ++i) q.push(t * each + i);
        });
    }
    go = true;
    numbers taken;
    while (taken.size() < each * threads) {
        const numbers more = q.drain_all();
        taken.insert(taken.end(), more.begin(), more.end());
    }
    for (std::thread& t : pushers) t.join();
    std::stable_sort(taken.begin(), taken.end(), [](int a, int b) { return a / each < b / each; });
    CHECK(std::is_sorted(taken.begin(), taken.end()));
    CHECK(q.lanes.empty());
}

TEST_CASE("closing hands over what is in every lane, and none takes more until it is reopened", "[pending_lanes]") {
    lanes_and_nodes q(5);
    q.push(0);
    on_another_thread([&] { q.push(1); });
    CHECK_FALSE(q.lanes.closed());
    numbers left = q.close();
    std::sort(left.begin(), left.end());
    CHECK(left == numbers{0, 1});
    CHECK(q.lanes.closed());
    CHECK(q.push(2) == pushed::closed);
    on_another_thread([&] { CHECK(q.push(3) == pushed::closed); });
    // A thread that never pushed before finds its lane closed as well.
    on_another_thread([&] { CHECK(q.push(4) == pushed::closed); });

    q.lanes.reopen();
    CHECK_FALSE(q.lanes.closed());
    CHECK(q.lanes.empty());
    CHECK(q.push(2) == pushed::queued);
    CHECK(q.drain_all() == numbers{2});
}

TEST_CASE("each push into closing lanes is either handed over or refused", "[pending_lanes]") {
    constexpr int each = 2000;
    constexpr int threads = 3;
    lanes_and_nodes q(each * threads);
    std::atomic<int> started{0};
    std::atomic<int> accepted{0};
    std::vector<std::thread> pushers;
    for (int t = 0; t < threads; ++t) {
        pushers.emplace_back([&, t] {
            ++started;
            for (int i = 0; i < each; ++i) {
                if (q.push(t * each + i) != pushed::closed) ++accepted;
            }
        });
    }
    while (started != threads) std::this_thread::yield();
    std::this_thread::yield();
    const numbers left = q.close();
    for (std::thread& t : pushers) t.join();
    CHECK(static_cast<int>(left.size()) == accepted);
}

}  // namespace
