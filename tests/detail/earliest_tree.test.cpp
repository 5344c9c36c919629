#include <sandglass/detail/earliest_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include <support/catch.hpp>

namespace {

using sandglass::never_tick;
using sandglass::tick_t;
using sandglass::detail::earliest_tree;

// The slots of a wheel, as far as the tree is concerned.
struct slots_and_tree {
    explicit slots_and_tree(std::size_t count) : earliest(count, never_tick), tree(count) {}

    void add(std::size_t slot, tick_t tick) {
        if (tick >= earliest[slot]) return;
        earliest[slot] = tick;
        tree.lower(slot, tick);
    }
    tick_t find() {
        return tree.find(earliest.size(), [this](std::size_t slot) {
            ++reads;
            return earliest[slot];
        });
    }

    std::vector<tick_t> earliest;
    earliest_tree tree;
    int reads = 0;
};

TEST_CASE("without entries the earliest tick is never", "[earliest_tree]") {
    for (const std::size_t count : {1U, 64U, 65536U}) {
        slots_and_tree slots(count);
        CHECK(slots.find() == never_tick);
        CHECK(slots.reads == 0);
    }
}

TEST_CASE("the earliest tick of all slots is found, at the first and the last of each group", "[earliest_tree]") {
    for (const std::size_t slot : {0U, 1U, 63U, 64U, 4095U, 4096U, 8191U, 65535U}) {
        slots_and_tree slots(65536);
        slots.add(5, 1000);
        slots.add(50'000, 900);
        slots.add(slot, 10);
        CHECK(slots.find() == 10);
    }
}

TEST_CASE("a slot that has become later is noticed when somebody asks", "[earliest_tree]") {
    slots_and_tree slots(8192);
    slots.add(7, 10);
    slots.add(70, 20);
    slots.add(7000, 30);
    slots.earliest[7] = never_tick;
    CHECK(slots.find() == 20);
    slots.earliest[70] = 500;
    CHECK(slots.find() == 30);
    slots.earliest[7000] = never_tick;
    CHECK(slots.find() == 500);
    slots.earliest[70] = never_tick;
    CHECK(slots.find() == never_tick);
    slots.add(70, 3);
    CHECK(slots.find() == 3);
}

TEST_CASE("an answer reads one group of slots, not all of them", "[earliest_tree]") {
    slots_and_tree slots(65536);
    for (std::size_t slot = 0; slot < 65536; ++slot) slots.add(slot, 1'000'000 + static_cast<tick_t>(slot));
    for (std::size_t slot = 0; slot < 1000; ++slot) {
        slots.earliest[slot] += 10'000'000;
        slots.reads = 0;
        REQUIRE(slots.find() == 1'000'000 + static_cast<tick_t>(slot) + 1);
        REQUIRE(slots.reads <= 2 * 64);
    }
}

TEST_CASE("ticks may be negative, and as large as they come", "[earliest_tree]") {
    slots_and_tree slots(128);
    slots.add(100, never_tick - 1);
    CHECK(slots.find() == never_tick - 1);
    slots.add(3, never_tick);
    CHECK(slots.find() == never_tick - 1);
    slots.add(4, -5);
    CHECK(slots.find() == -5);
}

TEST_CASE("the answer is exact after random changes", "[earliest_tree]") {
    const std::size_t count = GENERATE(std::size_t{1}, std::size_t{16}, std::size_t{64}, std::size_t{128},
                                       std::size_t{4096}, std::size_t{8192});
    const unsigned seed = GENERATE(1U, 2U);
    CAPTURE(count, seed);
    std::mt19937 random(seed);
    slots_and_tree slots(count);
    for (int i = 0; i < 1000; ++i) {
        for (std::size_t changes = random() % 8; changes > 0; --changes) {
            const std::size_t slot = random() % count;
            if (random() % 2 == 0) {
                slots.add(slot, static_cast<tick_t>(random() % 10'000));
            } else if (slots.earliest[slot] != never_tick) {  // later only: an earlier tick is told
                slots.earliest[slot] = random() % 2 == 0 ? never_tick : slots.earliest[slot] + 5000;
            }
        }
        REQUIRE(slots.find() == *std::min_element(slots.earliest.begin(), slots.earliest.end()));
    }
}

}  // namespace
