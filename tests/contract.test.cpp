#include <sandglass/sandglass.hpp>

#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <support/catch.hpp>

// What the types promise by themselves. If this file compiles, nearly all of it holds.

namespace {

using namespace std::chrono_literals;

template <class T>
inline constexpr bool stays_put = !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T> &&
                                  !std::is_move_constructible_v<T> && !std::is_move_assignable_v<T>;
template <class T>
inline constexpr bool move_only = !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T> &&
                                  std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>;

using queue = sandglass::timer_queue<>;
using timer = sandglass::wheel_timer;

// ---- sizes and how things can be passed -------------------------------------------------------------------------------
static_assert(sizeof(sandglass::timer_handle) == 16 && std::is_trivially_copyable_v<sandglass::timer_handle>);
static_assert(std::is_nothrow_default_constructible_v<sandglass::timer_handle>);
static_assert(std::equality_comparable<sandglass::timer_handle>);
static_assert(sizeof(sandglass::scoped_timer) == 16 && move_only<sandglass::scoped_timer>);
static_assert(sizeof(sandglass::expired_timer) == 2 * sizeof(void*) && move_only<sandglass::expired_timer>);
static_assert(!std::is_default_constructible_v<sandglass::expired_timer>);
static_assert(move_only<sandglass::leftover_timer>);
static_assert(stays_put<sandglass::timer_context> && !std::is_default_constructible_v<sandglass::timer_context>);
static_assert(std::is_trivially_copyable_v<sandglass::timer_stats>);
static_assert(std::is_aggregate_v<sandglass::wheel_options> && std::is_aggregate_v<sandglass::repeat_options>);

// C095
static_assert(stays_put<queue> && stays_put<timer> && stays_put<sandglass::thread_pool>);
static_assert(stays_put<sandglass::manual_clock>);
static_assert(!std::is_convertible_v<sandglass::wheel_options, timer>);  // no timer by accident

// ---- what cannot throw ------------------------------------------------------------------------------------------------
static_assert(noexcept(std::declval<sandglass::timer_handle&>().cancel()));
static_assert(noexcept(std::declval<sandglass::timer_handle&>().cancel_and_wait()));
static_assert(noexcept(std::declval<const sandglass::timer_handle&>().pending()));
static_assert(noexcept(std::declval<const sandglass::timer_handle&>().remaining()));
static_assert(noexcept(std::declval<sandglass::scoped_timer&>().cancel()));
static_assert(noexcept(std::declval<sandglass::scoped_timer&>().release()));
static_assert(noexcept(std::declval<sandglass::timer_context&>().cancel()));
static_assert(noexcept(std::declval<sandglass::expired_timer&>()()));
static_assert(noexcept(std::declval<const queue&>().stats()) && noexcept(std::declval<const timer&>().stats()));
static_assert(noexcept(std::declval<const queue&>().approx_pending()));
static_assert(noexcept(std::declval<const timer&>().approx_pending()));
static_assert(noexcept(std::declval<const queue&>().stopped()) && noexcept(std::declval<const timer&>().stopped()));
static_assert(std::is_nothrow_destructible_v<queue> && std::is_nothrow_destructible_v<timer>);
static_assert(noexcept(std::hash<sandglass::timer_handle>{}(sandglass::timer_handle{})));

// ---- errors -----------------------------------------------------------------------------------------------------------
static_assert(std::derived_from<sandglass::pending_limit_reached, std::runtime_error>);
static_assert(std::derived_from<sandglass::timer_stopped, std::runtime_error>);
static_assert(std::derived_from<sandglass::executor_full, std::runtime_error>);

// ---- concepts ---------------------------------------------------------------------------------------------------------
struct no_executor {};
struct wrong_executor {
    void execute(int) {}
};
struct no_clock {};
struct number_clock {
    long now() { return 0; }
};
struct object_clock {
    std::chrono::time_point<object_clock, std::chrono::duration<double>> now() { return {}; }
};
struct member_executor {
    void execute(sandglass::expired_timer&& task) { task(); }
};
struct by_value_executor {
    void operator()(sandglass::expired_timer task) { task(); }
};
static_assert(sandglass::executor<sandglass::inline_executor> && sandglass::executor<sandglass::thread_pool>);
static_assert(sandglass::executor<member_executor> && sandglass::executor<by_value_executor>);
static_assert(sandglass::executor<std::function<void(sandglass::expired_timer&&)>>);
static_assert(sandglass::executor<void (*)(sandglass::expired_timer&&)>);
static_assert(!sandglass::executor<no_executor> && !sandglass::executor<wrong_executor>);
static_assert(sandglass::clock<std::chrono::steady_clock> && sandglass::clock<std::chrono::system_clock>);
static_assert(sandglass::clock<std::chrono::high_resolution_clock> && sandglass::clock<object_clock>);
static_assert(sandglass::clock<sandglass::manual_clock> && sandglass::waitable_clock<sandglass::manual_clock>);
static_assert(!sandglass::clock<no_clock> && !sandglass::clock<number_clock>);
static_assert(!sandglass::waitable_clock<std::chrono::steady_clock>);

// ---- types that are named in the documentation ------------------------------------------------------------------------
static_assert(std::same_as<sandglass::wheel_timer, sandglass::basic_wheel_timer<>>);
static_assert(std::same_as<sandglass::wheel_timer,
                           sandglass::basic_wheel_timer<sandglass::inline_executor, std::chrono::steady_clock>>);
static_assert(std::same_as<queue::time_point, std::chrono::steady_clock::time_point>);
static_assert(std::same_as<timer::time_point, std::chrono::steady_clock::time_point>);
static_assert(std::same_as<queue::executor_type, sandglass::inline_executor>);
static_assert(std::same_as<timer::clock_type, std::chrono::steady_clock>);
static_assert(std::same_as<sandglass::manual_clock::time_point::clock, std::chrono::steady_clock>);

struct order_book {
    int order = 0;
    friend void close(order_book&) {}
};

}  // namespace

TEST_CASE("the synopsis compiles as it stands", "[contract]") {
    order_book order;
    const auto failed = [] { return false; };
    const auto heartbeat = [] {};
    const auto sync = [] {};
    const auto f = [] {};
    const auto visitor = [](sandglass::leftover_timer&&) {};
    const auto wake_my_loop = [] {};

    sandglass::wheel_timer timer;
    sandglass::wheel_timer fine{{.tick = 100us, .slots = 65536, .max_pending = 1'000'000, .thread_name = "orders"}};

    sandglass::timer_handle h = timer.schedule_after(30s, [&order] { close(order); });
    timer.schedule_at(std::chrono::steady_clock::now() + 5s, f);
    timer.schedule_every(1s, heartbeat);
    timer.schedule_every(1s, sync, {.first = 0s, .mode = sandglass::repeat::fixed_delay});
    timer.schedule_after(1s, [failed](sandglass::timer_context& c) {
        if (failed()) c.reschedule_after(c.scheduled_delay() * 2);
    });
    auto maybe = timer.try_schedule_after(30s, f);
    CHECK(maybe);
    CHECK(h);

    const auto tp = std::chrono::steady_clock::now() + 10s;
    CHECK(h.reschedule_after(10s));
    CHECK(h.reschedule_at(tp));
    CHECK(h.pending());
    CHECK(h.remaining() > 0s);
    CHECK(h.cancel());
    CHECK_FALSE(h.cancel_and_wait());
    sandglass::scoped_timer guard = timer.schedule_after(30s, f);
    CHECK(timer.approx_pending() == 6);
    CHECK(timer.stats().cancelled == 1);
    timer.stop();
    timer.stop(visitor);

    sandglass::thread_pool pool{4};
    sandglass::basic_wheel_timer pooled{sandglass::wheel_options{}, std::ref(pool)};
    static_assert(
        std::same_as<decltype(pooled), sandglass::basic_wheel_timer<std::reference_wrapper<sandglass::thread_pool>>>);

    sandglass::manual_clock clock;
    sandglass::timer_queue queue{sandglass::wheel_options{}, sandglass::inline_executor{}, std::ref(clock)};
    clock.advance(1h);
    queue.poll();
    CHECK_FALSE(queue.next_deadline().has_value());
    queue.on_earlier(wake_my_loop);
}

TEST_CASE("the types of executor and clock are deduced from what is passed", "[contract]") {
    using sandglass::wheel_options;
    sandglass::thread_pool pool{1};
    sandglass::manual_clock clock;
    sandglass::timer_queue plain{wheel_options{}};
    static_assert(std::same_as<decltype(plain), sandglass::timer_queue<>>);
    sandglass::timer_queue with_lambda{wheel_options{}, [](sandglass::expired_timer&& task) { task(); }};
    sandglass::timer_queue with_object{wheel_options{}, member_executor{}, object_clock{}};
    static_assert(std::same_as<decltype(with_object), sandglass::timer_queue<member_executor, object_clock>>);
    static_assert(std::same_as<decltype(with_object)::time_point, decltype(object_clock{}.now())>);
    sandglass::timer_queue shared{wheel_options{}, std::make_shared<member_executor>(),
                                  std::make_shared<sandglass::manual_clock>()};
    sandglass::basic_wheel_timer referred{wheel_options{}, std::ref(pool), std::ref(clock)};
    static_assert(std::same_as<decltype(referred),
                               sandglass::basic_wheel_timer<std::reference_wrapper<sandglass::thread_pool>,
                                                            std::reference_wrapper<sandglass::manual_clock>>>);
    sandglass::basic_wheel_timer default_clock{wheel_options{}, std::make_shared<sandglass::thread_pool>(2U)};
    CHECK(plain.approx_pending() + with_lambda.approx_pending() + shared.approx_pending() == 0);
    CHECK_FALSE(default_clock.stopped());
}

// C032
TEST_CASE("handles are discarded at will and move-only callables are accepted everywhere", "[contract]") {
    sandglass::timer_queue<> queue;
    queue.schedule_after(1h, [p = std::make_unique<int>(1)] {});
    queue.schedule_at(std::chrono::steady_clock::now() + 1h, [p = std::make_unique<int>(1)]() mutable { ++*p; });
    queue.schedule_every(1h, [p = std::make_unique<int>(1)](sandglass::timer_context&) mutable { ++*p; });
    CHECK(queue.try_schedule_after(1h, [p = std::make_unique<int>(1)] {}));
    CHECK(queue.try_schedule_at(std::chrono::steady_clock::now(), [p = std::make_unique<int>(1)] {}));
    CHECK(queue.try_schedule_every(1h, [p = std::make_unique<int>(1)] {}, {.first = 1h}));
    CHECK(queue.stop() == 6);
}
