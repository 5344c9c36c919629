// An hourglass: sand runs through the neck; when it has run out, the glass turns and the next round begins.
//
//     hourglass [--turns 3] [--period 3s[,5s...]] [--tick 500ms] [--slots 12] [--fast]
//
// Two timers on one wheel do all of it:
//   - the round, a one-shot that arms itself again for as long as its next round shall take,
//   - the beat, a series with the period of one tick, which follows the cursor of the wheel.
// The picture only looks on: the sand in the upper bulb is what the round's handle says remains.
// Where the output is no terminal there are plain lines; with --fast the same timers run on a manual clock.
#include <sandglass/sandglass.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <numbers>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/hourglass_picture.hpp"
#include "support/options.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::string_view usage =
    "usage: hourglass [--turns N] [--period 3s[,5s...]] [--tick 500ms] [--slots N] [--fast]\n"
    "  --turns N       how many times the glass turns: 1 to 10000, 3 if not told\n"
    "  --period 3s     how long the sand runs, at least one tick; several: each round takes the next one\n"
    "  --tick 500ms    how often the wheel moves on by a slot\n"
    "  --slots 12      how many slots the wheel has: 1 to 32, rounded up to a power of two\n"
    "  --fast          on a manual clock: no waiting at all\n";

std::atomic<bool> interrupted{false};
extern "C" void interrupt(int) { interrupted = true; }

// ---- the timers -----------------------------------------------------------------------------------------------------

struct settings {
    int turns = 3;
    std::vector<milliseconds> periods{3s};
    milliseconds tick = 500ms;
    std::size_t slots = 12;
    bool fast = false;

    [[nodiscard]] milliseconds length(int round) const {
        return periods[static_cast<std::size_t>(round) % periods.size()];
    }
    [[nodiscard]] sandglass::wheel_options wheel() const { return {.tick = tick, .slots = slots}; }
};

std::string text(milliseconds time) {
    std::ostringstream out;
    out.precision(12);
    out << std::chrono::duration<double>(time).count() << " s";
    return out.str();
}

// The two timers and what they tell, to any thread. `on_beat` and `on_turn` run in their callbacks.
class hourglass {
  public:
    using hook = std::function<void(const hourglass&)>;

    explicit hourglass(const settings& s, hook on_turn = {}, hook on_beat = {})
        : settings_{s}, on_turn_{std::move(on_turn)}, on_beat_{std::move(on_beat)}, end_of_round_{s.length(0)},
          end_tick_{ticks(end_of_round_)} {}

    // To be kept until the timers have been stopped: the callbacks point to this object.
    template <class Timers>
    void start(Timers& timers) {
        if (on_turn_) on_turn_(*this);
        timers.schedule_every(settings_.tick, [this](sandglass::timer_context& c) {
            // A process that was paused missed some beats; the wheel has not.
            tick_ += 1 + static_cast<std::int64_t>(c.missed());
            if (on_beat_) on_beat_(*this);
        });
        round_timer_ = timers.schedule_after(settings_.length(0), [this](sandglass::timer_context& c) {
            const int next = round_ + 1;
            if (next < settings_.turns) {
                begin_tick_ = end_tick_.load();
                end_of_round_ += settings_.length(next);
                end_tick_ = ticks(end_of_round_);
                // Counted from when this round was due. `reschedule_after` counts from now, which is a little past the
                // tick, so that every round would take one tick more.
                c.reschedule_at(c.scheduled_time() + settings_.length(next));
            }
            round_ = next;
            if (on_turn_ && next < settings_.turns) on_turn_(*this);
        });
    }

    // How many rounds are over, which is also the number of the running one, from 0.
    [[nodiscard]] int round() const { return round_; }
    [[nodiscard]] bool done() const { return round_ == settings_.turns; }
    // Where the cursor of the wheel is, where it was when this round began and where it will be at its end, counted
    // from the start.
    [[nodiscard]] std::int64_t tick() const { return tick_; }
    [[nodiscard]] std::int64_t begin_tick() const { return begin_tick_; }
    [[nodiscard]] std::int64_t end_tick() const { return end_tick_; }
    [[nodiscard]] std::chrono::nanoseconds remaining() const { return round_timer_.remaining(); }

  private:
    [[nodiscard]] std::int64_t ticks(milliseconds time) const { return (time + settings_.tick - 1ms) / settings_.tick; }

    const settings& settings_;
    hook on_turn_;
    hook on_beat_;
    milliseconds end_of_round_;  // counted from the start
    sandglass::timer_handle round_timer_;
    std::atomic<int> round_{0};
    std::atomic<std::int64_t> tick_{0};
    std::atomic<std::int64_t> begin_tick_{0};
    std::atomic<std::int64_t> end_tick_;
};

// ---- plain lines ----------------------------------------------------------------------------------------------------

class plain_lines {
  public:
    explicit plain_lines(const settings& s) : settings_{s} {}

    void turn(const hourglass& glass) {
        std::cout << "the glass turns: round " << glass.round() + 1 << " of " << settings_.turns << ", "
                  << text(settings_.length(glass.round())) << std::endl;
        shown_ = width;
    }

    void beat(const hourglass& glass) {
        const std::int64_t whole = glass.end_tick() - glass.begin_tick();
        const std::int64_t left = std::max<std::int64_t>(glass.end_tick() - glass.tick(), 0);
        const std::int64_t sand = (left * width + whole - 1) / whole;
        if (sand == shown_ || sand == 0) return;
        shown_ = sand;
        std::cout << "  " << std::string(static_cast<std::size_t>(sand), '#')
                  << std::string(static_cast<std::size_t>(width - sand), '.') << "  "
                  << text(glass.tick() * settings_.tick) << std::endl;
    }

  private:
    static constexpr std::int64_t width = 12;

    const settings& settings_;
    std::int64_t shown_ = width;
};

// ---- the picture ----------------------------------------------------------------------------------------------------

// The wheel: its slots, the hand at the cursor, and the slot in which the round's timer waits.
void draw_wheel(picture::screen& to, const hourglass& glass, std::size_t slots) {
    constexpr int middle_row = 9;
    constexpr int middle_column = 64;
    const auto count = static_cast<std::int64_t>(slots);
    const auto put = [&](std::int64_t slot, double radius, std::string_view glyph, int colour) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(slot % count) / static_cast<double>(count);
        to.put(middle_row - static_cast<int>(std::lround(radius * 6.5 * std::cos(angle))),
               middle_column + static_cast<int>(std::lround(radius * 13 * std::sin(angle))), glyph, colour);
    };
    for (std::int64_t slot = 0; slot < count; ++slot) put(slot, 1, "○", 242);
    put(glass.end_tick(), 1, "●", 214);
    for (const double radius : {0.2, 0.4, 0.6, 0.8}) put(glass.tick(), radius, "•", 110);
}

void show_picture(const settings& s) {
    hourglass glass{s};
    sandglass::wheel_timer timer{s.wheel()};
    const std::size_t slots = std::bit_ceil(s.slots);  // as the library rounds them up
    picture::screen screen;
    picture::sand sand;
    const std::string wheel_line = std::to_string(slots) + " slots, one tick is " + text(s.tick);
    std::string round_line;
    std::string ticks_line;
    const auto frame = [&](double angle) {
        screen.clear();
        picture::draw_glass(screen, sand, angle);
        draw_wheel(screen, glass, slots);
        const int round = std::min(glass.round(), s.turns - 1);
        round_line =
            "round " + std::to_string(round + 1) + " of " + std::to_string(s.turns) + ": " + text(s.length(round));
        const auto ticks = std::max<std::int64_t>(glass.end_tick() - glass.tick(), 0);
        ticks_line = "ticks to go: " + std::to_string(ticks);
        screen.write(0, 64, wheel_line, 245);
        screen.write(18, 64, round_line, 255);
        screen.write(19, 64, ticks_line, 245);
        screen.show();
        std::this_thread::sleep_for(33ms);
    };

    glass.start(timer);
    for (int round = 0; round < s.turns && !interrupted; ++round) {
        // The sand is drawn from when the glass stands again, in what remains of the round then.
        const auto frames = static_cast<double>(std::clamp<std::int64_t>(s.length(round) / 100ms, 1, 20));
        for (double i = 1; i < frames && !interrupted; ++i) {
            frame(std::numbers::pi * (1 - std::cos(std::numbers::pi * i / frames)) / 2);
        }
        sand.turn();
        const auto whole = std::chrono::duration<double>(std::max<std::chrono::nanoseconds>(glass.remaining(), 1ns));
        while (glass.round() == round && !interrupted) {
            sand.run(std::chrono::duration<double>(glass.remaining()) / whole);
            frame(0);
        }
    }
    timer.stop();
}

// ---- which of them --------------------------------------------------------------------------------------------------

void show_lines(const settings& s) {
    plain_lines lines{s};
    hourglass glass{s, [&](const hourglass& g) { lines.turn(g); }, [&](const hourglass& g) { lines.beat(g); }};
    if (s.fast) {
        sandglass::manual_clock clock;
        sandglass::timer_queue queue{s.wheel(), sandglass::inline_executor{}, std::ref(clock)};
        glass.start(queue);
        for (auto next = queue.next_deadline(); next && !glass.done() && !interrupted; next = queue.next_deadline()) {
            clock.set(*next);
            queue.poll();
        }
    } else {
        sandglass::wheel_timer timer{s.wheel()};
        glass.start(timer);
        while (!glass.done() && !interrupted) std::this_thread::sleep_for(20ms);
        timer.stop();
    }
}

settings parse(int argc, char** argv) {
    settings s;
    for (support::arguments args{argc, argv}; args.next();) {
        if (args.is("--turns")) {
            s.turns = static_cast<int>(args.integer(1, 10'000));
        } else if (args.is("--period")) {
            s.periods.clear();
            std::string_view list = args.value();
            for (bool more = true; more;) {
                const std::size_t comma = list.find(',');
                s.periods.push_back(args.to_duration(list.substr(0, comma), 1ms, 24h, "1ms to 24h"));
                more = comma != std::string_view::npos;
                if (more) list.remove_prefix(comma + 1);
            }
        } else if (args.is("--tick")) {
            s.tick = args.duration(1ms, 1h, "1ms to 1h");
        } else if (args.is("--slots")) {
            s.slots = static_cast<std::size_t>(args.integer(1, 32));
        } else if (args.is("--fast")) {
            s.fast = true;
        } else {
            args.unknown();
        }
    }
    for (const milliseconds period : s.periods) {
        if (period < s.tick)
            throw support::usage_error("--period " + text(period) + ": expected at least one tick, " + text(s.tick));
    }
    return s;
}

int run(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
        if (std::string_view{argv[i]} == "--help") return std::cout << usage, 0;
    const settings s = parse(argc, argv);
    std::signal(SIGINT, interrupt);
    std::signal(SIGTERM, interrupt);
    if (!s.fast && picture::screen::fits())
        show_picture(s);
    else
        show_lines(s);
    std::cout << (interrupted ? "stopped before the sand had run out\n" : "the sand has run out\n");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const support::usage_error& error) {
        std::cerr << "hourglass: " << error.what() << '\n' << usage;
    } catch (const std::exception& error) {
        std::cerr << "hourglass: " << error.what() << '\n';
    }
    return 2;
}
