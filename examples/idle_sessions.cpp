// Sessions that end when their client has been idle: one timer per client, pushed back by every request.
//
// Reads rows `second,client` in time order and prints `end_second,client,requests` for every session, in time order and
// within a second by client. A request that arrives exactly when the session ends opens a new one.
#include <sandglass/sandglass.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "support/csv.hpp"
#include "support/options.hpp"

namespace {

using std::chrono::seconds;
using time_point = std::chrono::steady_clock::time_point;

constexpr std::string_view usage =
    "usage: idle_sessions [--idle N] [FILE]\n"
    "  FILE      rows `second,client`, `-` or none for standard input\n"
    "  --idle N  a session ends N seconds after its last request: 1 to 100000000, 10 if not told\n";

constexpr std::int64_t latest_second = 9'000'000'000;  // the year 2255, and within 64-bit nanoseconds

class session_log {
  public:
    explicit session_log(seconds idle) : idle_{idle} {}

    void handle(const csv::row& row) {
        const seconds now{row.integer(0, 0, latest_second)};
        const std::int64_t client = row.integer(1, 0, INT64_MAX);
        if (now < now_) row.refuse(0, "time goes backwards: expected " + std::to_string(now_.count()) + " or later");

        // First the sessions that end until now, then the request: this makes one at the very end open a new session.
        run_until(time_point{now_ = now});
        entry& open = *sessions_.try_emplace(client).first;
        ++open.second.requests;
        // Pushing a pending timer back is the cheap operation: it neither allocates nor touches the wheel. It answers
        // false if there is nothing to push back: the client is new, or its last session has ended.
        if (!open.second.timer.reschedule_after(idle_))
            open.second.timer = queue_.schedule_after(
                idle_, [this, &open](const sandglass::timer_context& c) { end(open, c.scheduled_time()); });
    }

    void end_the_rest() {
        while (const auto next = queue_.next_deadline()) run_until(*next);
    }

  private:
    struct session {
        std::int64_t requests = 0;
        sandglass::timer_handle timer{};
    };
    // Entries of the map stay where they are while others come and go, so a callback can refer to one.
    using sessions = std::unordered_map<std::int64_t, session>;
    using entry = sessions::value_type;

    struct ended_session {
        std::int64_t second;
        std::int64_t client;
        std::int64_t requests;
    };

    void run_until(time_point now) {
        clock_.set(now);
        queue_.poll();
        // Timers of one tick fire in the order in which they were scheduled, the output wants them by client. All that
        // end in one second end in one poll, so that sorting what one poll brought is enough.
        std::sort(ended_.begin(), ended_.end(), [](const ended_session& a, const ended_session& b) {
            return std::tie(a.second, a.client) < std::tie(b.second, b.client);
        });
        for (const ended_session& s : ended_) std::cout << s.second << ',' << s.client << ',' << s.requests << '\n';
        ended_.clear();
    }

    void end(const entry& ending, time_point when) {
        const auto second = std::chrono::duration_cast<seconds>(when.time_since_epoch()).count();
        ended_.push_back({second, ending.first, ending.second.requests});
        sessions_.erase(ended_.back().client);
    }

    seconds idle_;
    seconds now_{0};
    sessions sessions_;
    std::vector<ended_session> ended_;
    sandglass::manual_clock clock_;
    // Whole seconds are all that the rows know, so a tick is one second and every deadline falls on a tick.
    sandglass::timer_queue<sandglass::inline_executor, std::reference_wrapper<sandglass::manual_clock>> queue_{
        sandglass::wheel_options{.tick = seconds{1}, .slots = 4096}, sandglass::inline_executor{}, std::ref(clock_)};
};

int run(int argc, char** argv) {
    std::string file = "-";
    seconds idle{10};
    for (support::arguments args{argc, argv}; args.next();) {
        if (args.is("--help")) return std::cout << usage, 0;
        if (args.is("--idle"))
            idle = seconds{args.integer(1, 100'000'000)};
        else
            file = args.file();
    }
    csv::reader rows{file, {"second", "client"}};
    session_log log{idle};
    const std::size_t bad = rows.for_each([&](const csv::row& row) { log.handle(row); });
    log.end_the_rest();
    if (!std::cout.flush()) throw std::runtime_error("cannot write to standard output");
    return bad == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const support::usage_error& error) {
        std::cerr << "idle_sessions: " << error.what() << '\n' << usage;
    } catch (const std::exception& error) {
        std::cerr << "idle_sessions: " << error.what() << '\n';
    }
    return 2;
}
