#include <sandglass/detail/list.hpp>

#include <array>
#include <vector>

#include <support/catch.hpp>

namespace {

using sandglass::detail::intrusive_list;
using sandglass::detail::list_hook;

struct item : list_hook {
    int id = 0;
};

std::array<item, 6> six_items() {
    std::array<item, 6> items;
    for (int i = 0; i < 6; ++i) items[static_cast<unsigned>(i)].id = i;
    return items;
}

// Forwards, having checked that it is the same backwards.
std::vector<int> ids(const intrusive_list& list) {
    std::vector<int> forwards;
    std::vector<int> backwards;
    for (const list_hook* i = list.front(); i != list.sentinel(); i = i->next) {
        forwards.push_back(static_cast<const item*>(i)->id);
    }
    for (const list_hook* i = list.back(); i != list.sentinel(); i = i->prev) {
        backwards.insert(backwards.begin(), static_cast<const item*>(i)->id);
    }
    CHECK(forwards == backwards);
    CHECK(list.empty() == forwards.empty());
    return forwards;
}

using numbers = std::vector<int>;

TEST_CASE("a list keeps the order in which entries were pushed", "[list]") {
    auto items = six_items();
    intrusive_list list;
    CHECK(ids(list).empty());
    for (item& i : items) {
        CHECK_FALSE(i.linked());
        list.push_back(i);
        CHECK(i.linked());
    }
    CHECK(ids(list) == numbers{0, 1, 2, 3, 4, 5});
    CHECK(list.front() == &items.front());
    CHECK(list.back() == &items.back());
}

TEST_CASE("an entry leaves its list without knowing it", "[list]") {
    auto items = six_items();
    intrusive_list list;
    for (item& i : items) list.push_back(i);
    items[2].unlink();
    CHECK_FALSE(items[2].linked());
    CHECK(ids(list) == numbers{0, 1, 3, 4, 5});
    items[0].unlink();
    items[5].unlink();
    CHECK(ids(list) == numbers{1, 3, 4});
    list.push_back(items[0]);
    CHECK(ids(list) == numbers{1, 3, 4, 0});
    for (int id : {1, 3, 4, 0}) items[static_cast<unsigned>(id)].unlink();
    CHECK(ids(list).empty());
    list.push_back(items[3]);
    CHECK(ids(list) == numbers{3});
}

TEST_CASE("the entries of one list may be moved behind those of another", "[list]") {
    auto items = six_items();
    intrusive_list one;
    intrusive_list other;
    one.splice_back(other);
    CHECK(ids(one).empty());
    for (unsigned i : {0U, 1U}) other.push_back(items[i]);
    one.splice_back(other);
    CHECK(ids(one) == numbers{0, 1});
    CHECK(ids(other).empty());
    one.splice_back(other);
    CHECK(ids(one) == numbers{0, 1});
    for (unsigned i : {2U, 3U, 4U}) other.push_back(items[i]);
    one.splice_back(other);
    CHECK(ids(one) == numbers{0, 1, 2, 3, 4});
    CHECK(ids(other).empty());
    items[4].unlink();
    other.push_back(items[5]);
    CHECK(ids(one) == numbers{0, 1, 2, 3});
    CHECK(ids(other) == numbers{5});
}

TEST_CASE("a list that is reset forgets its entries", "[list]") {
    auto items = six_items();
    intrusive_list list;
    list.push_back(items[0]);
    list.reset();
    CHECK(ids(list).empty());
}

}  // namespace
