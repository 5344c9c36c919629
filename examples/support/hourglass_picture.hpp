// What the hourglass looks like in a terminal: falling sand, a glass that turns, and a screen to draw them on. It knows
// nothing of timers.
#ifndef SANDGLASS_EXAMPLES_SUPPORT_HOURGLASS_PICTURE_HPP
#define SANDGLASS_EXAMPLES_SUPPORT_HOURGLASS_PICTURE_HPP

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <numbers>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace picture {

// The sand in the glass, a grid of square pixels: a grain falls straight down, or else slides down to a free side.
class sand {
  public:
    static constexpr int half_width = 11;  // x: -half_width .. half_width
    static constexpr int height = 34;      // y: from the top; two rows of wood, the upper bulb, the lower one, wood

    sand() {
        for (int y = height - 3; y > neck && grains_ < 150; --y)
            for (int x = -half_width; x <= half_width; ++x)
                if (inside(x, y)) at(x, y) = random_shade(), ++grains_;
    }

    // Lets the sand fall until no more than this part of it is in the upper bulb.
    void run(double upper_part) {
        const int allowed = static_cast<int>(std::lround((1 - upper_part) * grains_));
        // As many steps as the neck needs, one grain wide; at least some, for the grains that are in the air.
        for (int step = 0; step < 2 || (fallen_ < allowed && step < 100); ++step) fall(allowed);
    }

    void turn() {
        std::reverse(pixels_.begin(), pixels_.end());
        fallen_ = 0;
    }

    // The colour (of the 256) of a pixel, or 0.
    [[nodiscard]] int colour(int x, int y) const {
        if (std::abs(x) > half_width || y < 0 || y >= height) return 0;
        if (y < 2 || y >= height - 2) return (y == 0 || y == height - 1) ? 137 : 95;
        if (inside(x, y)) return at(x, y);
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
                if (inside(x + dx, y + dy)) return 110;
        return 0;
    }

  private:
    static constexpr int neck = height / 2 - 1;  // the last row of the upper bulb

    static bool inside(int x, int y) {
        if (y < 2 || y >= height - 2) return false;
        const int distance = y <= neck ? neck - y : y - neck - 1;
        // Nowhere flatter than 45 degrees up to the neck, or the sand would not slide down all of it.
        return std::abs(x) <= std::lround(9 * std::sin(std::numbers::pi / 2 * distance / 14));
    }

    void fall(int allowed) {
        for (int y = height - 4; y >= 2; --y) {
            // Whoever is looked at first gets the free place: from the left or the right, or the sand would lean over.
            const int side = random_() % 2 == 0 ? 1 : -1;
            for (int i = -half_width; i <= half_width; ++i) {
                const int x = side * i;
                if (at(x, y) == 0 || (y == neck && fallen_ >= allowed)) continue;
                for (const int dx : {0, side, -side})
                    if (inside(x + dx, y + 1) && at(x + dx, y + 1) == 0) {
                        if (y == neck) ++fallen_;
                        std::swap(at(x, y), at(x + dx, y + 1));
                        break;
                    }
            }
        }
    }

    static std::size_t index(int x, int y) {
        return static_cast<std::size_t>(y * (2 * half_width + 1) + x + half_width);
    }
    [[nodiscard]] std::uint8_t at(int x, int y) const { return pixels_[index(x, y)]; }
    std::uint8_t& at(int x, int y) { return pixels_[index(x, y)]; }

    std::uint8_t random_shade() {
        constexpr std::array<std::uint8_t, 5> shades{178, 179, 214, 215, 221};
        return shades[random_() % shades.size()];
    }

    std::array<std::uint8_t, (2 * half_width + 1) * height> pixels_{};
    std::minstd_rand random_;
    int grains_ = 0;
    int fallen_ = 0;  // grains that passed the neck in this round
};

// A part of the screen that is drawn again and again in the same place. The cursor is hidden meanwhile.
class screen {
  public:
    static constexpr int rows = 20;
    static constexpr int columns = 80;

    screen() : cells_(static_cast<std::size_t>(rows * columns)) { std::cout << "\033[?25l"; }
    screen(const screen&) = delete;
    screen& operator=(const screen&) = delete;
    ~screen() { std::cout << "\033[0m\033[?25h" << std::flush; }

    static bool fits() {
        winsize size{};
        const char* const kind = std::getenv("TERM");
        return ::isatty(STDOUT_FILENO) != 0 && kind != nullptr && std::string_view{kind} != "dumb" &&
               ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > rows + 1 && size.ws_col >= columns;
    }

    void clear() { std::fill(cells_.begin(), cells_.end(), cell{}); }

    void put(int row, int column, std::string_view glyph, int foreground, int background = 0) {
        if (row >= 0 && row < rows && column >= 0 && column < columns)
            cells_[static_cast<std::size_t>(row * columns + column)] = {glyph, foreground, background};
    }

    // ASCII text, centred at a column. The cells point into it: it must live until show().
    void write(int row, int centre, std::string_view line, int colour) {
        const int begin = centre - static_cast<int>(line.size() / 2);
        for (std::size_t i = 0; i < line.size(); ++i) put(row, begin + static_cast<int>(i), line.substr(i, 1), colour);
    }

    void show() {
        std::string out;
        if (shown_) out += "\033[" + std::to_string(rows) + "A\r";
        shown_ = true;
        for (int row = 0; row < rows; ++row) {
            cell last;
            for (int column = 0; column < columns; ++column) {
                const cell& c = cells_[static_cast<std::size_t>(row * columns + column)];
                if (c.foreground != last.foreground || c.background != last.background) {
                    out += "\033[0";
                    if (c.foreground != 0) out += ";38;5;" + std::to_string(c.foreground);
                    if (c.background != 0) out += ";48;5;" + std::to_string(c.background);
                    out += 'm';
                }
                out += c.glyph;
                last = c;
            }
            out += "\033[0m\n";
        }
        std::cout << out << std::flush;
    }

  private:
    struct cell {
        std::string_view glyph = " ";
        int foreground = 0;
        int background = 0;
    };

    std::vector<cell> cells_;
    bool shown_ = false;
};

// The glass, turned by an angle. A character is half as wide as high: two pixels make one character.
inline void draw_glass(screen& to, const sand& contents, double angle) {
    constexpr int centre = 24;
    const double sine = std::sin(angle);
    const double cosine = std::cos(angle);
    const auto colour = [&](int column, int line) {
        // A thin wall of glass can slip through between two pixels: if the middle of this one misses it, try its edges.
        for (const auto& [dx, dy] : {std::pair{0.0, 0.0}, {0.3, 0.0}, {-0.3, 0.0}, {0.0, 0.3}, {0.0, -0.3}}) {
            const double x = column - centre + dx;
            const double y = line - (2 * screen::rows - 1) / 2.0 + dy;
            const int hit =
                contents.colour(static_cast<int>(std::lround(x * cosine + y * sine)),
                                static_cast<int>(std::lround(y * cosine - x * sine + (sand::height - 1) / 2.0)));
            if (hit != 0) return hit;
        }
        return 0;
    };
    for (int row = 0; row < screen::rows; ++row)
        for (int column = 0; column <= 2 * centre; ++column) {
            const int upper = colour(column, 2 * row);
            const int lower = colour(column, 2 * row + 1);
            if (upper != 0)
                to.put(row, column, "▀", upper, lower);
            else if (lower != 0)
                to.put(row, column, "▄", lower);
        }
}

}  // namespace picture

#endif
