// Callbacks on a thread pool of your own, here Asio's: anything with `execute(expired_timer&&)` is an executor.
#include <sandglass/sandglass.hpp>

#if __has_include(<asio/thread_pool.hpp>)
#ifndef ASIO_STANDALONE
#define ASIO_STANDALONE
#endif
#include <asio/post.hpp>
#include <asio/thread_pool.hpp>
#else
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
namespace asio = boost::asio;
#endif

#include <atomic>
#include <chrono>
#include <iostream>
#include <latch>
#include <thread>

using namespace std::chrono_literals;

namespace {

//! [adapter]
// The whole adapter. A pool that refuses a task drops it, which sandglass reports as rejected; nothing to do here.
struct asio_executor {
    asio::thread_pool& pool;
    void execute(sandglass::expired_timer&& expired) const { asio::post(pool, std::move(expired)); }
};
//! [adapter]

}  // namespace

int main() {
    asio::thread_pool pool{2};  // before the timer: it must outlive the thread that posts to it
    std::thread::id tick_thread;
    sandglass::wheel_options options;
    options.on_thread_start = [&] { tick_thread = std::this_thread::get_id(); };
    sandglass::basic_wheel_timer timer{options, asio_executor{pool}};

    constexpr int count = 100;
    std::latch all_done{count};
    std::atomic<int> on_tick_thread{0};
    std::atomic<int> sum{0};
    for (int i = 1; i <= count; ++i)
        timer.schedule_after(20ms, [&, i] {
            if (std::this_thread::get_id() == tick_thread) ++on_tick_thread;
            sum += i;
            all_done.count_down();
        });
    all_done.wait();

    timer.stop();  // nothing is posted any more, nothing of the timer runs in the pool
    pool.join();
    std::cout << count << " callbacks ran in the pool, " << on_tick_thread << " on the tick thread\n"
              << "the sum of 1 to " << count << " is " << sum << '\n';
}
