#include <sandglass/detail/pending_queue.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <support/catch.hpp>

namespace {

using namespace sandglass::detail;
using pushed = pending_queue::pushed;

timer_core& some_core() {
    alignas(cache_line) static std::byte place[cache_line];
    return reinterpret_cast<timer_core&>(place);
}

// A queue, and nodes whose `wanted` is their number. The pool is kept where a leak checker sees it.
struct queue_and_nodes {
    explicit queue_and_nodes(int count) : pool(new_pool()), queue(pool) {
        for (int i = 0; i < count; ++i) {
            nodes.push_back(&pool.take());
            nodes.back()->wanted.store(i);
        }
    }
    queue_and_nodes(const queue_and_nodes&) = delete;
    queue_and_nodes& operator=(const queue_and_nodes&) = delete;
    ~queue_and_nodes() {
        for (node* n : nodes) pool.give(*n);
    }

    pushed push(int i) { return queue.push(*nodes[static_cast<std::size_t>(i)]); }
    std::vector<int> drain(std::uint32_t limit = pending_queue::all) {
        std::vector<int> taken;
        if (queue.empty()) return taken;  // nothing has been pushed, or it is closed
        queue.drain(
            limit, [](node&) {}, [](node&) {}, [&](node& n) { taken.push_back(static_cast<int>(n.wanted.load())); });
        return taken;
    }

    static node_pool& new_pool() {
        static auto* const pools = new std::vector<node_pool*>;
        pools->push_back(new node_pool(some_core()));
        return *pools->back();
    }

    node_pool& pool;
    pending_queue queue;
    std::vector<node*> nodes;
};

using numbers = std::vector<int>;

TEST_CASE("nodes come out of the queue in the order in which they went in", "[pending_queue]") {
    queue_and_nodes q(5);
    CHECK(q.queue.empty());
    CHECK(q.drain().empty());
    for (int i : {3, 0, 4}) CHECK(q.push(i) == pushed::queued);
    CHECK_FALSE(q.queue.empty());
    CHECK(q.drain() == numbers{3, 0, 4});
    CHECK(q.queue.empty());
    for (int i : {1, 3}) CHECK(q.push(i) == pushed::queued);
    CHECK(q.drain() == numbers{1, 3});
}

TEST_CASE("whoever is told of a node may push it again at once", "[pending_queue]") {
    queue_and_nodes q(3);
    for (int i : {0, 1, 2}) q.push(i);
    numbers taken;
    q.queue.drain(
        pending_queue::all, [](node&) {}, [](node&) {},
        [&](node& n) {
            taken.push_back(static_cast<int>(n.wanted.load()));
            if (taken.size() < 3) q.queue.push(n);
        });
    CHECK(taken == numbers{0, 1, 2});  // what was pushed meanwhile waits for the next time
    CHECK(q.drain() == numbers{0, 1});
}

TEST_CASE("a whole group is looked at, then made ready, then handled", "[pending_queue]") {
    const int count = GENERATE(1, 2, 63, 64, 65, 200);
    CAPTURE(count);
    queue_and_nodes q(count);
    for (int i = 0; i < count; ++i) q.push(i);
    int looked = 0;
    int readied = 0;
    int handled = 0;
    bool in_order = true;
    bool whole_groups = true;
    const auto ends_a_group = [count](int n) { return n == count || n % 64 == 0; };
    q.queue.drain(
        pending_queue::all, [&](node& n) { in_order = in_order && n.wanted.load() == looked++; },
        [&](node& n) {
            in_order = in_order && n.wanted.load() == readied++;
            whole_groups = whole_groups && ends_a_group(looked) && readied <= looked;
        },
        [&](node& n) {
            in_order = in_order && n.wanted.load() == handled++;
            whole_groups = whole_groups && readied == looked && handled <= readied;
        });
    CHECK(looked == count);
    CHECK(readied == count);
    CHECK(handled == count);
    CHECK(in_order);
    CHECK(whole_groups);
}

TEST_CASE("every 64th push since the queue was empty completes a batch", "[pending_queue]") {
    queue_and_nodes q(200);
    std::vector<int> completing;
    for (int i = 0; i < 200; ++i) {
        if (q.push(i) == pushed::batch_complete) completing.push_back(i);
    }
    CHECK(completing == numbers{63, 127, 191});
    CHECK(q.drain().size() == 200);
    completing.clear();
    for (int i = 0; i < 70; ++i) {
        if (q.push(i) == pushed::batch_complete) completing.push_back(i);
    }
    CHECK(completing == numbers{63});
    CHECK(q.drain().size() == 70);
}

TEST_CASE("whoever pushes is told when callers have outrun the consumer by far", "[pending_queue]") {
    constexpr int limit = pending_queue::overfull_at;
    queue_and_nodes q(limit + 64);
    const auto last_of_batch = [&q](int first) {
        pushed answer = pushed::queued;
        for (int i = first; i < first + 64; ++i) {
            CHECK(answer == pushed::queued);
            answer = q.push(i);
        }
        return answer;
    };
    int next = 0;
    for (; next < limit - 64; next += 64) REQUIRE(last_of_batch(next) == pushed::batch_complete);
    CHECK(last_of_batch(next) == pushed::overfull);
    // What has been taken in order and not been handled yet counts too.
    CHECK(q.drain(100).size() == 100);
    CHECK(last_of_batch(limit) == pushed::batch_complete);
    CHECK(q.drain().size() == limit - 36);
    CHECK(last_of_batch(0) == pushed::batch_complete);
    CHECK(q.drain().size() == 64);
}

TEST_CASE("a drain may stop after so many nodes, and the next one goes on there", "[pending_queue]") {
    queue_and_nodes q(10);
    for (int i = 0; i < 6; ++i) q.push(i);
    CHECK(q.drain(2) == numbers{0, 1});
    q.push(6);
    q.push(7);
    CHECK_FALSE(q.queue.empty());
    CHECK(q.drain(3) == numbers{2, 3, 4});
    CHECK(q.drain(2) == numbers{5, 6});  // one of the old ones, one of the new ones
    q.push(8);
    q.push(9);
    CHECK(q.drain() == numbers{7, 8, 9});
    CHECK(q.queue.empty());
}

TEST_CASE("closing hands out what a drain has left over, in order", "[pending_queue]") {
    queue_and_nodes q(6);
    for (int i = 0; i < 4; ++i) q.push(i);
    CHECK(q.drain(1) == numbers{0});
    q.push(4);
    q.push(5);
    numbers taken;
    q.queue.close([&](node& n) { taken.push_back(static_cast<int>(n.wanted.load())); });
    CHECK(taken == numbers{1, 2, 3, 4, 5});
    CHECK(q.queue.empty());
}

TEST_CASE("a closed queue takes nothing until it is opened again", "[pending_queue]") {
    queue_and_nodes q(4);
    CHECK_FALSE(q.queue.closed());
    q.push(0);
    q.push(1);
    numbers taken;
    const auto handle = [&](node& n) { taken.push_back(static_cast<int>(n.wanted.load())); };
    q.queue.close(handle);
    CHECK(taken == numbers{0, 1});
    CHECK(q.queue.closed());
    CHECK(q.queue.empty());
    CHECK(q.push(2) == pushed::closed);
    CHECK(q.drain().empty());
    CHECK(q.queue.closed());
    q.queue.close(handle);
    CHECK(taken == numbers{0, 1});
    q.queue.reopen();
    CHECK_FALSE(q.queue.closed());
    CHECK(q.push(3) == pushed::queued);
    CHECK(q.drain() == numbers{3});
}

TEST_CASE("several threads push while one takes: nothing is lost, and each one's order is kept", "[pending_queue]") {
    constexpr int threads = 3;
    constexpr int each = 20'000;
    queue_and_nodes q(threads * each);
    std::atomic<int> refused{0};
    std::vector<std::thread> pushers;
    for (int t = 0; t < threads; ++t) {
        pushers.emplace_back([&, t] {
            for (int i = 0; i < each; ++i) refused += q.push(t * each + i) == pushed::closed;
        });
    }
    std::vector<int> next(threads, 0);
    int disorder = 0;
    for (int total = 0; total < threads * each;) {
        const numbers taken = q.drain();
        total += static_cast<int>(taken.size());
        for (const int number : taken) disorder += number % each != next[static_cast<std::size_t>(number / each)]++;
        if (taken.empty()) std::this_thread::yield();
    }
    for (std::thread& pusher : pushers) pusher.join();
    CHECK(refused == 0);
    CHECK(disorder == 0);
    CHECK(next == numbers(threads, each));
    CHECK(q.queue.empty());
}

TEST_CASE("a push is either refused or handed to whoever closes the queue", "[pending_queue]") {
    constexpr int threads = 3;
    constexpr int each = 64;
    for (int round = 0; round < 50; ++round) {
        queue_and_nodes q(threads * each);
        std::atomic<int> accepted{0};
        std::atomic<int> ready{0};
        std::vector<std::thread> pushers;
        for (int t = 0; t < threads; ++t) {
            pushers.emplace_back([&, t] {
                ++ready;
                for (int i = 0; i < each; ++i) accepted += q.push(t * each + i) != pushed::closed;
            });
        }
        while (ready < threads) std::this_thread::yield();
        int handed = static_cast<int>(q.drain().size());
        q.queue.close([&](node&) { ++handed; });
        for (std::thread& pusher : pushers) pusher.join();
        REQUIRE(handed == accepted);
    }
}

}  // namespace
