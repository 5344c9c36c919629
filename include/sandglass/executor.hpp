#ifndef SANDGLASS_EXECUTOR_HPP
#define SANDGLASS_EXECUTOR_HPP

#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <sandglass/clock.hpp>
#include <sandglass/detail/core_runners.hpp>
#include <sandglass/detail/thread_name.hpp>
#include <sandglass/errors.hpp>

namespace sandglass {

namespace detail {

struct token_access;

// A hand-over to an executor that is in progress on this thread. A task that is dropped within it is reported when the
// executor has returned, together with what it threw.
struct hand_over {
    const node* timer;
    hand_over* outer;
    bool dropped = false;
};
inline constinit thread_local hand_over* innermost_hand_over = nullptr;

}  // namespace detail

// A timer whose time has come, on its way to its callable. An executor calls it, once, now or later, on any thread. If
// the timer was cancelled or moved in the meantime, the call does nothing: that is decided in the call. Dropping it
// without calling it counts as a refusal. It may outlive the timer object, and then does nothing.
//
// Threads: one at a time. Move-only, two pointers wide, so that it fits into most task types without an allocation.
class expired_timer {
  public:
    expired_timer(expired_timer&& other) noexcept : core_(other.core_), node_(std::exchange(other.node_, nullptr)) {}
    expired_timer& operator=(expired_timer&& other) noexcept {
        if (this != &other) {
            drop();
            core_ = other.core_;
            node_ = std::exchange(other.node_, nullptr);
        }
        return *this;
    }
    ~expired_timer() { drop(); }

    // Calls the callable. What that throws goes to wheel_options::on_error, not to the caller. A second call does
    // nothing.
    void operator()() noexcept {
        if (node_ != nullptr) core_->run(*std::exchange(node_, nullptr));
    }

    // Whether it has yet to be called.
    [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }

  private:
    friend struct detail::token_access;

    expired_timer(detail::timer_core& core, detail::node& n) noexcept : core_(&core), node_(&n) {}

    void drop() noexcept {
        if (node_ == nullptr) return;
        detail::node& n = *std::exchange(node_, nullptr);
        for (detail::hand_over* h = detail::innermost_hand_over; h != nullptr; h = h->outer) {
            if (h->timer == &n) {
                h->dropped = true;
                return;
            }
        }
        core_->refuse(n, nullptr);
    }

    detail::timer_core* core_;
    detail::node* node_;
};

static_assert(sizeof(expired_timer) == 2 * sizeof(void*) && std::is_nothrow_move_constructible_v<expired_timer>);

namespace detail {

// For the library's own executors, which link nodes instead of allocating.
struct token_access {
    static expired_timer make(timer_core& core, node& n) noexcept { return {core, n}; }
    static node& take(expired_timer& task) noexcept { return *std::exchange(task.node_, nullptr); }
};

template <class E>
concept has_execute = requires(E& e, expired_timer task) { e.execute(std::move(task)); };

template <class E>
void execute(E& e, expired_timer&& task) {
    if constexpr (has_execute<E>) {
        e.execute(std::move(task));
    } else {
        e(std::move(task));
    }
}

}  // namespace detail

// Where callbacks run: `e.execute(expired_timer&&)`, or anything that can be called with an expired_timer&&. It is
// called by the thread that turns the wheel, one task at a time, and should not keep it. If it throws, or drops the
// task, that timer counts as rejected.
template <class E>
concept executor = detail::has_execute<E> || std::invocable<E&, expired_timer&&>;

// Calls on the thread that turns the wheel. The default: no hand-off, no second thread. While a callback runs, no other
// timer fires, so the lateness of all is at least the longest callback: keep them short, or use a thread_pool.
struct inline_executor {
    void execute(expired_timer&& task) const noexcept { task(); }
};

static_assert(executor<inline_executor>);

enum class when_full {
    caller_runs,  // the thread that turns the wheel calls it itself: slows the timer down to what the pool can do
    refuse,       // the timer counts as rejected, with an executor_full
};

struct pool_options {
    std::size_t queue_limit = 0;  // tasks that may wait for a worker; 0: no limit
    when_full full = when_full::caller_runs;
    std::string thread_name = "sandglass-pool";
};

// A fixed number of worker threads that take tasks in the order in which they expired. A hand-over allocates nothing:
// waiting timers are linked to each other.
//
// Pass it by std::ref, or in a std::shared_ptr. It must outlive the timers that use it, or be stopped before it goes.
// Threads: any.
class thread_pool {
  public:
    static constexpr std::size_t max_threads = 4096;

    // Starts the workers. Errors: std::invalid_argument unless 1 <= threads <= max_threads; std::system_error if a
    // thread cannot be started, with none left behind; std::bad_alloc.
    explicit thread_pool(std::size_t threads, pool_options options = {})
        : shared_(std::make_shared<shared>(std::move(options))) {
        if (threads == 0 || threads > max_threads) {
            detail::throw_invalid("thread_pool: threads is " + std::to_string(threads) + "; allowed is 1 to " +
                                  std::to_string(max_threads));
        }
        struct undo {
            thread_pool* pool;
            ~undo() {
                if (pool != nullptr) pool->stop();
            }
        } unless_all_start{this};
        workers_.reserve(threads);
        while (workers_.size() < threads) {
            workers_.emplace_back([state = shared_] { state->work(); });
        }
        unless_all_start.pool = nullptr;
    }

    thread_pool(const thread_pool&) = delete;
    thread_pool& operator=(const thread_pool&) = delete;
    // As stop(). If one of its own callbacks runs it, that worker ends by itself after the callback.
    ~thread_pool() {
        stop();
        for (std::thread& worker : workers_) {
            if (!worker.joinable()) continue;
            if (worker.get_id() == std::this_thread::get_id()) {
                worker.detach();
            } else {
                worker.join();
            }
        }
    }

    // Cost: a mutex, and waking a worker if one sleeps. Errors: executor_full if it refuses, the task not taken.
    void execute(expired_timer&& task) {
        if (shared_->accept(task)) {
            shared_->available.notify_one();
        } else {
            task();
        }
    }

    // From now on tasks are refused; those that were waiting are still run. Returns when all workers have ended, at
    // once when called by a worker. Idempotent, from several threads at once.
    void stop() noexcept {
        {
            const std::lock_guard lock(shared_->mutex);
            shared_->stopping = true;
        }
        shared_->available.notify_all();
        if (pool_of_this_worker == shared_.get()) return;
        const std::lock_guard joining(join_mutex_);
        for (std::thread& worker : workers_) {
            if (worker.joinable()) worker.join();
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return workers_.size(); }
    // Tasks that wait for a worker.
    [[nodiscard]] std::size_t approx_queued() const noexcept {
        const std::lock_guard lock(shared_->mutex);
        return shared_->queued;
    }

  private:
    // Held by the workers too.
    struct shared {
        explicit shared(pool_options&& given) : options(std::move(given)) {}

        // Takes the task, or leaves it to the caller to run.
        bool accept(expired_timer& task) {
            const std::lock_guard lock(mutex);
            if (stopping) throw executor_full("sandglass: thread_pool is stopped");
            if (options.queue_limit == 0 || queued < options.queue_limit) {
                push(detail::token_access::take(task));
                return true;
            }
            if (options.full == when_full::caller_runs) return false;
            throw executor_full("sandglass: thread_pool has " + std::to_string(queued) +
                                " tasks waiting, as many as pool_options::queue_limit allows");
        }

        void push(detail::node& n) noexcept {
            n.next = nullptr;
            (first == nullptr ? first : last->next) = &n;
            last = &n;
            ++queued;
        }

        void work() noexcept {
            detail::name_this_thread(options.thread_name);
            pool_of_this_worker = this;
            std::unique_lock lock(mutex);
            for (;;) {
                available.wait(lock, [this] { return first != nullptr || stopping; });
                if (first == nullptr) return;
                auto& n = *static_cast<detail::node*>(first);
                first = std::exchange(n.next, nullptr);
                --queued;
                lock.unlock();
                detail::token_access::make(detail::timer_core::of(n), n)();
                lock.lock();
            }
        }

        const pool_options options;
        std::mutex mutex;
        std::condition_variable available;
        detail::list_hook* first = nullptr;  // linked by `next`: a timer that is handed over is in no wheel
        detail::list_hook* last = nullptr;
        std::size_t queued = 0;
        bool stopping = false;
    };

    static inline constinit thread_local const shared* pool_of_this_worker = nullptr;

    const std::shared_ptr<shared> shared_;
    std::mutex join_mutex_;
    std::vector<std::thread> workers_;
};

static_assert(executor<thread_pool>);

}  // namespace sandglass

#endif  // SANDGLASS_EXECUTOR_HPP
