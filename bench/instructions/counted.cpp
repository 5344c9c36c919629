// sandglass.counted OPERATION runs one operation many times, on one thread and on virtual time, always in the same way,
// and prints how many times. Only what happens inside `counted` is to be counted (../instructions.py).
#include <algorithm>
#include <cstddef>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <sandglass/sandglass.hpp>

#include "support/workload.hpp"

// Under a name that callgrind's --toggle-collect can find.
extern "C" [[gnu::noinline]] void counted(const std::function<void()>& work);
extern "C" void counted(const std::function<void()>& work) {
    work();
    asm volatile("" ::: "memory");  // no jump in place of the call
}

namespace {

constexpr std::size_t n = 20'000;
constexpr std::uint64_t horizon = 1000;

// n distinct numbers below n, in no order.
std::vector<std::size_t> shuffled(bench::random& rng) {
    std::vector<std::size_t> numbers(n);
    for (std::size_t i = 0; i < n; ++i) {
        numbers[i] = i;
        std::swap(numbers[i], numbers[rng.below(i + 1)]);
    }
    return numbers;
}

// A timer_queue that has had n timers before, so that nothing is allocated any more.
class queue_work {
  public:
    queue_work() {
        schedule();
        for (sandglass::timer_handle& h : handles_) h.cancel();
        queue_.poll();
        calls_.add(0 - calls_.value());
    }

    void schedule() {
        for (sandglass::timer_handle& h : handles_) h = queue_.schedule_after(delay(), bench::task{&calls_, 1});
        queue_.poll();
    }
    void cancel() {
        for (const std::size_t i : order_) done_ += handles_[i].cancel() ? 1U : 0U;
        queue_.poll();
    }
    void renew() {
        for (const std::size_t i : order_) done_ += handles_[i].reschedule_after(delay()) ? 1U : 0U;
        queue_.poll();
    }
    void fire() {
        for (std::uint64_t t = 0; t <= horizon; ++t) {
            clock_.advance(bench::milliseconds(1));
            queue_.poll();
        }
        done_ += calls_.value();
    }
    [[nodiscard]] std::uint64_t done() const { return done_; }

  private:
    bench::milliseconds delay() { return bench::milliseconds(1 + static_cast<int>(rng_.below(horizon))); }

    bench::tally calls_;
    bench::random rng_;
    std::vector<std::size_t> order_ = shuffled(rng_);
    sandglass::manual_clock clock_;
    sandglass::timer_queue<sandglass::inline_executor, std::reference_wrapper<sandglass::manual_clock>> queue_{
        sandglass::wheel_options{}, {}, std::ref(clock_)};
    std::vector<sandglass::timer_handle> handles_ = std::vector<sandglass::timer_handle>(n);
    std::uint64_t done_ = 0;
};

// The same with a hashed_wheel.
class wheel_work {
  public:
    void insert() {
        for (entry& e : entries_) wheel_.insert(e, due());
    }
    void erase() {
        for (const std::size_t i : order_) {
            wheel_.erase(entries_[i]);
            ++done_;
        }
    }
    void postpone() {
        for (const std::size_t i : order_) {
            wheel_.postpone(entries_[i], due());
            ++done_;
        }
    }
    void advance() {
        for (std::uint64_t t = 0; t <= horizon; ++t) wheel_.advance(wheel_.now() + 1, [this](entry&) { ++done_; });
    }
    [[nodiscard]] std::uint64_t done() const { return done_; }

  private:
    struct entry : sandglass::wheel_hook {};

    sandglass::tick_t due() { return wheel_.now() + 1 + static_cast<sandglass::tick_t>(rng_.below(horizon)); }

    bench::random rng_;
    std::vector<std::size_t> order_ = shuffled(rng_);
    sandglass::hashed_wheel<entry> wheel_{sandglass::wheel_options{}.slots};
    std::vector<entry> entries_ = std::vector<entry>(n);
    std::uint64_t done_ = 0;
};

// `before` makes ready what `step` works on. Returns whether each of the n was done.
template <class Work>
bool count(void (Work::*before)(), void (Work::*step)()) {
    Work work;
    if (before != nullptr) (work.*before)();
    // Through a pointer that no compiler sees through: a clone for one caller would have another name.
    void (*volatile call)(const std::function<void()>&) = counted;
    call([&] { (work.*step)(); });
    return before == nullptr || work.done() == n;
}

const std::map<std::string, std::function<bool()>> operations{
    {"schedule", [] { return count<queue_work>(nullptr, &queue_work::schedule); }},
    {"cancel", [] { return count(&queue_work::schedule, &queue_work::cancel); }},
    {"renew", [] { return count(&queue_work::schedule, &queue_work::renew); }},
    {"fire", [] { return count(&queue_work::schedule, &queue_work::fire); }},
    {"wheel_insert", [] { return count<wheel_work>(nullptr, &wheel_work::insert); }},
    {"wheel_erase", [] { return count(&wheel_work::insert, &wheel_work::erase); }},
    {"wheel_postpone", [] { return count(&wheel_work::insert, &wheel_work::postpone); }},
    {"wheel_advance", [] { return count(&wheel_work::insert, &wheel_work::advance); }},
};

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc == 2 ? argv[1] : "";
    if (what == "--list") {
        for (const auto& operation : operations) std::cout << operation.first << '\n';
        return 0;
    }
    const auto found = operations.find(what);
    if (found == operations.end()) {
        std::cerr << "usage: sandglass.counted --list | OPERATION\n";
        return 2;
    }
    if (!found->second()) {
        std::cerr << what << ": not each of the timers was met\n";
        return 1;
    }
    std::cout << n << '\n';
}
