#include <sandglass/named.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sandglass/clock.hpp>
#include <sandglass/timer_queue.hpp>

#include <support/allocations.hpp>
#include <support/catch.hpp>

namespace {

using namespace std::chrono_literals;
using sandglass::named;

// A queue by hand that notes the names it is told of.
struct noting_queue {
    sandglass::manual_clock clock;
    std::vector<std::string> names;
    sandglass::timer_queue<sandglass::inline_executor, std::reference_wrapper<sandglass::manual_clock>> queue{
        sandglass::wheel_options{
            .on_error = [this](const sandglass::timer_error& error) { names.emplace_back(error.name); },
            .slow_callback = 10ms,
            .on_slow = [this](const sandglass::slow_event& event) { names.emplace_back(event.name); }},
        sandglass::inline_executor{}, std::ref(clock)};

    void pass() {
        clock.advance(1ms);
        queue.poll();
    }
};

using names = std::vector<std::string>;

TEST_CASE("a named callable is called like the one it names", "[named]") {
    noting_queue noting;
    int runs = 0;
    noting.queue.schedule_after(1ms, named("plain", [&] { ++runs; }));
    noting.queue.schedule_after(1ms, named("returns something", [&] { return ++runs; }));
    noting.queue.schedule_after(1ms, named("move-only", [&, p = std::make_unique<int>(10)] { runs += *p; }));
    noting.queue.schedule_after(1ms, named("mutable", [&, n = 100]() mutable { runs += n++; }));
    const auto lvalue = [&] { runs += 1000; };
    noting.queue.schedule_after(1ms, named("lvalue", lvalue));
    noting.pass();
    CHECK(runs == 1112);
    CHECK(noting.names.empty());
}

TEST_CASE("a named callable may take a context, and choose its next run", "[named]") {
    noting_queue noting;
    int runs = 0;
    noting.queue.schedule_after(1ms, named("retry", [&](sandglass::timer_context& context) {
                                    if (++runs < 3) context.reschedule_after(1ms);
                                }));
    for (int i = 0; i < 5; ++i) noting.pass();
    CHECK(runs == 3);
}

TEST_CASE("the error hook is told the name", "[named]") {
    noting_queue noting;
    noting.queue.schedule_after(1ms, named("close order", [] { throw std::runtime_error("no"); }));
    noting.queue.schedule_after(1ms, [] { throw std::runtime_error("no"); });
    noting.pass();
    CHECK(noting.names == names{"close order", ""});
}

TEST_CASE("the hook for slow callbacks is told the name", "[named]") {
    noting_queue noting;
    noting.queue.schedule_after(1ms, named("slow", [&] { noting.clock.advance(11ms); }));
    noting.queue.schedule_after(1ms, named("quick", [&] { noting.clock.advance(10ms); }));
    noting.pass();
    CHECK(noting.names == names{"slow"});
}

TEST_CASE("the visitor of what is left is told the name", "[named]") {  // C084
    noting_queue noting;
    noting.queue.schedule_after(2h, named("later", [] {}));
    noting.queue.schedule_every(1h, named("series", [] {}));
    noting.queue.schedule_after(3h, [] {});
    names left;
    CHECK(noting.queue.stop([&](sandglass::leftover_timer&& timer) { left.emplace_back(timer.name()); }) == 3);
    CHECK(left == names{"series", "later", ""});
}

TEST_CASE("a name that is not a literal is copied", "[named]") {
    noting_queue noting;
    const auto fail = [] { throw std::runtime_error("no"); };
    std::string text = "a name that is longer than what a string keeps within itself";
    std::array<char, 6> buffer{"local"};
    char plain[] = "plain";
    noting.queue.schedule_after(1ms, named(text, fail));
    noting.queue.schedule_after(1ms, named(plain, fail));
    noting.queue.schedule_after(1ms, named(buffer.data(), fail));
    noting.queue.schedule_after(1ms, named("order " + std::to_string(17), fail));
    const std::string expected = text;
    text.assign(text.size(), 'x');
    buffer.fill('x');
    plain[0] = 'x';
    noting.pass();
    CHECK(noting.names == names{expected, "plain", "local", "order 17"});
}

TEST_CASE("a name that is a literal leaves room for 8 bytes of captures", "[named]") {
    noting_queue noting;
    int runs = 0;
    const auto schedule = [&] { noting.queue.schedule_after(1ms, named("literal", [&runs] { ++runs; })); };
    for (int i = 0; i < 3; ++i) {
        schedule();
        noting.pass();
    }
    const std::uint64_t before = support::allocations();
    schedule();
    noting.pass();
    const std::uint64_t after = support::allocations();
    CHECK(after == before);
    CHECK(runs == 4);
}

TEST_CASE("a named callable says its name", "[named]") {
    const auto callable = named("heartbeat", [] {});
    CHECK(callable.timer_name() == "heartbeat");
    static_assert(noexcept(callable.timer_name()));
    static_assert(sizeof(callable) <= 2 * sizeof(void*));
}

}  // namespace

TEST_CASE("a null callable is refused also under a name", "[named]") {
    CHECK_THROWS_AS(named("nothing", std::function<void()>{}), std::invalid_argument);
    void (*none)() = nullptr;
    CHECK_THROWS_AS(named(std::string("nothing"), none), std::invalid_argument);
}

TEST_CASE("a name may be a string view", "[named]") {
    constexpr std::string_view text = "heartbeat of node 7";
    CHECK(named(text.substr(0, 9), [] {}).timer_name() == "heartbeat");
}
