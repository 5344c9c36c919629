#ifndef SANDGLASS_BENCH_SUPPORT_DRIVEN_HPP
#define SANDGLASS_BENCH_SUPPORT_DRIVEN_HPP

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/drive.hpp"
#include "support/workload.hpp"

// W6 to W10, written once for every subject; `make()` returns a std::unique_ptr to one.
namespace bench {

using clock = std::chrono::steady_clock;

inline double microseconds(nanoseconds d) { return std::chrono::duration<double, std::micro>(d).count(); }

// The value below which the part `q` of the sorted samples lies.
inline nanoseconds quantile(const std::vector<nanoseconds>& sorted, double q) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
    return sorted.at(std::clamp<std::size_t>(rank, 1, sorted.size()) - 1);
}

// ---- W6 -----------------------------------------------------------------------------------------------------------

// One thread adds.
class lateness_log {
  public:
    explicit lateness_log(std::size_t room) { samples_.reserve(room); }
    void add(nanoseconds late) {
        if (samples_.size() < samples_.capacity()) samples_.push_back(late);
        calls.add(1);
    }
    std::vector<nanoseconds>& samples() { return samples_; }
    tally calls;

  private:
    std::vector<nanoseconds> samples_;
};

// 10,000 timers a second for 5 s, due in 1 ... 1000 ms. The calls come at random, and so at any phase of a tick.
template <class Make>
outcome lateness_of(Make make) {
    const nanoseconds length = quick() ? milliseconds(200) : milliseconds(5000);
    const std::uint64_t longest = quick() ? 50'000'000 : 1'000'000'000;
    constexpr double mean_gap = 100'000;  // ns
    const auto subject = make();
    lateness_log log(2 * static_cast<std::size_t>(static_cast<double>(length.count()) / mean_gap));
    random rng;
    std::uint64_t scheduled = 0;

    const double cpu_before = process_cpu_seconds() - seconds_of(CLOCK_THREAD_CPUTIME_ID);
    const clock::time_point start = clock::now();
    for (clock::time_point next = start; next < start + length;) {
        std::this_thread::sleep_until(next);
        const auto delay = nanoseconds(1'000'000 + rng.below(longest - 1'000'000));
        // Taken before the call: whatever the timer's own reading of the clock, it must not call before this.
        const clock::time_point asked = clock::now() + delay;
        subject->schedule(delay, [&log, asked] { log.add(clock::now() - asked); });
        ++scheduled;
        const double u = static_cast<double>(1 + rng.below(1'000'000)) / 1'000'001;
        next += nanoseconds(static_cast<nanoseconds::rep>(-std::log(u) * mean_gap));
    }
    const clock::time_point last = clock::now() + nanoseconds(longest) + milliseconds(200);
    while (log.calls.value() < scheduled && clock::now() < last) std::this_thread::sleep_for(milliseconds(5));
    const double cpu = process_cpu_seconds() - seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
    const double wall = std::chrono::duration<double>(clock::now() - start).count();
    subject->finish();

    auto& samples = log.samples();
    if (log.calls.value() != scheduled || samples.size() != scheduled)
        return {{}, "not every timer fired exactly once"};
    std::sort(samples.begin(), samples.end());
    const auto early = std::lower_bound(samples.begin(), samples.end(), nanoseconds(0)) - samples.begin();
    return {{{"p50_us", microseconds(quantile(samples, 0.5))},
             {"p99_us", microseconds(quantile(samples, 0.99))},
             {"p999_us", microseconds(quantile(samples, 0.999))},
             {"max_us", microseconds(samples.back())},
             {"early", static_cast<double>(early)},
             {"cpu_percent", 100 * cpu / wall}}};
}

template <class Subject>
outcome lateness() {
    return lateness_of([] { return std::make_unique<Subject>(); });
}
template <class Subject, int TickMicroseconds>
outcome lateness_at_tick() {
    return lateness_of([] { return std::make_unique<Subject>(std::chrono::microseconds(TickMicroseconds)); });
}

// ---- W7 -----------------------------------------------------------------------------------------------------------

inline long voluntary_switches(const std::string& task) {
    std::ifstream status("/proc/self/task/" + task + "/status");
    const std::string key = "voluntary_ctxt_switches:";
    for (std::string line; std::getline(status, line);) {
        if (line.compare(0, key.size(), key) == 0) return std::stol(line.substr(key.size()));
    }
    throw std::runtime_error("/proc/self/task/" + task + "/status tells no voluntary_ctxt_switches");
}
// Of all threads but the main one.
inline long switches_of_the_others() {
    const std::string main_task = std::to_string(getpid());
    const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), closedir);
    if (tasks == nullptr) throw std::runtime_error("/proc/self/task cannot be read");
    long sum = 0;
    while (const dirent* entry = readdir(tasks.get())) {
        const std::string name = entry->d_name;
        if (name != "." && name != ".." && name != main_task) sum += voluntary_switches(name);
    }
    return sum;
}

inline outcome idle_figures(long switches, double cpu_seconds, nanoseconds length) {
    const double seconds = std::chrono::duration<double>(length).count();
    return {{{"switches_per_second", static_cast<double>(switches) / seconds},
             {"cpu_percent", 100 * cpu_seconds / seconds}}};
}
inline nanoseconds idle_length() { return quick() ? milliseconds(100) : milliseconds(5000); }

// One timer 10 s away. Half a second after it was scheduled: how often do the timer's threads wake up?
template <class Subject>
outcome idle() {
    tally calls;
    Subject subject;
    static_cast<void>(subject.schedule(std::chrono::seconds(10), task{&calls, 1}));
    std::this_thread::sleep_for(idle_length() / 10);
    const double cpu = process_cpu_seconds();
    const long before = switches_of_the_others();
    std::this_thread::sleep_for(idle_length());
    const long switches = switches_of_the_others() - before;
    outcome result = idle_figures(switches, process_cpu_seconds() - cpu, idle_length());
    subject.finish();
    if (calls.value() != 0) result.error = "the timer fired too early";
    return result;
}

// The same for a loop that the calling thread runs. Its last wake-up, to end the loop, is not counted.
template <class Subject>
outcome idle_in_loop() {
    tally calls;
    Subject subject;
    static_cast<void>(subject.schedule(std::chrono::seconds(10), task{&calls, 1}));
    const double cpu = process_cpu_seconds();
    const long before = voluntary_switches(std::to_string(getpid()));
    subject.run_for(idle_length());
    const long switches = voluntary_switches(std::to_string(getpid())) - before - 1;
    outcome result = idle_figures((std::max)(switches, 0L), process_cpu_seconds() - cpu, idle_length());
    subject.finish();
    if (calls.value() != 0) result.error = "the timer fired too early";
    return result;
}

// ---- W8 -----------------------------------------------------------------------------------------------------------

inline double resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    double total = 0;
    double resident = 0;
    if (!(statm >> total >> resident)) throw std::runtime_error("/proc/self/statm cannot be read");
    return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// 1,000,000 pending: what the process has grown by, an object that holds none included. Handles are the caller's.
template <class Subject>
outcome memory() {
    const std::size_t n = quick() ? 10'000 : 1'000'000;
    tally calls;
    random rng;
    const double before = resident_bytes();
    Subject subject;
    for (std::size_t i = 0; i < n; ++i) static_cast<void>(subject.schedule(rng.long_delay(), task{&calls, 1}));
    subject.settle();
    const double grown = resident_bytes() - before;
    subject.finish();
    if (calls.value() > n / 100) return {{}, "so slow that more than 1 % of the timers fired meanwhile"};
    return {{{"bytes_per_timer", grown / static_cast<double>(n)}}};
}

// ---- W9 -----------------------------------------------------------------------------------------------------------

// 1,000,000 pending over 1800 s, and nobody schedules. Some 560 a second fire, in 430 different milliseconds.
template <class Make>
outcome at_rest_of(Make make) {
    const std::size_t n = quick() ? 10'000 : 1'000'000;
    tally calls;
    random rng;
    const auto subject = make();
    for (std::size_t i = 0; i < n; ++i) static_cast<void>(subject->schedule(rng.long_delay(), task{&calls, 1}));
    subject->settle();
    std::this_thread::sleep_for(idle_length() / 5);
    const double cpu = process_cpu_seconds();
    const long switches = switches_of_the_others();
    const clock::time_point start = clock::now();
    std::this_thread::sleep_for(idle_length());
    const double seconds = std::chrono::duration<double>(clock::now() - start).count();
    outcome result{{{"cpu_percent", 100 * (process_cpu_seconds() - cpu) / seconds},
                    {"wakes_per_second", static_cast<double>(switches_of_the_others() - switches) / seconds}}};
    subject->finish();
    if (calls.value() > n / 20) result.error = "more timers fired than can have been due";
    return result;
}
template <class Subject>
outcome at_rest() {
    return at_rest_of([] { return std::make_unique<Subject>(); });
}
template <class Subject, std::size_t Slots>
outcome at_rest_with_slots() {
    return at_rest_of([] { return std::make_unique<Subject>(milliseconds(1), Slots); });
}

// ---- W10 ----------------------------------------------------------------------------------------------------------

// 500,000 timers are due at one time; meanwhile another thread schedules one every 100 us. How long does that take it?
template <class Subject>
outcome crowd() {
    const std::size_t n = quick() ? 5'000 : 500'000;
    const nanoseconds ahead = quick() ? milliseconds(200) : milliseconds(4000);
    const nanoseconds margin = ahead / 20;
    tally calls;
    Subject subject;
    const clock::time_point due = clock::now() + ahead;
    for (std::size_t i = 0; i < n; ++i) static_cast<void>(subject.schedule(due - clock::now(), task{&calls, 1}));
    subject.settle();
    if (clock::now() > due - margin) return {{}, "scheduling the crowd took longer than it was ahead"};

    std::vector<nanoseconds> took;
    took.reserve(1'000'000);
    std::thread other([&] {
        clock::time_point next = due - margin;
        clock::time_point end = (clock::time_point::max)();
        while (next < end && took.size() < took.capacity()) {
            std::this_thread::sleep_until(next);
            const clock::time_point before = clock::now();
            static_cast<void>(subject.schedule(std::chrono::hours(1), task{&calls, 0}));
            const clock::time_point after = clock::now();
            took.push_back(after - before);
            // What it could not do while it was held up it does not make up for.
            next = (std::max)(next + std::chrono::microseconds(100), after);
            if (end == (clock::time_point::max)() && calls.value() >= n) end = after + margin;
        }
    });
    other.join();
    subject.finish();
    if (calls.value() != n) return {{}, "not every timer of the crowd fired exactly once"};
    std::sort(took.begin(), took.end());
    return {{{"longest_call_us", microseconds(took.back())}, {"p99_call_us", microseconds(quantile(took, 0.99))}}};
}

}  // namespace bench

#endif
