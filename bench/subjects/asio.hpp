#ifndef SANDGLASS_BENCH_SUBJECTS_ASIO_HPP
#define SANDGLASS_BENCH_SUBJECTS_ASIO_HPP

#include <functional>
#include <future>
#include <memory>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "support/workload.hpp"

namespace bench {

// Boost.Asio: a steady_timer each, and one thread that runs the io_context. A steady_timer may be used by one thread at a
// time, so whoever schedules, cancels or moves from outside posts that to the io thread. Whether a timer still is pending
// is decided at once, by a word of its own.
class asio_timers {
    using clock = std::chrono::steady_clock;

    struct timer {
        timer(boost::asio::io_context& io, std::function<void()> f) : wait(io), callback(std::move(f)) {}
        boost::asio::steady_timer wait;
        std::function<void()> callback;
        std::atomic<std::uint64_t> word{pending};  // lowest bit: pending; the rest counts the moves
    };
    static constexpr std::uint64_t pending = 1;
    static constexpr std::uint64_t one_move = 2;

  public:
    using handle = std::shared_ptr<timer>;

    asio_timers() : thread_([this] { io_.run(); }) {}
    asio_timers(const asio_timers&) = delete;
    asio_timers& operator=(const asio_timers&) = delete;
    ~asio_timers() { finish(); }

    template <class F>
    handle schedule(nanoseconds delay, F callback) {
        const clock::time_point deadline = clock::now() + delay;
        auto h = std::make_shared<timer>(io_, std::move(callback));
        boost::asio::post(io_, [h, deadline] { arm(h, deadline, pending); });
        return h;
    }
    bool cancel(handle& h) {
        std::uint64_t word = h->word.load();
        do {
            if ((word & pending) == 0) return false;
        } while (!h->word.compare_exchange_weak(word, word & ~pending));
        boost::asio::post(io_, [h] { h->wait.cancel(); });
        return true;
    }
    bool renew(handle& h, nanoseconds delay) {
        const clock::time_point deadline = clock::now() + delay;
        std::uint64_t word = h->word.load();
        do {
            if ((word & pending) == 0) return false;
        } while (!h->word.compare_exchange_weak(word, word + one_move));
        boost::asio::post(io_, [h, deadline, now = word + one_move] { arm(h, deadline, now); });
        return true;
    }
    void settle() {
        std::promise<void> done;
        boost::asio::post(io_, [&done] { done.set_value(); });
        done.get_future().wait();
    }
    void fire_all(milliseconds, const tally& calls, std::uint64_t n) { wait_for(calls, n); }
    void finish() {
        work_.reset();
        io_.stop();
        if (thread_.joinable()) thread_.join();
    }

  private:
    static void arm(const handle& h, clock::time_point deadline, std::uint64_t word) {
        if (h->word.load() != word) return;  // cancelled or moved since
        h->wait.expires_at(deadline);
        h->wait.async_wait([h, word](const boost::system::error_code& error) {
            std::uint64_t expected = word;
            if (!error && h->word.compare_exchange_strong(expected, word & ~pending)) h->callback();
        });
    }

    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_ = boost::asio::make_work_guard(io_);
    std::thread thread_;
};

}  // namespace bench

#endif
