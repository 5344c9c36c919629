// A walk through the interface on a manual clock, so that it prints the same everywhere and takes no time. The README
// shows parts of it.
#include <sandglass/sandglass.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <iostream>
#include <stdexcept>

using namespace std::chrono_literals;

namespace {

// A connection that is its own timer: hashed_wheel links it, nothing is allocated.
//! [wheel]
struct connection : sandglass::wheel_hook {
    int socket = 0;
};

void idle_connections() {
    sandglass::hashed_wheel<connection> wheel{1024};  // one tick is whatever you make of it
    connection a, b;
    a.socket = 1;
    b.socket = 2;
    wheel.insert(a, wheel.now() + 30);
    wheel.insert(b, wheel.now() + 30);
    wheel.postpone(b, wheel.now() + 5000);  // heard from b: one store
    wheel.advance(30, [](connection& c) { std::cout << "connection " << c.socket << " is idle\n"; });
    wheel.erase(b);
}
//! [wheel]

void options_and_errors() {
    sandglass::manual_clock clock;
    //! [options]
    sandglass::wheel_options options{.tick = 100us, .slots = 65536, .max_pending = 2, .thread_name = "orders"};
    options.on_error = [](const sandglass::timer_error& e) {
        std::cout << "timer '" << e.name << "' failed\n";  // e.kind, e.exception and e.timer say more
    };
    sandglass::timer_queue queue{options, sandglass::inline_executor{}, std::ref(clock)};
    queue.schedule_after(1s, sandglass::named("close order 7", [] { throw std::runtime_error("database is away"); }));
    queue.schedule_after(2s, [] {});
    if (!queue.try_schedule_after(3s, [] {})) std::cout << "two are pending, no room for a third\n";
    //! [options]
    clock.advance(1s);
    queue.poll();
    try {
        const sandglass::wheel_timer impossible{{.tick = 0ns}};
    } catch (const std::invalid_argument& e) {
        std::cout << e.what() << '\n';
    }
}

void handles() {
    sandglass::manual_clock clock;
    sandglass::timer_queue timer{sandglass::wheel_options{}, sandglass::inline_executor{}, std::ref(clock)};
    //! [handles]
    sandglass::timer_handle h = timer.schedule_after(30s, [] { std::cout << "30 s without a request\n"; });
    h.reschedule_after(30s);  // a request: pushed back, at the cost of one store
    if (h.pending()) std::cout << "due in " << h.remaining() / 1s << " s\n";
    if (h.cancel()) std::cout << "cancelled: it will not run, and what it captured is gone\n";
    if (!h.cancel()) std::cout << "too late, and harmless\n";
    {
        sandglass::scoped_timer guard = timer.schedule_after(30s, [] { std::cout << "never printed\n"; });
    }  // cancels
    //! [handles]
    clock.advance(1h);
    timer.poll();
}

void series() {
    sandglass::manual_clock clock;
    sandglass::timer_queue timer{sandglass::wheel_options{}, sandglass::inline_executor{}, std::ref(clock)};
    //! [series]
    timer.schedule_every(10s, [](sandglass::timer_context& c) {  // at 10 s, 20 s, 30 s ..., however long a run takes
        std::cout << "scheduled for " << c.scheduled() / 1s << " s, missed " << c.missed() << '\n';
    });
    timer.schedule_every(1h, [] {}, {.first = 0s, .mode = sandglass::repeat::fixed_delay});
    //! [series]
    clock.advance(10s);
    timer.poll();
    clock.advance(35s);  // the process was suspended
    timer.poll();
    clock.advance(5s);
    timer.poll();
}

void leftovers() {
    sandglass::manual_clock clock;
    sandglass::timer_queue timer{sandglass::wheel_options{}, sandglass::inline_executor{}, std::ref(clock)};
    timer.schedule_after(20s, sandglass::named("flush", [] { std::cout << "flushed early, at stop\n"; }));
    timer.schedule_after(10s, sandglass::named("retry", [] { std::cout << "never printed\n"; }));
    //! [stop]
    timer.stop([](sandglass::leftover_timer&& left) {
        std::cout << left.name() << " was due in " << left.remaining() / 1s << " s\n";
        if (left.name() == "flush") left();  // run it, move it away for later, or let it go
    });
    //! [stop]
    //! [stats]
    const sandglass::timer_stats s = timer.stats();
    std::cout << s.scheduled << " scheduled = " << s.fired << " fired + " << s.cancelled << " cancelled + "
              << s.rejected << " rejected + " << s.discarded << " discarded + " << s.pending << " pending\n";
    //! [stats]
}

void pool() {
    //! [pool]
    sandglass::thread_pool workers{4, {.queue_limit = 10'000, .full = sandglass::when_full::caller_runs}};
    sandglass::basic_wheel_timer timer{sandglass::wheel_options{}, std::ref(workers)};
    //! [pool]
    std::promise<void> ran;
    timer.schedule_after(1ms, [&] { ran.set_value(); });
    ran.get_future().wait();
    std::cout << "ran on one of " << workers.size() << " workers\n";
}

}  // namespace

int main() {
    pool();
    idle_connections();
    options_and_errors();
    handles();
    series();
    leftovers();
}
