// Retry with back-off: a callable that takes a timer_context& chooses after each run whether and when it runs again.
#include <sandglass/sandglass.hpp>

#include <chrono>
#include <future>
#include <iostream>
#include <string>
#include <utility>

using namespace std::chrono_literals;

namespace {

// Stands for a server that is down for the first few requests.
class flaky_server {
  public:
    explicit flaky_server(int failures) : failures_{failures} {}
    bool request() { return failures_-- <= 0; }

  private:
    int failures_;
};

// Tries until it works, 10 ms after now, then 20 ms later, 40 ms, ...; after `attempts` it gives up.
// The callable owns all it needs, so nothing has to be kept alive for it, and its end is told through the future.
std::future<std::string> fetch(sandglass::wheel_timer& timer, flaky_server server, int attempts) {
    std::promise<std::string> answer;
    auto result = answer.get_future();
    timer.schedule_after(10ms, [=, answer = std::move(answer), attempt = 0](sandglass::timer_context& c) mutable {
        const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(c.scheduled_delay());
        std::cout << "  attempt " << ++attempt << " after " << waited.count() << " ms\n";
        if (server.request()) {
            answer.set_value("answered");
        } else if (attempt == attempts) {
            answer.set_value("gave up");
        } else {
            // Counted from now, not from when this run was due: a server that answers late is not asked again at once.
            c.reschedule_after(c.scheduled_delay() * 2);
        }
    });
    return result;
}

}  // namespace

int main() {
    sandglass::wheel_timer timer;

    std::cout << "a server that fails three times\n";
    std::cout << fetch(timer, flaky_server{3}, 5).get() << '\n';

    std::cout << "a server that is down for good\n";
    std::cout << fetch(timer, flaky_server{1000}, 5).get() << '\n';
}
