// Orders that are not paid in time are closed: one timer per order, cancelled by its payment.
//
// Reads rows `millisecond,order,created|paid` and prints `millisecond,order,closed` in time order. By default the rows
// are replayed on a manual clock, as fast as they can be read; with --speed they are played in real time on a
// wheel_timer. What happens to an order is the same code either way.
//
// What counts:
//   - The deadline belongs to the timer. A payment that arrives in the very millisecond of the deadline is too late.
//   - A late payment is no error of the input: the order stays closed and a note on standard error says so.
//   - Bad rows are: time that goes backwards, an order created twice, a payment of an order that was never created or
//     is already paid. They are reported and skipped; the exit status is then 1.
//   - Orders that are still open after the last row are closed when their time comes.
#include <sandglass/sandglass.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include "support/csv.hpp"
#include "support/options.hpp"

namespace {

using std::chrono::milliseconds;
using time_point = std::chrono::steady_clock::time_point;

constexpr std::string_view usage =
    "usage: order_timeout [--timeout 30m] [--speed X] [FILE]\n"
    "  FILE           rows `millisecond,order,created|paid`, `-` or none for standard input\n"
    "  --timeout 30m  how long an order may stay unpaid: 1ms to 2400h\n"
    "  --speed X      replay in real time, X times as fast: 1 to 1000000\n";

constexpr std::int64_t latest_millisecond = 9'000'000'000'000;  // the year 2255, and within 64-bit nanoseconds

// The time of the rows is the time of the clock, and passes when the next row says so.
class replayed_time {
  public:
    auto& timers() { return queue_; }
    [[nodiscard]] time_point at(milliseconds t) const { return time_point{t}; }

    void run_until(milliseconds t) {
        clock_.set(at(t));
        queue_.poll();
    }

    void run_to_the_end(milliseconds) {
        while (const auto next = queue_.next_deadline()) {
            clock_.set(*next);
            queue_.poll();
        }
    }

  private:
    sandglass::manual_clock clock_;
    sandglass::timer_queue<sandglass::inline_executor, std::reference_wrapper<sandglass::manual_clock>> queue_{
        sandglass::wheel_options{}, sandglass::inline_executor{}, std::ref(clock_)};
};

// The first row is now, and `speed` milliseconds of the rows pass in one real one.
class real_time {
  public:
    explicit real_time(double speed) : speed_{speed} {}

    auto& timers() { return timer_; }

    [[nodiscard]] time_point at(milliseconds t) const {
        const std::chrono::duration<double, std::milli> since_first{static_cast<double>((t - first_).count()) / speed_};
        return start_ + std::chrono::ceil<std::chrono::nanoseconds>(since_first);
    }

    void run_until(milliseconds t) {
        if (first_ < milliseconds{0}) {
            first_ = t;
            start_ = std::chrono::steady_clock::now();
        }
        std::this_thread::sleep_until(at(t));
    }

    void run_to_the_end(milliseconds last_deadline) {
        // Timers of one tick fire in the order in which they were scheduled, so this one is the last of all.
        std::promise<void> done;
        const auto reached = done.get_future();
        timer_.schedule_at(at(last_deadline), [done = std::move(done)]() mutable { done.set_value(); });
        reached.wait();
    }

  private:
    double speed_;
    milliseconds first_{-1};
    time_point start_;
    sandglass::wheel_timer timer_;
};

template <class Time>
class order_desk {
  public:
    order_desk(Time& time, milliseconds timeout) : time_{time}, timeout_{timeout} {}
    order_desk(const order_desk&) = delete;
    order_desk& operator=(const order_desk&) = delete;

    // The callbacks point into orders_, so none may run once it is gone.
    ~order_desk() { time_.timers().stop(); }

    void handle(const csv::row& row) {
        const milliseconds now{row.integer(0, 0, latest_millisecond)};
        const std::string_view name = row.text(1);
        const std::string_view event = row.text(2);
        if (event != "created" && event != "paid") row.refuse(2, "expected created or paid");
        if (now < now_) row.refuse(0, "time goes backwards: expected " + std::to_string(now_.count()) + " or later");

        // First all that is due until now, then what happens now: this makes a payment at the deadline too late.
        now_ = now;
        time_.run_until(now);
        if (event == "created")
            created(row, std::string{name});
        else
            paid(row, std::string{name});
    }

    void close_the_rest() {
        if (!orders_.empty()) time_.run_to_the_end(now_ + timeout_);
    }

  private:
    struct order {
        milliseconds deadline{};
        sandglass::timer_handle timer{};
        bool paid = false;
    };

    void created(const csv::row& row, std::string&& name) {
        const auto [entry, is_new] = orders_.try_emplace(std::move(name));
        if (!is_new) row.refuse(1, "this order was created before: expected a new one");
        entry->second.deadline = now_ + timeout_;
        // The map's own entry stays where it is while other orders come, and a pointer to it fits into the timer.
        const auto* const due = &*entry;
        entry->second.timer = time_.timers().schedule_at(time_.at(due->second.deadline), [due] {
            std::cout << due->second.deadline.count() << ',' << due->first << ",closed\n";
        });
    }

    void paid(const csv::row& row, const std::string& name) {
        const auto entry = orders_.find(name);
        if (entry == orders_.end()) row.refuse(1, "no such order: expected one that was created before");
        order& known = entry->second;
        if (known.paid) row.refuse(1, "already paid: expected an order that is open");
        // cancel() decides: true means that the order will not be closed any more, false that it has been. The
        // comparison is for real time: the timer fires on the first tick at or after the deadline, and a payment could
        // slip in between.
        known.paid = now_ < known.deadline && known.timer.cancel();
        if (!known.paid) {
            std::cerr << "note: the payment of order " << csv::quoted(name) << " at " << now_.count()
                      << " is too late, its deadline was " << known.deadline.count() << '\n';
        }
    }

    Time& time_;
    milliseconds timeout_;
    milliseconds now_{0};
    std::unordered_map<std::string, order> orders_;
};

template <class Time>
std::size_t replay(Time&& time, csv::reader& rows, milliseconds timeout) {
    order_desk desk{time, timeout};
    const std::size_t bad = rows.for_each([&](const csv::row& row) { desk.handle(row); });
    desk.close_the_rest();
    return bad;
}

int run(int argc, char** argv) {
    std::string file = "-";
    milliseconds timeout = std::chrono::minutes{30};
    double speed = 0;
    for (support::arguments args{argc, argv}; args.next();) {
        if (args.is("--help")) return std::cout << usage, 0;
        if (args.is("--timeout"))
            timeout = args.duration(milliseconds{1}, std::chrono::hours{2400}, "1ms to 2400h");
        else if (args.is("--speed"))
            speed = args.real(1, 1e6, "a number from 1 to 1000000");
        else
            file = args.file();
    }
    csv::reader rows{file, {"millisecond", "order", "event"}};
    if (speed > 0) std::cout << std::unitbuf;  // somebody may be watching
    const std::size_t bad =
        speed > 0 ? replay(real_time{speed}, rows, timeout) : replay(replayed_time{}, rows, timeout);
    if (!std::cout.flush()) throw std::runtime_error("cannot write to standard output");
    return bad == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const support::usage_error& error) {
        std::cerr << "order_timeout: " << error.what() << '\n' << usage;
    } catch (const std::exception& error) {
        std::cerr << "order_timeout: " << error.what() << '\n';
    }
    return 2;
}
