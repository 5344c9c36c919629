// Both units see the same types, and each handles the other's timers.
#include "unit.hpp"

#include <chrono>
#include <cstdio>
#include <thread>

namespace {

int failures = 0;

void check(bool ok, const char* what) {
    if (ok) return;
    std::printf("failed: %s\n", what);
    ++failures;
}

void wait_for(const std::atomic<int>& runs, int wanted) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (runs < wanted && std::chrono::steady_clock::now() < limit) {
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
}

}  // namespace

int main() {
    using namespace std::chrono_literals;

    check(plain::language() != tuned::language(), "the units are compiled as different language versions");

    const auto ours = plain::layouts();
    const auto theirs = tuned::layouts();
    check(ours.size() == theirs.size(), "both units list the same types");
    for (std::size_t i = 0; i != ours.size(); ++i) {
        std::printf("%-30s %5zu bytes, aligned to %zu\n", ours[i].type.c_str(), ours[i].size, ours[i].alignment);
        check(ours[i].size == theirs[i].size, "sizes differ");
        check(ours[i].alignment == theirs[i].alignment, "alignments differ");
    }

    std::atomic<int> runs{0};
    {
        const auto first = plain::make_timer();
        const auto second = tuned::make_timer();
        tuned::schedule(*first, 1ms, runs);
        plain::schedule(*second, 1ms, runs);
        const auto late_first = tuned::schedule(*first, 1h, runs);
        const auto late_second = plain::schedule(*second, 1h, runs);
        check(plain::cancel(late_first), "a handle from the tuned unit cancels in the plain one");
        check(tuned::cancel(late_second), "a handle from the plain unit cancels in the tuned one");
        wait_for(runs, 2);
    }
    check(runs == 2, "each timer that was not cancelled ran once");
    return failures == 0 ? 0 : 1;
}
