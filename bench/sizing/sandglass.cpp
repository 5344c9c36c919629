// What a number of slots costs: N timers spread evenly over a horizon, none of them cancelled, 1 ms tick.
#include <cstddef>
#include <functional>
#include <string>

#include "subjects/sandglass.hpp"
#include "support/driven.hpp"

namespace {

using bench::nanoseconds;
using bench::milliseconds;

struct load {
    std::size_t pending;
    int horizon_s;
    std::size_t slots;

    nanoseconds delay(bench::random& rng) const {
        return milliseconds(1 + rng.below(1000 * static_cast<std::uint64_t>(horizon_s)));
    }
};

// On real time: what the process has grown by, and what its CPU does once nobody schedules any more. The timers that
// fire meanwhile are part of it.
bench::outcome at_rest(const load& of) {
    const nanoseconds window = bench::quick() ? milliseconds(100) : milliseconds(2000);
    bench::tally calls;
    bench::random rng;
    const double before = bench::resident_bytes();
    bench::threaded_wheel wheel(milliseconds(1), of.slots);
    for (std::size_t i = 0; i < of.pending; ++i)
        static_cast<void>(wheel.schedule(of.delay(rng), bench::task{&calls, 1}));
    const double grown = bench::resident_bytes() - before;
    std::this_thread::sleep_for(window / 4);

    const double cpu = bench::process_cpu_seconds();
    const bench::clock::time_point start = bench::clock::now();
    std::this_thread::sleep_for(window);
    const double seconds = std::chrono::duration<double>(bench::clock::now() - start).count();
    const double percent = 100 * (bench::process_cpu_seconds() - cpu) / seconds;
    wheel.finish();
    return {{{"cpu_percent", percent}, {"memory_mib", grown / (1 << 20)}}};
}

// On virtual time, from deadline to deadline: what a fired timer costs, the looks at its neighbours included.
bench::outcome firing(const load& of) {
    const std::size_t enough = std::min<std::size_t>(of.pending / 2, 200'000);
    bench::tally calls;
    bench::random rng;
    sandglass::manual_clock clock;
    sandglass::wheel_options options;
    options.slots = of.slots;
    sandglass::timer_queue<sandglass::inline_executor, std::reference_wrapper<sandglass::manual_clock>> queue(
        options, {}, std::ref(clock));
    for (std::size_t i = 0; i < of.pending; ++i) queue.schedule_after(of.delay(rng), bench::task{&calls, 1});
    queue.poll();

    const bench::clock::time_point start = bench::clock::now();
    for (auto next = queue.next_deadline(); next && calls.value() < enough; next = queue.next_deadline()) {
        clock.set(*next);
        queue.poll();
    }
    const double ns = std::chrono::duration<double, std::nano>(bench::clock::now() - start).count();
    queue.stop();
    if (calls.value() < enough) return {{}, "not every timer fired"};
    return {{{"fired_ns", ns / static_cast<double>(calls.value())}}};
}

bool add(const load& of) {
    const std::string name = "sizing/timer/sandglass/pending:" + std::to_string(of.pending) +
                             "/horizon_s:" + std::to_string(of.horizon_s) + "/slots:" + std::to_string(of.slots);
    return bench::add(name, [of] {
        bench::outcome result = at_rest(of);
        bench::outcome fired = firing(of);
        result.figures.insert(result.figures.end(), fired.figures.begin(), fired.figures.end());
        result.error = fired.error;
        return result;
    });
}

[[maybe_unused]] const bool added = [] {
    for (const std::size_t pending : {10'000U, 100'000U, 1'000'000U, 10'000'000U}) {
        if (bench::quick() && pending > 10'000) break;
        for (const int horizon_s : {10, 600, 21'600}) {
            for (const std::size_t slots : {8192U, 65'536U, 1'048'576U}) add({pending, horizon_s, slots});
        }
    }
    return true;
}();

}  // namespace
