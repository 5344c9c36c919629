#include <sandglass/detail/callable.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <sandglass/context.hpp>

#include <support/allocations.hpp>
#include <support/catch.hpp>

namespace {

using sandglass::timer_context;
using sandglass::detail::callable;

timer_context some_context(sandglass::detail::nanos scheduled = 0) {
    return sandglass::detail::handle_access::context({}, scheduled, 0, 0, 0);
}

// Builds it, calls it once and destroys it.
template <class F>
void call_once(F f) {
    callable c;
    c.emplace<F>(std::move(f));
    timer_context context = some_context();
    c.invoke(context);
    c.destroy();
}

struct counts {
    int built = 0;
    int copied = 0;
    int destroyed = 0;
    int called = 0;
};

// Counts what is done to it. `Size` bytes, aligned to `Align`.
template <std::size_t Size, std::size_t Align = alignof(void*)>
struct alignas(Align) probe {
    explicit probe(counts& c) : seen(&c) { ++seen->built; }
    probe(const probe& other) : seen(other.seen) { ++seen->copied; }
    probe(probe&& other) noexcept : seen(other.seen) { ++seen->built; }
    probe& operator=(const probe&) = delete;
    probe& operator=(probe&&) = delete;
    ~probe() { ++seen->destroyed; }
    void operator()() {
        ++seen->called;
        aligned = reinterpret_cast<std::uintptr_t>(this) % Align == 0;
        seen->called += aligned ? 0 : 1000;
    }
    counts* seen;
    bool aligned = false;
    std::array<char, Size - sizeof(counts*) - sizeof(bool)> rest{};
};
static_assert(sizeof(probe<16>) == 16 && sizeof(probe<24>) == 24 && alignof(probe<64, 64>) == 64);

static_assert(sizeof(callable) == callable::capacity + sizeof(void*));
static_assert(callable::fits<probe<16>> && !callable::fits<probe<24>>);
static_assert(!callable::fits<probe<16, 16>>, "the storage is aligned for pointers only");
static_assert(callable::trivial_to_destroy<void (*)()> && !callable::trivial_to_destroy<probe<16>>);
static_assert(!callable::trivial_to_destroy<std::array<char, 24>>, "its box is not");

template <class Probe>
void check_life() {
    counts seen;
    callable c;
    c.emplace<Probe>(Probe(seen));
    CHECK(seen.built == 2);
    CHECK(seen.destroyed == 1);  // the one that was passed
    timer_context context = some_context();
    c.invoke(context);
    c.invoke(context);
    CHECK(seen.called == 2);
    CHECK(seen.destroyed == 1);
    c.destroy();
    CHECK(seen.destroyed == 2);
    CHECK(seen.copied == 0);
}

TEST_CASE("a callable is built once, moved never copied, and destroyed once", "[callable]") {
    SECTION("of 16 bytes") { check_life<probe<16>>(); }
    SECTION("larger") { check_life<probe<24>>(); }
    SECTION("much larger") { check_life<probe<1000>>(); }
    SECTION("over-aligned") { check_life<probe<16, 16>>(); }
    SECTION("aligned more than operator new does by itself") { check_life<probe<64, 64>>(); }
}

TEST_CASE("16 bytes of captures need no allocation, more need one", "[callable]") {
    counts seen;
    callable c;
    const std::uint64_t start = support::allocations();
    c.emplace<probe<16>>(seen);
    const std::uint64_t small = support::allocations();
    c.destroy();
    c.emplace<probe<24>>(seen);
    const std::uint64_t large = support::allocations();
    c.destroy();
    CHECK(small == start);
    CHECK(large == small + (support::allocations_are_counted ? 1 : 0));
    CHECK(seen.built == seen.destroyed);
}

TEST_CASE("a callable may be move-only, mutable, a function, and return something", "[callable]") {
    static int calls = 0;
    calls = 0;
    call_once([p = std::make_unique<int>(3)] { calls += *p; });
    CHECK(calls == 3);
    call_once([n = 0]() mutable { calls += ++n; });
    CHECK(calls == 4);
    call_once(+[] { ++calls; });
    CHECK(calls == 5);
    call_once([] { return ++calls; });
    CHECK(calls == 6);
}

TEST_CASE("a callable that takes a context is given it", "[callable]") {
    sandglass::detail::nanos seen = 0;
    callable c;
    const auto f = [&seen](timer_context& context) { seen = context.scheduled().count(); };
    c.emplace<decltype(f)>(f);
    timer_context context = some_context(77);
    c.invoke(context);
    c.destroy();
    CHECK(seen == 77);
}

TEST_CASE("a callable that may be called either way is called without a context", "[callable]") {
    struct both {
        int* calls;
        void operator()() { ++*calls; }
        void operator()(timer_context&) { *calls += 100; }
    };
    int calls = 0;
    call_once(both{&calls});
    CHECK(calls == 1);
}

TEST_CASE("a callable has a name if it says so without throwing", "[callable]") {
    struct silent {
        void operator()() {}
    };
    struct talking {
        std::string text;
        [[nodiscard]] std::string_view timer_name() const noexcept { return text; }
        void operator()() {}
    };
    struct small {
        [[nodiscard]] const char* timer_name() const noexcept { return "small"; }
        void operator()() {}
    };
    callable c;
    c.emplace<silent>(silent{});
    CHECK(c.name().empty());
    c.destroy();
    c.emplace<small>(small{});
    CHECK(c.name() == "small");
    c.destroy();
    c.emplace<talking>(talking{"close the order of customer 17, and tell him"});
    CHECK(c.name() == "close the order of customer 17, and tell him");
    c.destroy();
}

TEST_CASE("what a callable throws comes through, and it can still be destroyed", "[callable]") {
    counts seen;
    callable c;
    const auto f = [p = probe<24>(seen)] { throw std::runtime_error("no"); };
    c.emplace<std::remove_const_t<decltype(f)>>(f);
    timer_context context = some_context();
    CHECK_THROWS_AS(c.invoke(context), std::runtime_error);
    c.destroy();
    CHECK(seen.destroyed == 1);
}

TEST_CASE("a callable whose constructor throws leaves nothing behind", "[callable]") {
    struct refusing {
        explicit refusing(int) { throw std::runtime_error("no"); }
        void operator()() {}
        std::array<char, 100> rest{};
    };
    callable c;
    CHECK_THROWS_AS(c.emplace<refusing>(1), std::runtime_error);
}

}  // namespace
