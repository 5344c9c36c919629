#include <sandglass/executor.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <filesystem>
#endif

#include <sandglass/timer_queue.hpp>
#include <sandglass/wheel_timer.hpp>

#include <support/allocations.hpp>
#include <support/catch.hpp>

namespace {

using namespace std::chrono_literals;
using sandglass::expired_timer;
using sandglass::thread_pool;

// ---- what is an executor ----------------------------------------------------------------------------------------------

struct with_execute {
    void execute(expired_timer&& task) { task(); }
};
struct callable_by_value {
    void operator()(expired_timer task) const { task(); }
};
struct takes_something_else {
    void execute(int) {}
};

static_assert(sandglass::executor<sandglass::inline_executor> && sandglass::executor<thread_pool>);
static_assert(sandglass::executor<with_execute> && sandglass::executor<callable_by_value>);
static_assert(sandglass::executor<void (*)(expired_timer&&)>);
static_assert(sandglass::executor<std::function<void(expired_timer&&)>>);
static_assert(!sandglass::executor<takes_something_else> && !sandglass::executor<int>);
static_assert(!sandglass::executor<void (*)()>);

static_assert(!std::is_copy_constructible_v<expired_timer> && !std::is_copy_assignable_v<expired_timer>);
static_assert(std::is_nothrow_move_constructible_v<expired_timer> && std::is_nothrow_move_assignable_v<expired_timer>);
static_assert(sizeof(expired_timer) == 2 * sizeof(void*));
static_assert(noexcept(std::declval<expired_timer&>()()));

static_assert(!std::is_copy_constructible_v<thread_pool> && !std::is_move_constructible_v<thread_pool>);

// ---- helpers ----------------------------------------------------------------------------------------------------------

constexpr auto patience = 30s;

// Holds a callback until the test lets it go, at the latest when the test is over. Declared behind the pool.
class gate {
  public:
    gate() = default;
    gate(const gate&) = delete;
    gate& operator=(const gate&) = delete;
    ~gate() { open(); }
    void open() {
        if (!std::exchange(is_open_, true)) opened_.set_value();
    }
    // For a callable: says that it has begun, and waits.
    std::function<void()> hold() {
        return [held = held_, opened = future_] {
            ++*held;
            opened.wait();
        };
    }
    void wait_until_held(int count) const {
        while (*held_ < count) std::this_thread::yield();
    }

  private:
    std::promise<void> opened_;
    std::shared_future<void> future_{opened_.get_future().share()};
    // Shared, since a callback that was still waiting for a worker may begin after the gate has gone.
    std::shared_ptr<std::atomic<int>> held_ = std::make_shared<std::atomic<int>>(0);
    bool is_open_ = false;
};

// What on_error was told, in words.
class error_log {
  public:
    std::function<void(const sandglass::timer_error&)> hook() {
        return [this](const sandglass::timer_error& error) {
            std::string text = error.kind == sandglass::error_kind::rejected          ? "rejected"
                               : error.kind == sandglass::error_kind::callback_failed ? "callback failed"
                                                                                      : "hook failed";
            if (error.exception) {
                try {
                    std::rethrow_exception(error.exception);
                } catch (const sandglass::executor_full& e) {
                    text += std::string(", full: ") + e.what();
                } catch (const std::exception& e) {
                    text += std::string(": ") + e.what();
                }
            }
            const std::lock_guard lock(mutex_);
            lines_.push_back(text);
        };
    }
    std::vector<std::string> lines() const {
        const std::lock_guard lock(mutex_);
        return lines_;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
};

using lines = std::vector<std::string>;

sandglass::wheel_options options(error_log& log) { return {.on_error = log.hook()}; }

template <class Queue>
std::size_t pass(Queue& queue) {
    queue.timer_clock().advance(1ms);
    return queue.poll();
}

// Numbers from several threads.
class numbers {
  public:
    void add(int number) {
        const std::lock_guard lock(mutex_);
        numbers_.push_back(number);
    }
    std::vector<int> get() const {
        const std::lock_guard lock(mutex_);
        return numbers_;
    }
    void wait_for(std::size_t count) const {
        while (get().size() < count) std::this_thread::yield();
    }

  private:
    mutable std::mutex mutex_;
    std::vector<int> numbers_;
};

// ---- the executor's side ----------------------------------------------------------------------------------------------

TEST_CASE("the inline executor calls on the thread that polls", "[executor]") {
    sandglass::manual_clock clock;
    sandglass::timer_queue queue{sandglass::wheel_options{}, sandglass::inline_executor{}, std::ref(clock)};
    std::thread::id where;
    queue.schedule_after(1ms, [&] { where = std::this_thread::get_id(); });
    CHECK(pass(queue) == 1);
    CHECK(where == std::this_thread::get_id());
}

TEST_CASE("an executor may be a function object, a function, or shared", "[executor]") {  // C065
    sandglass::manual_clock clock;
    int runs = 0;
    const auto try_it = [&](auto executor) {
        sandglass::timer_queue queue{sandglass::wheel_options{}, std::move(executor), std::ref(clock)};
        queue.schedule_after(1ms, [&] { ++runs; });
        pass(queue);
    };
    int handed_over = 0;
    try_it([&](expired_timer&& task) {
        ++handed_over;
        task();
    });
    CHECK(runs == 1);
    CHECK(handed_over == 1);
    try_it(callable_by_value{});
    CHECK(runs == 2);
    try_it(+[](expired_timer&& task) { task(); });
    CHECK(runs == 3);
    with_execute by_reference;
    try_it(std::ref(by_reference));
    CHECK(runs == 4);
    try_it(std::make_shared<with_execute>());
    CHECK(runs == 5);
}

TEST_CASE("a task that is called twice runs once", "[executor]") {
    sandglass::manual_clock clock;
    int runs = 0;
    std::vector<bool> to_be_called;
    sandglass::timer_queue queue{sandglass::wheel_options{},
                                 [&](expired_timer&& task) {
                                     to_be_called.push_back(static_cast<bool>(task));
                                     task();
                                     to_be_called.push_back(static_cast<bool>(task));
                                     task();
                                 },
                                 std::ref(clock)};
    queue.schedule_after(1ms, [&] { ++runs; });
    pass(queue);
    CHECK(runs == 1);
    CHECK(to_be_called == std::vector<bool>{true, false});
}

TEST_CASE("a task that is dropped counts as rejected", "[executor]") {  // S004
    sandglass::manual_clock clock;
    error_log log;
    sandglass::timer_queue queue{
        options(log), [](expired_timer&& task) { const expired_timer dropped(std::move(task)); }, std::ref(clock)};
    const auto capture = std::make_shared<int>(0);
    auto handle = queue.schedule_after(1ms, [capture] {});
    CHECK(pass(queue) == 1);
    CHECK(log.lines() == lines{"rejected"});
    CHECK(queue.stats().rejected == 1);
    CHECK(queue.stats().fired == 0);
    CHECK(queue.approx_pending() == 0);
    CHECK_FALSE(handle.pending());
    CHECK_FALSE(handle.cancel());
    CHECK(capture.use_count() == 1);
}

TEST_CASE("an executor that does not touch the task has dropped it", "[executor]") {
    sandglass::manual_clock clock;
    error_log log;
    sandglass::timer_queue queue{options(log), [](expired_timer&&) {}, std::ref(clock)};
    queue.schedule_after(1ms, [] {});
    pass(queue);
    CHECK(log.lines() == lines{"rejected"});
}

TEST_CASE("an executor that throws has rejected the task, and is told of with what it threw", "[executor]") {  // C043
    sandglass::manual_clock clock;
    error_log log;
    int calls = 0;
    int runs = 0;
    sandglass::timer_queue queue{options(log),
                                 [&](expired_timer&& task) {
                                     if (++calls % 2 == 1) throw std::runtime_error("busy");
                                     task();
                                 },
                                 std::ref(clock)};
    for (int i = 0; i < 4; ++i) queue.schedule_after(1ms, [&] { ++runs; });
    auto series = queue.schedule_every(2ms, [&] { runs += 100; });
    pass(queue);
    CHECK(log.lines() == lines{"rejected: busy", "rejected: busy"});
    CHECK(runs == 2);
    pass(queue);  // the first run of the series is refused,
    CHECK(runs == 2);
    CHECK(log.lines().size() == 3);
    CHECK(series.pending());
    pass(queue);
    pass(queue);  // the second is not
    CHECK(runs == 102);
    CHECK(queue.stats().rejected == 3);
}

TEST_CASE("an executor that throws after it has run the task has not rejected it", "[executor]") {
    sandglass::manual_clock clock;
    error_log log;
    int runs = 0;
    sandglass::timer_queue queue{options(log),
                                 [](expired_timer&& task) {
                                     task();
                                     throw std::runtime_error("afterwards");
                                 },
                                 std::ref(clock)};
    queue.schedule_after(1ms, [&] { ++runs; });
    pass(queue);
    CHECK(runs == 1);
    CHECK(log.lines() == lines{"hook failed: afterwards"});
    CHECK(queue.stats().fired == 1);
    CHECK(queue.stats().rejected == 0);
}

// Keeps what it is given.
struct keeper {
    std::vector<expired_timer> tasks;
    void execute(expired_timer&& task) { tasks.push_back(std::move(task)); }
};

TEST_CASE("a task may be kept and called later", "[executor]") {
    sandglass::manual_clock clock;
    error_log log;
    keeper kept;
    sandglass::timer_queue queue{options(log), std::ref(kept), std::ref(clock)};
    std::vector<int> runs;
    for (int i = 0; i < 3; ++i) queue.schedule_after(1ms, [&, i] { runs.push_back(i); });
    CHECK(pass(queue) == 3);
    CHECK(runs.empty());
    CHECK(queue.approx_pending() == 3);
    kept.tasks[1]();
    CHECK(runs == std::vector<int>{1});
    kept.tasks[0] = std::move(kept.tasks[2]);  // the one that stood there is dropped
    CHECK(log.lines() == lines{"rejected"});
    CHECK_FALSE(static_cast<bool>(kept.tasks[2]));
    kept.tasks[0]();
    CHECK(runs == std::vector<int>{1, 2});
    CHECK(queue.approx_pending() == 0);
}

TEST_CASE("a task whose timer was cancelled meanwhile does nothing", "[executor]") {  // C001, S003
    sandglass::manual_clock clock;
    error_log log;
    keeper kept;
    sandglass::timer_queue queue{options(log), std::ref(kept), std::ref(clock)};
    int runs = 0;
    auto handle = queue.schedule_after(1ms, [&] { ++runs; });
    auto dropped = queue.schedule_after(1ms, [&] { ++runs; });
    pass(queue);
    CHECK(handle.cancel());
    CHECK(dropped.cancel());
    kept.tasks[0]();
    kept.tasks.clear();
    CHECK(runs == 0);
    CHECK(log.lines().empty());
    CHECK(queue.stats().cancelled == 2);
}

TEST_CASE("a task whose timer was moved meanwhile does nothing, and the timer runs at its new time",
          "[executor]") {  // C020
    sandglass::manual_clock clock;
    keeper kept;
    sandglass::timer_queue queue{sandglass::wheel_options{}, std::ref(kept), std::ref(clock)};
    int runs = 0;
    auto handle = queue.schedule_after(1ms, [&] { ++runs; });
    pass(queue);
    CHECK(handle.reschedule_after(5ms));
    kept.tasks[0]();
    CHECK(runs == 0);
    for (int i = 0; i < 4; ++i) CHECK(pass(queue) == 0);
    CHECK(pass(queue) == 1);
    kept.tasks[1]();
    CHECK(runs == 1);
}

TEST_CASE("a task may outlive the timer object, and does nothing then", "[executor]") {
    sandglass::manual_clock clock;
    keeper kept;
    int runs = 0;
    const auto capture = std::make_shared<int>(0);
    {
        sandglass::timer_queue queue{sandglass::wheel_options{}, std::ref(kept), std::ref(clock)};
        for (int i = 0; i < 2; ++i) queue.schedule_after(1ms, [&runs, capture] { ++runs; });
        pass(queue);
    }
    CHECK(capture.use_count() == 1);
    REQUIRE(kept.tasks.size() == 2);
    kept.tasks[0]();
    kept.tasks.clear();
    CHECK(runs == 0);
}

// ---- the pool ---------------------------------------------------------------------------------------------------------

TEST_CASE("a pool of one thread runs tasks in the order of their deadlines", "[executor]") {
    thread_pool pool(1);
    CHECK(pool.size() == 1);
    sandglass::manual_clock clock;
    sandglass::timer_queue queue{sandglass::wheel_options{}, std::ref(pool), std::ref(clock)};
    numbers ran;
    std::atomic<bool> here{false};
    for (int i = 99; i >= 0; --i) {
        queue.schedule_after(std::chrono::milliseconds(1 + i), [&, i, caller = std::this_thread::get_id()] {
            if (std::this_thread::get_id() == caller) here = true;
            ran.add(i);
        });
    }
    clock.advance(1s);
    CHECK(queue.poll() == 100);
    ran.wait_for(100);
    std::vector<int> expected(100);
    for (int i = 0; i < 100; ++i) expected[static_cast<std::size_t>(i)] = i;
    CHECK(ran.get() == expected);
    CHECK_FALSE(here);
    CHECK(pool.approx_queued() == 0);
}

#if defined(__linux__)

int threads_named(const std::string& name) {
    int count = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string comm;
        std::getline(std::ifstream(task.path() / "comm"), comm);
        count += comm == name ? 1 : 0;
    }
    return count;
}

// A thread that was joined may be seen for a moment longer.
bool none_named(const std::string& name) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (threads_named(name) != 0) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::yield();
    }
    return true;
}

TEST_CASE("a pool has as many threads as it was told, all with its name", "[executor]") {  // C056
    struct names {
        sandglass::pool_options given;
        std::string shown;
    };
    const auto [given, shown] =
        GENERATE(as<names>{}, names{{}, "sandglass-pool"}, names{{.thread_name = "orders"}, "orders"},
                 names{{.thread_name = "longer than 15 bytes"}, "longer than 15 "});
    CHECK(none_named(shown));
    {
        thread_pool pool(5, given);
        CHECK(pool.size() == 5);
        sandglass::manual_clock clock;
        sandglass::timer_queue queue{sandglass::wheel_options{}, std::ref(pool), std::ref(clock)};
        gate all;
        for (int i = 0; i < 20; ++i) queue.schedule_after(1ms, all.hold());
        pass(queue);
        all.wait_until_held(5);  // each worker has begun, and has its name
        CHECK(threads_named(shown) == 5);
        CHECK(pool.approx_queued() == 15);
        all.open();
    }
    CHECK(none_named(shown));
}

#endif

TEST_CASE("a callback that takes long holds up one worker only", "[executor]") {  // C007
    thread_pool pool(2);
    sandglass::manual_clock clock;
    sandglass::timer_queue queue{sandglass::wheel_options{}, std::ref(pool), std::ref(clock)};
    gate slow;
    numbers ran;
    queue.schedule_after(1ms, slow.hold());
    for (int i = 0; i < 50; ++i) queue.schedule_after(2ms, [&, i] { ran.add(i); });
    pass(queue);
    slow.wait_until_held(1);
    pass(queue);
    ran.wait_for(50);
    CHECK(queue.stats().fired == 51);
}

TEST_CASE("a full pool lets the thread that turns the wheel run the task itself", "[executor]") {
    thread_pool pool(1, {.queue_limit = 2, .full = sandglass::when_full::caller_runs});
    sandglass::manual_clock clock;
    error_log log;
    sandglass::timer_queue queue{options(log), std::ref(pool), std::ref(clock)};
    gate busy;
    numbers here;
    numbers there;
    queue.schedule_after(1ms, busy.hold());
    for (int i = 0; i < 5; ++i) {
        queue.schedule_after(2ms, [&, i, caller = std::this_thread::get_id()] {
            (std::this_thread::get_id() == caller ? here : there).add(i);
        });
    }
    pass(queue);
    busy.wait_until_held(1);
    CHECK(pass(queue) == 5);
    CHECK(here.get() == std::vector<int>{2, 3, 4});
    CHECK(there.get().empty());
    CHECK(pool.approx_queued() == 2);
    busy.open();
    there.wait_for(2);
    CHECK(there.get() == std::vector<int>{0, 1});
    CHECK(log.lines().empty());
    CHECK(queue.stats().fired == 6);
}

TEST_CASE("a full pool refuses if it was told to", "[executor]") {
    thread_pool pool(1, {.queue_limit = 2, .full = sandglass::when_full::refuse});
    sandglass::manual_clock clock;
    error_log log;
    sandglass::timer_queue queue{options(log), std::ref(pool), std::ref(clock)};
    gate busy;
    numbers ran;
    queue.schedule_after(1ms, busy.hold());
    for (int i = 0; i < 4; ++i) queue.schedule_after(2ms, [&, i] { ran.add(i); });
    pass(queue);
    busy.wait_until_held(1);
    CHECK(pass(queue) == 4);
    const std::string refusal = "rejected, full: sandglass: thread_pool has 2 tasks waiting, as many as "
                                "pool_options::queue_limit allows";
    CHECK(log.lines() == lines{refusal, refusal});
    CHECK(queue.stats().rejected == 2);
    busy.open();
    ran.wait_for(2);
    CHECK(ran.get() == std::vector<int>{0, 1});
    // There is room again.
    queue.schedule_after(1ms, [&] { ran.add(9); });
    pass(queue);
    ran.wait_for(3);
    CHECK(ran.get() == std::vector<int>{0, 1, 9});
}

TEST_CASE("a pool without a limit takes everything", "[executor]") {  // C072
    thread_pool pool(1);
    sandglass::manual_clock clock;
    sandglass::timer_queue queue{sandglass::wheel_options{}, std::ref(pool), std::ref(clock)};
    gate busy;
    std::atomic<int> runs{0};
    queue.schedule_after(1ms, busy.hold());
    pass(queue);
    busy.wait_until_held(1);
    for (int i = 0; i < 10'000; ++i) queue.schedule_after(1ms, [&] { ++runs; });
    CHECK(pass(queue) == 10'000);
    CHECK(pool.approx_queued() == 10'000);
    CHECK(runs == 0);
    busy.open();
    pool.stop();
    CHECK(runs == 10'000);
}

TEST_CASE("a pool that stops runs what was waiting and refuses what comes", "[executor]") {
    thread_pool pool(1);
    sandglass::manual_clock clock;
    error_log log;
    sandglass::timer_queue queue{options(log), std::ref(pool), std::ref(clock)};
    gate busy;
    std::atomic<int> runs{0};
    queue.schedule_after(1ms, busy.hold());
    for (int i = 0; i < 10; ++i) queue.schedule_after(1ms, [&] { ++runs; });
    pass(queue);
    busy.wait_until_held(1);
    auto stopping = std::async(std::launch::async, [&] { pool.stop(); });
    // Goes on until the other thread has come so far that the pool refuses.
    int accepted = 0;
    for (; queue.stats().rejected == 0; ++accepted) {
        queue.schedule_after(1ms, [&] { ++runs; });
        pass(queue);
        std::this_thread::yield();
    }
    --accepted;
    CHECK(stopping.wait_for(0s) == std::future_status::timeout);  // one is still running
    CHECK(runs == 0);
    CHECK(log.lines() == lines{"rejected, full: sandglass: thread_pool is stopped"});
    busy.open();
    REQUIRE(stopping.wait_for(patience) == std::future_status::ready);
    CHECK(runs == 10 + accepted);
    CHECK(queue.stats().fired == static_cast<std::uint64_t>(11 + accepted));
    CHECK(pool.approx_queued() == 0);

    queue.schedule_after(1ms, [&] { ++runs; });
    pass(queue);
    CHECK(log.lines().size() == 2);
    CHECK(queue.approx_pending() == 0);
}

TEST_CASE("a pool may be stopped again, by several threads, and by a worker", "[executor]") {
    thread_pool pool(3);
    sandglass::manual_clock clock;
    sandglass::timer_queue queue{sandglass::wheel_options{}, std::ref(pool), std::ref(clock)};
    std::promise<void> returned;
    queue.schedule_after(1ms, [&] {
        pool.stop();  // does not wait for itself
        returned.set_value();
    });
    pass(queue);
    REQUIRE(returned.get_future().wait_for(patience) == std::future_status::ready);
    std::vector<std::future<void>> stopping;
    for (int i = 0; i < 3; ++i) stopping.push_back(std::async(std::launch::async, [&] { pool.stop(); }));
    for (std::future<void>& s : stopping) CHECK(s.wait_for(patience) == std::future_status::ready);
    pool.stop();
    CHECK(pool.size() == 3);
}

TEST_CASE("a number of threads that no pool can have is refused by value and what is allowed", "[executor]") {
    const std::size_t threads = GENERATE(std::size_t{0}, thread_pool::max_threads + 1, static_cast<std::size_t>(-1));
    std::string message;
    try {
        const thread_pool pool(threads);
    } catch (const std::invalid_argument& error) {
        message = error.what();
    }
    CHECK(message == "sandglass: thread_pool: threads is " + std::to_string(threads) + "; allowed is 1 to 4096");
}

TEST_CASE("handing over to a pool allocates nothing", "[executor]") {
    thread_pool pool(2, {.queue_limit = 20});
    sandglass::manual_clock clock;
    sandglass::timer_queue queue{sandglass::wheel_options{}, std::ref(pool), std::ref(clock)};
    std::atomic<int> runs{0};
    const auto round = [&] {
        runs = 0;
        for (int i = 0; i < 100; ++i) queue.schedule_after(1ms, [&runs] { ++runs; });
        pass(queue);
        while (runs < 100) std::this_thread::yield();
    };
    for (int i = 0; i < 5; ++i) round();
    const std::uint64_t before = support::allocations();
    for (int i = 0; i < 20; ++i) round();
    const std::uint64_t after = support::allocations();
    CHECK(after == before);
}

TEST_CASE("a pool that goes runs what was waiting", "[executor]") {
    sandglass::manual_clock clock;
    error_log log;
    std::atomic<int> runs{0};
    auto pool = std::make_unique<thread_pool>(2);
    sandglass::timer_queue queue{options(log), std::ref(*pool), std::ref(clock)};
    for (int i = 0; i < 1000; ++i) queue.schedule_after(1ms, [&] { ++runs; });
    pass(queue);
    pool.reset();
    CHECK(runs == 1000);
    CHECK(log.lines().empty());
}

TEST_CASE("a callback on a worker may destroy its queue, and with it the pool", "[executor]") {  // C015
    sandglass::manual_clock clock;
    using queue_type =
        sandglass::timer_queue<std::shared_ptr<thread_pool>, std::reference_wrapper<sandglass::manual_clock>>;
    auto pool = std::make_shared<thread_pool>(2, sandglass::pool_options{.thread_name = "on their own"});
    const std::weak_ptr<thread_pool> watched = pool;
    auto queue = std::make_unique<queue_type>(sandglass::wheel_options{}, std::move(pool), std::ref(clock));
    gate poll_is_over;
    const auto capture = std::make_shared<int>(0);
    std::atomic<bool> alive_after{false};
    queue->schedule_after(1ms, [&, capture, hold = poll_is_over.hold()] {
        hold();
        queue.reset();
        alive_after = capture.use_count() > 1;
    });
    queue->schedule_after(1h, [capture] {});
    pass(*queue);
    poll_is_over.open();
    while (!watched.expired() || capture.use_count() > 1) std::this_thread::yield();
    CHECK(alive_after);
#if defined(__linux__)
    CHECK(none_named("on their own"));
#endif
}

TEST_CASE("tasks that wait in a pool when their timers are destroyed do nothing", "[executor]") {
    thread_pool pool(1);
    sandglass::manual_clock clock;
    sandglass::timer_queue other{sandglass::wheel_options{}, std::ref(pool), std::ref(clock)};
    gate busy;
    std::atomic<int> runs{0};
    const auto capture = std::make_shared<int>(0);
    other.schedule_after(1ms, busy.hold());
    pass(other);
    busy.wait_until_held(1);
    {
        sandglass::timer_queue queue{sandglass::wheel_options{}, std::ref(pool), std::ref(clock)};
        for (int i = 0; i < 10; ++i) queue.schedule_after(1ms, [&, capture] { ++runs; });
        CHECK(pass(queue) == 10);
    }
    CHECK(capture.use_count() == 1);
    CHECK(pool.approx_queued() == 10);
    busy.open();
    pool.stop();
    CHECK(runs == 0);
}

TEST_CASE("a wheel timer may hand over to a pool by reference or share it", "[executor]") {
    numbers ran;
    const auto schedule = [&](auto& timer) {
        for (int i = 0; i < 20; ++i) {
            timer.schedule_after(std::chrono::milliseconds(i % 3), [&, i] { ran.add(i); });
        }
        ran.wait_for(20);
        timer.stop();
        CHECK(timer.stats().fired == 20);
    };
    SECTION("by reference") {
        thread_pool pool(2);
        sandglass::basic_wheel_timer timer{sandglass::wheel_options{}, std::ref(pool)};
        schedule(timer);
    }
    SECTION("shared") {
        sandglass::basic_wheel_timer timer{sandglass::wheel_options{}, std::make_shared<thread_pool>(2)};
        schedule(timer);
    }
    std::vector<int> sorted = ran.get();
    std::sort(sorted.begin(), sorted.end());
    CHECK(sorted.size() == 20);
    CHECK(std::unique(sorted.begin(), sorted.end()) == sorted.end());
}

}  // namespace
