#ifndef SANDGLASS_BENCH_SUPPORT_WORKLOAD_HPP
#define SANDGLASS_BENCH_SUPPORT_WORKLOAD_HPP

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

// The workloads, written once for every implementation. An implementation ("subject") brings:
//
//   handle schedule(milliseconds delay, task)   task: 16 bytes of captures, increments the counter
//   bool cancel(handle&)                        true if it will not run
//   bool renew(handle&, milliseconds delay)     true if it will run once, at the new time
//   settle()                                    work that is still owed, if nobody does it in the background
//   fire_all(milliseconds horizon, n)           returns when all n timers, due by then, have been called
//   finish()                                    from now on nothing is called
//
// Each workload checks its own answer: every timer fired once, or was cancelled once.
namespace bench {

using std::chrono::milliseconds;

// The smallest sizes that still run everything: for a check that no benchmark rots.
inline bool quick() { return std::getenv("SANDGLASS_BENCH_QUICK") != nullptr; }

// What a callback does. Its captures are 16 bytes: where to count, and what.
struct task {
    std::uint64_t* counter;
    std::uint64_t amount;
    void operator()() const { *counter += amount; }
};
static_assert(sizeof(task) == 16);

// xorshift64* (S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016): cheap
// enough not to be what is measured, and the same for all.
class random {
  public:
    explicit random(std::uint64_t seed = 0x9E3779B97F4A7C15U) : state_(seed) {}
    std::uint64_t next() {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545F4914F6CDD1DU;
    }
    std::uint64_t below(std::uint64_t n) { return static_cast<std::uint64_t>((next() >> 32) * n >> 32); }
    milliseconds long_delay() { return milliseconds(1000 + below(1'799'000)); }  // 1 s to 1800 s

  private:
    std::uint64_t state_;
};

inline double process_cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Time of the calling thread's work by the wall, and of the whole process's by its CPU time, in ns per operation.
class measurement {
  public:
    void begin() {
        cpu_ = process_cpu_seconds();
        wall_ = std::chrono::steady_clock::now();
    }
    void end_caller() { seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count(); }
    void end(benchmark::State& state, std::uint64_t operations) {
        const double cpu = process_cpu_seconds() - cpu_;
        state.SetIterationTime(seconds_);
        const auto n = static_cast<double>(operations);
        state.counters["caller_ns"] = seconds_ * 1e9 / n;
        state.counters["cpu_ns"] = cpu * 1e9 / n;
    }

  private:
    double cpu_ = 0;
    double seconds_ = 0;
    std::chrono::steady_clock::time_point wall_;
};

template <class Subject>
using handles = std::vector<typename Subject::handle>;

template <class Subject>
handles<Subject> fill(Subject& subject, std::uint64_t n, random& rng, std::uint64_t& counter) {
    handles<Subject> pending;
    pending.reserve(n);
    for (std::uint64_t i = 0; i < n; ++i) pending.push_back(subject.schedule(rng.long_delay(), task{&counter, 1}));
    return pending;
}

// Cancels what is left and checks the books: each timer was cancelled once, or fired once. (A run that takes more than a
// second sees the first of them fire.)
template <class Subject>
void close_books(benchmark::State& state, Subject& subject, handles<Subject>& pending, std::uint64_t scheduled,
                 std::uint64_t cancelled, const std::uint64_t& counter) {
    for (auto& h : pending) cancelled += subject.cancel(h) ? 1U : 0U;
    subject.finish();
    if (cancelled + counter != scheduled) state.SkipWithError("a timer was neither cancelled nor fired, or was both");
    if (counter > scheduled / 100) state.SkipWithError("so slow that more than 1 % of the timers fired meanwhile");
}

// W1: N pending; 1,000,000 more are scheduled.
template <class Subject>
void arm(benchmark::State& state) {
    const auto n = static_cast<std::uint64_t>(state.range(0));
    const std::uint64_t more = quick() ? 2'000 : 1'000'000;
    for ([[maybe_unused]] auto _ : state) {
        Subject subject;
        random rng;
        std::uint64_t counter = 0;
        auto pending = fill(subject, n, rng, counter);
        pending.reserve(n + more);
        measurement m;
        m.begin();
        for (std::uint64_t i = 0; i < more; ++i) {
            pending.push_back(subject.schedule(rng.long_delay(), task{&counter, 1}));
        }
        m.end_caller();
        subject.settle();
        m.end(state, more);
        close_books(state, subject, pending, n + more, 0, counter);
    }
}

// W2: N pending; 2,000,000 times a random one is cancelled and another scheduled in its place.
template <class Subject>
void arm_cancel(benchmark::State& state) {
    const auto n = static_cast<std::uint64_t>(state.range(0));
    const std::uint64_t pairs = quick() ? 2'000 : 2'000'000;
    for ([[maybe_unused]] auto _ : state) {
        Subject subject;
        random rng;
        std::uint64_t counter = 0;
        auto pending = fill(subject, n, rng, counter);
        std::uint64_t cancelled = 0;
        measurement m;
        m.begin();
        for (std::uint64_t i = 0; i < pairs; ++i) {
            auto& h = pending[rng.below(n)];
            cancelled += subject.cancel(h) ? 1U : 0U;
            h = subject.schedule(rng.long_delay(), task{&counter, 1});
        }
        m.end_caller();
        subject.settle();
        m.end(state, pairs);
        close_books(state, subject, pending, n + pairs, cancelled, counter);
    }
}

// W3: N pending; 2,000,000 times a random one is moved.
template <class Subject>
void renew(benchmark::State& state) {
    const auto n = static_cast<std::uint64_t>(state.range(0));
    const std::uint64_t moves = quick() ? 2'000 : 2'000'000;
    for ([[maybe_unused]] auto _ : state) {
        Subject subject;
        random rng;
        std::uint64_t counter = 0;
        auto pending = fill(subject, n, rng, counter);
        std::uint64_t moved = 0;
        measurement m;
        m.begin();
        for (std::uint64_t i = 0; i < moves; ++i) {
            moved += subject.renew(pending[rng.below(n)], rng.long_delay()) ? 1U : 0U;
        }
        m.end_caller();
        subject.settle();
        m.end(state, moves);
        close_books(state, subject, pending, n, 0, counter);
        if (moves - moved > moves / 100) state.SkipWithError("a timer that was pending could not be moved");
    }
}

// W4: N timers over 1 ... 1000 ms, until all have fired. Scheduling is part of it.
template <class Subject>
void fire(benchmark::State& state) {
    const auto n = static_cast<std::uint64_t>(state.range(0));
    const std::uint64_t horizon = quick() ? 20 : 1000;
    for ([[maybe_unused]] auto _ : state) {
        Subject subject;
        random rng;
        std::uint64_t counter = 0;
        measurement m;
        m.begin();
        for (std::uint64_t i = 0; i < n; ++i) {
            static_cast<void>(subject.schedule(milliseconds(1 + rng.below(horizon)), task{&counter, 1}));
        }
        subject.fire_all(milliseconds(horizon), n);
        m.end_caller();
        m.end(state, n);
        subject.finish();
        if (counter != n) state.SkipWithError("not every timer fired exactly once");
    }
}

inline std::vector<std::int64_t> sizes() {
    if (quick()) return {1'000};
    if (std::getenv("SANDGLASS_BENCH_LARGE") != nullptr) return {1'000, 10'000, 100'000, 1'000'000, 10'000'000};
    return {1'000, 100'000, 1'000'000};
}

inline void configure(benchmark::internal::Benchmark* b) {
    b->ArgName("pending")->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);
    for (const std::int64_t n : sizes()) b->Arg(n);
}

}  // namespace bench

#endif
