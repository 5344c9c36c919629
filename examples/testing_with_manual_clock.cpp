// Code that uses timers, tested without sleeping: the class under test takes its timers as a template parameter, the
// program gives it a wheel_timer, the test a timer_queue on a manual_clock. Hours pass in microseconds, and a result
// never depends on how busy the machine is.
#include <sandglass/sandglass.hpp>

#include <chrono>
#include <functional>
#include <iostream>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;

namespace {

// ---- the class under test -------------------------------------------------------------------------------------------

// Saves a document when nothing has been typed for 2 s, but never later than 30 s after the first unsaved change.
template <class Timers>
class autosave {
  public:
    static constexpr auto quiet_time = 2s;
    static constexpr auto longest_wait = 30s;

    autosave(Timers& timers, std::function<void()> save) : timers_{timers}, save_{std::move(save)} {}

    void edited() {
        if (!quiet_.reschedule_after(quiet_time))  // false: no timer is pending, this is the first change
            quiet_ = timers_.schedule_after(quiet_time, [this] { save(); });
        if (!latest_.pending()) latest_ = timers_.schedule_after(longest_wait, [this] { save(); });
    }

  private:
    void save() {
        quiet_.cancel();
        latest_.cancel();
        save_();
    }

    Timers& timers_;
    std::function<void()> save_;
    // Both callbacks point to this object, so they are cancelled with it. With a wheel_timer, whose callbacks run on
    // another thread, the destructor would call cancel_and_wait(), and a mutex would guard the two.
    sandglass::scoped_timer quiet_;
    sandglass::scoped_timer latest_;
};

// ---- the test -------------------------------------------------------------------------------------------------------

int failures = 0;

void check(bool holds, std::string_view what) {
    std::cout << (holds ? "ok    " : "FAILED ") << what << '\n';
    if (!holds) ++failures;
}

//! [manual_clock]
struct fixture {
    sandglass::manual_clock clock;
    sandglass::timer_queue<sandglass::inline_executor, std::reference_wrapper<sandglass::manual_clock>> queue{
        sandglass::wheel_options{}, sandglass::inline_executor{}, std::ref(clock)};
    int saves = 0;
    autosave<decltype(queue)> document{queue, [this] { ++saves; }};

    void pass(std::chrono::nanoseconds time) {
        clock.advance(time);
        queue.poll();
    }
};

void saves_two_seconds_after_the_last_change() {
    fixture f;
    f.document.edited();
    f.pass(1999ms);
    check(f.saves == 0, "nothing is saved before two quiet seconds have passed");
    f.pass(1ms);
    check(f.saves == 1, "it is saved when they have");
    f.pass(24h);
    check(f.saves == 1, "and not again without a new change");
}
//! [manual_clock]

void every_change_pushes_the_save_back() {
    fixture f;
    for (int i = 0; i < 10; ++i) {
        f.document.edited();
        f.pass(1s);
    }
    check(f.saves == 0, "a change every second keeps pushing the save back");
    f.pass(1s);
    check(f.saves == 1, "two seconds after the last one it comes");
}

void never_later_than_thirty_seconds() {
    fixture f;
    for (int i = 0; i < 30; ++i) {
        f.document.edited();
        f.pass(1s);
    }
    check(f.saves == 1, "who never stops typing is saved every 30 s");
    check(f.queue.approx_pending() == 0, "and the other timer is cancelled with it");
}

void a_closed_document_is_not_saved() {
    fixture f;
    {
        autosave other{f.queue, [&] { ++f.saves; }};
        other.edited();
    }
    f.pass(1h);
    check(f.saves == 0, "a document that is gone is not saved");
}

}  // namespace

int main() {
    saves_two_seconds_after_the_last_change();
    every_change_pushes_the_save_back();
    never_later_than_thirty_seconds();
    a_closed_document_is_not_saved();
    return failures == 0 ? 0 : 1;
}
