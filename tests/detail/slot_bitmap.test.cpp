#include <sandglass/detail/slot_bitmap.hpp>

#include <cstddef>
#include <random>
#include <set>

#include <support/catch.hpp>

namespace {

using sandglass::detail::slot_bitmap;

TEST_CASE("a new bitmap has no bit set", "[slot_bitmap]") {
    for (const std::size_t bits : {1U, 2U, 64U, 128U, 4096U, 8192U}) {
        const slot_bitmap bitmap(bits);
        CHECK(bitmap.count() == 0);
        CHECK(bitmap.find_from(0) == slot_bitmap::none);
        CHECK_FALSE(bitmap.test(bits - 1));
    }
}

TEST_CASE("a bit that is set is found from itself and from before, and not from behind", "[slot_bitmap]") {
    constexpr std::size_t bits = 3 * 4096;
    for (const std::size_t bit : {0U, 1U, 63U, 64U, 65U, 127U, 4095U, 4096U, 4097U, 8191U, 8192U, 12287U}) {
        slot_bitmap bitmap(bits);
        bitmap.set(bit);
        CHECK(bitmap.test(bit));
        CHECK(bitmap.count() == 1);
        CHECK(bitmap.find_from(0) == bit);
        CHECK(bitmap.find_from(bit) == bit);
        if (bit > 0) CHECK(bitmap.find_from(bit - 1) == bit);
        if (bit >= 64) CHECK(bitmap.find_from(bit - 64) == bit);
        CHECK(bitmap.find_from(bit + 1) == slot_bitmap::none);
        CHECK(bitmap.find_from(bits) == slot_bitmap::none);
        bitmap.clear(bit);
        CHECK_FALSE(bitmap.test(bit));
        CHECK(bitmap.count() == 0);
        CHECK(bitmap.find_from(0) == slot_bitmap::none);
    }
}

TEST_CASE("setting or clearing a bit twice counts once", "[slot_bitmap]") {
    slot_bitmap bitmap(256);
    bitmap.set(70);
    bitmap.set(70);
    bitmap.set(71);
    CHECK(bitmap.count() == 2);
    bitmap.clear(70);
    bitmap.clear(70);
    CHECK(bitmap.count() == 1);
    CHECK(bitmap.find_from(0) == 71);  // the other bit of the word is still found
}

TEST_CASE("a bitmap does what a set does", "[slot_bitmap]") {
    const std::size_t bits = GENERATE(std::size_t{1}, std::size_t{32}, std::size_t{64}, std::size_t{512},
                                      std::size_t{4096}, std::size_t{16384});
    const unsigned seed = GENERATE(1U, 2U);
    CAPTURE(bits, seed);
    std::mt19937 random(seed);
    slot_bitmap bitmap(bits);
    std::set<std::size_t> model;
    for (int i = 0; i < 5000; ++i) {
        const std::size_t bit = random() % bits;
        // Grows and shrinks in turns, so that it is sparse and dense by times.
        if (random() % 8 < (i / 500 % 2 == 0 ? 6U : 2U)) {
            bitmap.set(bit);
            model.insert(bit);
        } else {
            bitmap.clear(bit);
            model.erase(bit);
        }
        const std::size_t from = random() % (bits + 1);
        const auto expected = model.lower_bound(from);
        REQUIRE(bitmap.find_from(from) == (expected == model.end() ? slot_bitmap::none : *expected));
        REQUIRE(bitmap.test(from % bits) == (model.count(from % bits) == 1));
        REQUIRE(bitmap.count() == model.size());
    }
}

}  // namespace
