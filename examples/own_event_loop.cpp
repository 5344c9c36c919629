// Timers in an event loop of your own, without a thread of theirs: a timer_queue tells when to wake up next, and poll()
// runs what is due. Other threads may schedule at any time; `on_earlier` says when the loop has to look again.
#include <sandglass/sandglass.hpp>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <limits>
#include <optional>
#include <system_error>
#include <thread>

using namespace std::chrono_literals;

namespace {

int checked(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), what);
    return result;
}

class descriptor {
  public:
    explicit descriptor(int fd) : fd_{fd} {}
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    ~descriptor() { ::close(fd_); }
    [[nodiscard]] int get() const { return fd_; }

  private:
    int fd_;
};

// How long epoll_wait may sleep: rounded up, for it counts in milliseconds and would otherwise wake up too early and
// spin through the last one; -1 (for ever) while no timer is pending.
int sleep_time(std::optional<std::chrono::steady_clock::time_point> deadline) {
    if (!deadline) return -1;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now()).count();
    return static_cast<int>(std::clamp<decltype(left)>(left, 0, std::numeric_limits<int>::max()));
}

}  // namespace

int main() {
    const descriptor epoll{checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")};
    const descriptor wake{checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")};
    epoll_event interest{};
    interest.events = EPOLLIN;
    interest.data.fd = wake.get();
    checked(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.get(), &interest), "epoll_ctl");

    //! [wake]
    sandglass::timer_queue queue;
    queue.on_earlier([&] {
        const std::uint64_t one = 1;
        // It can only fail when the counter is full, and then the loop is being woken anyway.
        [[maybe_unused]] const auto written = ::write(wake.get(), &one, sizeof one);
    });
    //! [wake]

    bool running = true;
    queue.schedule_after(600ms, [&] {
        std::cout << "the far timer fires, the loop ends\n";
        running = false;
    });

    // Without on_earlier this timer would not be seen before the far one wakes the loop.
    std::thread other{[&] {
        std::this_thread::sleep_for(50ms);
        queue.schedule_after(100ms, [] { std::cout << "the nearer timer of another thread fires\n"; });
    }};

    std::cout << "the loop starts\n";
    //! [loop]
    while (running) {
        epoll_event event{};
        const int ready = ::epoll_wait(epoll.get(), &event, 1, sleep_time(queue.next_deadline()));
        if (ready < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "epoll_wait");
        if (ready > 0 && event.data.fd == wake.get()) {
            std::uint64_t count = 0;
            [[maybe_unused]] const auto read = ::read(wake.get(), &count, sizeof count);
        }
        // ... the sockets of a real loop would be served here ...
        queue.poll();
    }
    //! [loop]
    other.join();
}
