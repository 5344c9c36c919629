#include <sandglass/sandglass.hpp>

#include <iostream>
#include <thread>
using namespace std::chrono_literals;

int main() {
    sandglass::wheel_timer timer;
    timer.schedule_every(100ms, [beat = 1](sandglass::timer_context& c) mutable {
        std::cout << "heartbeat " << beat << '\n';
        if (beat++ == 3) c.cancel();
    });
    timer.schedule_after(500ms, [] { std::cout << "request 1 timed out\n"; });
    sandglass::timer_handle request2 = timer.schedule_after(500ms, [] { std::cout << "request 2 timed out\n"; });
    if (request2.cancel()) std::cout << "request 2 was answered in time\n";
    std::this_thread::sleep_for(1s);
}  // the destructor stops the timer: nothing runs after it
