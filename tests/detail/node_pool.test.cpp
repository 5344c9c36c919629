#include <sandglass/detail/node_pool.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include <support/allocations.hpp>
#include <support/catch.hpp>

namespace {

using namespace sandglass::detail;

// A pool asks nothing of its core but the address.
timer_core& some_core() {
    alignas(cache_line) static std::byte place[cache_line];
    return reinterpret_cast<timer_core&>(place);
}

// Nodes are never given back to the system, so the pools are kept where a leak checker sees them.
node_pool& new_pool() {
    static auto* const pools = new std::vector<node_pool*>;
    pools->push_back(new node_pool(some_core()));
    return *pools->back();
}

std::vector<node*> take(node_pool& pool, std::size_t count) {
    std::vector<node*> nodes;
    while (nodes.size() < count) nodes.push_back(&pool.take());
    return nodes;
}

void give(node_pool& pool, const std::vector<node*>& nodes) {
    for (node* n : nodes) pool.give(*n);
}

std::size_t known(const node_pool& pool) {
    std::size_t count = 0;
    pool.for_each([&](const node&) {
        ++count;
        return false;
    });
    return count;
}

TEST_CASE("a node is one cache line, and knows its core and its index by its address", "[node_pool]") {
    node_pool& pool = new_pool();
    const std::vector<node*> nodes = take(pool, 10'000);  // of several chunks
    std::set<std::uint32_t> indices;
    for (node* n : nodes) {
        REQUIRE(reinterpret_cast<std::uintptr_t>(n) % cache_line == 0);
        REQUIRE(chunk_of(*n).core == &some_core());
        REQUIRE(index_of(*n) != 0);
        REQUIRE(&pool.at(index_of(*n)) == n);
        REQUIRE_FALSE(n->linked());
        indices.insert(index_of(*n));
    }
    CHECK(indices.size() == nodes.size());
    give(pool, nodes);
}

TEST_CASE("the node that was given back last is taken first", "[node_pool]") {
    node_pool& pool = new_pool();
    const std::vector<node*> nodes = take(pool, 3);
    give(pool, nodes);
    CHECK(&pool.take() == nodes[2]);
    CHECK(&pool.take() == nodes[1]);
    pool.give(*nodes[1]);
    CHECK(&pool.take() == nodes[1]);
    CHECK(&pool.take() == nodes[0]);
    give(pool, nodes);
}

TEST_CASE("a chain of nodes is given back at once", "[node_pool]") {
    constexpr std::uint32_t count = 8 * node_pool::batch;
    node_pool& pool = new_pool();
    const std::vector<node*> nodes = take(pool, count);
    node_pool::chain chain;
    for (node* n : nodes) chain.push(*n);
    CHECK(chain.count == count);
    pool.give(chain);
    const std::size_t before = known(pool);
    const std::vector<node*> again = take(pool, count);
    CHECK(std::set<node*>(again.begin(), again.end()).size() == count);
    CHECK(known(pool) == before);  // the same ones
    give(pool, again);
}

TEST_CASE("memory is bounded by the most nodes that were out at a time", "[node_pool]") {
    node_pool& pool = new_pool();
    std::vector<node*> nodes = take(pool, 9'000);
    give(pool, nodes);
    const std::uint64_t before = support::allocations();
    for (int round = 0; round < 20; ++round) {
        for (node*& n : nodes) n = &pool.take();
        give(pool, nodes);
    }
    const std::uint64_t after = support::allocations();
    CHECK(after == before);
}

TEST_CASE("a pool counts what it hands out and what comes back", "[node_pool]") {
    node_pool& pool = new_pool();
    CHECK(pool.taken() == 0);
    const std::vector<node*> nodes = take(pool, 300);
    CHECK(pool.taken() == 300);
    CHECK(pool.returned() == 0);
    give(pool, nodes);
    CHECK(pool.taken() == 300);
    CHECK(pool.returned() == 300);
}

TEST_CASE("every node that was ever handed out is visited once", "[node_pool]") {
    node_pool& pool = new_pool();
    CHECK(known(pool) == 0);
    const std::vector<node*> nodes = take(pool, 9'000);
    give(pool, {nodes.begin(), nodes.begin() + 4'000});
    std::multiset<node*> visited;
    pool.for_each([&](node& n) {
        visited.insert(&n);
        return false;
    });
    for (node* n : nodes) REQUIRE(visited.count(n) == 1);
    CHECK(std::set<node*>(visited.begin(), visited.end()).size() == visited.size());
    visited.clear();
    pool.for_each([&](node& n) {
        visited.insert(&n);
        return visited.size() == 5'000;  // enough
    });
    CHECK(visited.size() == 5'000);
    give(pool, {nodes.begin() + 4'000, nodes.end()});
}

TEST_CASE("a node is out to one thread at a time", "[node_pool]") {
    node_pool& pool = new_pool();
    const int threads = GENERATE(4, static_cast<int>(thread_slot::all) + 6);  // the last ones share
    const int rounds = 1'200 / threads;
    std::atomic<int> collisions{0};
    const auto work = [&](sandglass::tick_t me) {
        for (int round = 0; round < rounds; ++round) {
            const std::vector<node*> mine = take(pool, 100);
            for (node* n : mine) collisions += n->wanted.exchange(me, std::memory_order_relaxed) != 0;
            if (round % 3 == 0) std::this_thread::yield();
            for (node* n : mine) collisions += n->wanted.exchange(0, std::memory_order_relaxed) != me;
            give(pool, mine);
        }
    };
    std::vector<std::thread> workers;
    for (int i = 1; i <= threads; ++i) workers.emplace_back(work, i);
    for (std::thread& worker : workers) worker.join();
    CHECK(collisions == 0);
    CHECK(pool.taken() == static_cast<std::uint64_t>(threads * rounds * 100));
    CHECK(pool.returned() == pool.taken());
    // Each thread has had 100 at a time; a stripe keeps less than three batches.
    CHECK(known(pool) <= static_cast<std::size_t>(threads) * (100 + 4 * node_pool::batch));
}

}  // namespace
