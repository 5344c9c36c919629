#ifndef SANDGLASS_BENCH_SUPPORT_BENCHMARKS_HPP
#define SANDGLASS_BENCH_SUPPORT_BENCHMARKS_HPP

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <vector>

#include <benchmark/benchmark.h>

#include "support/workload.hpp"

// W1 to W5, written once for every subject. Each checks its own answer: every timer fired once, or was cancelled once.
// Memory for the handles is touched before the clock starts: a page fault costs more than most of what is measured.
namespace bench {

// Time of the calling thread's work by the wall, and of the whole process's by its CPU time, in ns per operation.
class measurement {
  public:
    measurement() : cpu_(process_cpu_seconds()), wall_(std::chrono::steady_clock::now()) {}
    void end_caller() { seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count(); }
    void end(benchmark::State& state, std::uint64_t operations) {
        const double cpu = process_cpu_seconds() - cpu_;
        state.SetIterationTime(seconds_);
        const auto n = static_cast<double>(operations);
        state.counters["caller_ns"] = seconds_ * 1e9 / n;
        state.counters["cpu_ns"] = cpu * 1e9 / n;
    }
    [[nodiscard]] double caller_seconds() const { return seconds_; }

  private:
    double cpu_;
    double seconds_ = 0;
    std::chrono::steady_clock::time_point wall_;
};

template <class Subject>
using handles = std::vector<typename Subject::handle>;

template <class Subject>
void schedule_into(handles<Subject>& pending, std::size_t from, std::size_t to, Subject& subject, random& rng,
                   tally& calls) {
    for (std::size_t i = from; i < to; ++i) pending[i] = subject.schedule(rng.long_delay(), task{&calls, 1});
}

// Cancels what is left and checks the books. A run that takes more than a second sees the first timers fire.
template <class Subject>
void close_books(benchmark::State& state, Subject& subject, handles<Subject>& pending, std::uint64_t scheduled,
                 std::uint64_t cancelled, const tally& calls) {
    for (auto& h : pending) cancelled += subject.cancel(h) ? 1U : 0U;
    subject.finish();
    if (cancelled + calls.value() != scheduled) {
        state.SkipWithError("a timer was neither cancelled nor called, or was both");
    } else if (calls.value() > scheduled / 20) {
        state.SkipWithError("so slow that more than 5 % of the timers fired meanwhile");
    }
}

inline std::size_t operations(std::size_t full) { return quick() ? 2'000 : full; }

// W1: N pending; 1,000,000 more are scheduled.
template <class Subject>
void arm(benchmark::State& state) {
    const auto n = static_cast<std::size_t>(state.range(0));
    const std::size_t more = operations(1'000'000);
    for ([[maybe_unused]] auto _ : state) {
        tally calls;
        Subject subject;
        random rng;
        handles<Subject> pending(n + more);
        schedule_into(pending, 0, n, subject, rng, calls);
        subject.settle();
        measurement m;
        schedule_into(pending, n, n + more, subject, rng, calls);
        m.end_caller();
        subject.settle();
        m.end(state, more);
        close_books(state, subject, pending, n + more, 0, calls);
    }
}

// `pairs` times: cancels a random one of [from, to) and schedules another in its place. Returns how many were cancelled.
template <class Subject>
std::uint64_t replace_some(Subject& subject, handles<Subject>& pending, std::size_t from, std::size_t to,
                           std::size_t pairs, random& rng, tally& calls) {
    std::uint64_t cancelled = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
        auto& h = pending[from + rng.below(to - from)];
        cancelled += subject.cancel(h) ? 1U : 0U;
        h = subject.schedule(rng.long_delay(), task{&calls, 1});
    }
    return cancelled;
}

// W2: N pending; 2,000,000 times a random one is cancelled and another scheduled in its place.
template <class Subject>
void arm_cancel(benchmark::State& state) {
    const auto n = static_cast<std::size_t>(state.range(0));
    const std::size_t pairs = operations(2'000'000);
    for ([[maybe_unused]] auto _ : state) {
        tally calls;
        Subject subject;
        random rng;
        handles<Subject> pending(n);
        schedule_into(pending, 0, n, subject, rng, calls);
        subject.settle();
        measurement m;
        const std::uint64_t cancelled = replace_some(subject, pending, 0, n, pairs, rng, calls);
        m.end_caller();
        subject.settle();
        m.end(state, pairs);
        close_books(state, subject, pending, n + pairs, cancelled, calls);
    }
}

// W3: N pending; 2,000,000 times a random one is moved.
template <class Subject>
void renew(benchmark::State& state) {
    const auto n = static_cast<std::size_t>(state.range(0));
    const std::size_t moves = operations(2'000'000);
    for ([[maybe_unused]] auto _ : state) {
        tally calls;
        Subject subject;
        random rng;
        handles<Subject> pending(n);
        schedule_into(pending, 0, n, subject, rng, calls);
        subject.settle();
        std::size_t moved = 0;
        measurement m;
        for (std::size_t i = 0; i < moves; ++i) {
            moved += subject.renew(pending[rng.below(n)], rng.long_delay()) ? 1U : 0U;
        }
        m.end_caller();
        subject.settle();
        m.end(state, moves);
        if (moves - moved > moves / 20) state.SkipWithError("a timer that was pending could not be moved");
        close_books(state, subject, pending, n, 0, calls);
    }
}

// W4: N timers over 1 ... 1000 ms, until all have fired. Scheduling is part of it.
template <class Subject>
void fire(benchmark::State& state) {
    const auto n = static_cast<std::size_t>(state.range(0));
    const std::uint64_t horizon = quick() ? 20 : 1000;
    for ([[maybe_unused]] auto _ : state) {
        tally calls;
        Subject subject;
        random rng;
        measurement m;
        for (std::size_t i = 0; i < n; ++i) {
            static_cast<void>(subject.schedule(milliseconds(1 + rng.below(horizon)), task{&calls, 1}));
        }
        subject.fire_all(milliseconds(horizon), calls, n);
        m.end_caller();
        m.end(state, n);
        subject.finish();
        if (calls.value() != n) state.SkipWithError("not every timer fired exactly once");
    }
}

// W4b: 1,000,000 timers over 1 ... 1800 s on virtual time, through all 1.8 million ticks. Scheduling is left out.
template <class Subject, class... Args>
void long_horizon(benchmark::State& state, Args... args) {
    const std::size_t n = quick() ? 1'000 : 1'000'000;
    const milliseconds horizon(1'800'000);
    for ([[maybe_unused]] auto _ : state) {
        tally calls;
        Subject subject(args...);
        random rng;
        for (std::size_t i = 0; i < n; ++i) {
            static_cast<void>(subject.schedule(rng.long_delay(), task{&calls, 1}));
        }
        measurement m;
        subject.fire_all(horizon, calls, n);
        m.end_caller();
        m.end(state, n);
        if (calls.value() != n) state.SkipWithError("not every timer fired exactly once");
    }
}

// W5: 100,000 pending; each of the producers does W2 on its own part of them.
template <class Subject>
void contended(benchmark::State& state) {
    const auto producers = static_cast<std::size_t>(state.range(0));
    const std::size_t part = (quick() ? 1'000U : 100'000U) / producers;
    const std::size_t pairs = operations(2'000'000) / producers;
    for ([[maybe_unused]] auto _ : state) {
        tally calls;
        Subject subject;
        random rng;
        handles<Subject> pending(part * producers);
        schedule_into(pending, 0, pending.size(), subject, rng, calls);
        subject.settle();
        std::vector<std::uint64_t> cancelled(producers, 0);
        std::atomic<std::size_t> ready{0};
        std::atomic<bool> go{false};
        std::vector<std::thread> threads;
        for (std::size_t p = 0; p < producers; ++p) {
            threads.emplace_back([&, p] {
                random own(p + 1);
                ready.fetch_add(1);
                while (!go.load()) std::this_thread::yield();
                cancelled[p] = replace_some(subject, pending, p * part, (p + 1) * part, pairs, own, calls);
            });
        }
        while (ready.load() != producers) std::this_thread::yield();
        measurement m;
        go.store(true);
        for (std::thread& t : threads) t.join();
        m.end_caller();
        subject.settle();
        m.end(state, pairs * producers);
        state.counters["million_pairs_per_second"] = static_cast<double>(pairs * producers) * 1e-6 / m.caller_seconds();
        std::uint64_t all_cancelled = 0;
        for (const std::uint64_t c : cancelled) all_cancelled += c;
        close_books(state, subject, pending, pending.size() + pairs * producers, all_cancelled, calls);
    }
}

inline void once(benchmark::internal::Benchmark* b) {
    b->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);
}
inline void pending_counts(benchmark::internal::Benchmark* b, std::initializer_list<std::int64_t> full) {
    once(b->ArgName("pending"));
    if (quick()) {
        b->Arg(1'000);
    } else {
        for (const std::int64_t n : full) b->Arg(n);
    }
}

// To be given to Apply(): the numbers of pending timers. One that looks at every timer each tick is measured only where it
// gets on at all; 10,000,000 are left to sandglass and the baseline, since some would take minutes.
inline void every_size(benchmark::internal::Benchmark* b) {
    pending_counts(b, {1'000, 10'000, 100'000, 1'000'000, 10'000'000});
}
inline void up_to_a_million(benchmark::internal::Benchmark* b) { pending_counts(b, {1'000, 100'000, 1'000'000}); }
inline void small_sizes(benchmark::internal::Benchmark* b) { pending_counts(b, {1'000, 10'000}); }
inline void producers(benchmark::internal::Benchmark* b) {
    once(b->ArgName("producers"));
    for (const std::int64_t n : {1, 2, 4}) b->Arg(n);
}

}  // namespace bench

#endif
