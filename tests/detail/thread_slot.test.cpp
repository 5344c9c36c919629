#include <sandglass/detail/thread_slot.hpp>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <sandglass/detail/counters.hpp>
#include <support/catch.hpp>

namespace {

using namespace sandglass::detail;

// The numbers of `count` threads that live at the same time, and do `work` while they do.
template <class Work>
std::vector<unsigned> slots_of_threads(unsigned count, Work&& work) {
    std::vector<unsigned> slots(count);
    std::atomic<unsigned> arrived{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < count; ++i) {
        threads.emplace_back([&, i] {
            slots[i] = thread_slot::mine();
            ++arrived;
            while (arrived != count) std::this_thread::yield();
            work(i);
        });
    }
    for (std::thread& t : threads) t.join();
    return slots;
}

TEST_CASE("threads that live at the same time have numbers of their own", "[thread_slot]") {
    const std::vector<unsigned> slots = slots_of_threads(8, [](unsigned) {});
    CHECK(std::set<unsigned>(slots.begin(), slots.end()).size() == 8);
    CHECK(std::all_of(slots.begin(), slots.end(), [](unsigned s) { return s < thread_slot::exclusive; }));
    CHECK(thread_slot::mine() == thread_slot::mine());
}

TEST_CASE("the number of a thread that has ended is given to another one", "[thread_slot]") {
    std::set<unsigned> seen;
    for (int round = 0; round < 200; ++round) {
        std::thread([&] { seen.insert(thread_slot::mine()); }).join();
    }
    CHECK(seen.size() == 1);
}

TEST_CASE("when all numbers are out, further threads share the last ones", "[thread_slot]") {
    const std::vector<unsigned> slots = slots_of_threads(thread_slot::all + 4, [](unsigned) {});
    std::multiset<unsigned> used(slots.begin(), slots.end());
    for (const unsigned slot : slots) {
        CHECK(slot < thread_slot::all);
        if (slot < thread_slot::exclusive) CHECK(used.count(slot) == 1);
    }
    CHECK(*used.rbegin() >= thread_slot::exclusive);
}

TEST_CASE("what another copy of the library has claimed is left alone", "[thread_slot]") {
    const int other_copy = 0;
    std::atomic<const void*> claimed{&other_copy};
    CHECK_FALSE(thread_slot::owns(claimed));
    CHECK(claimed == &other_copy);
    std::atomic<const void*> free{nullptr};
    CHECK(thread_slot::owns(free));
    CHECK(thread_slot::owns(free));
    CHECK(free != nullptr);
    for (unsigned slot = 0; slot < thread_slot::all; ++slot) {
        const unsigned instead = thread_slot::shared_instead_of(slot);
        CHECK(instead >= thread_slot::exclusive);
        CHECK(instead < thread_slot::all);
    }
}

TEST_CASE("no count is lost, with however many threads", "[thread_slot][counters]") {
    counters c;
    const unsigned threads = thread_slot::all + 8;
    static_cast<void>(slots_of_threads(threads, [&](unsigned) {
        for (int i = 0; i < 1'000; ++i) c.add(&counter_line::fired, 1);
    }));
    CHECK(c.sum(&counter_line::fired) == threads * 1'000);
}

}  // namespace
