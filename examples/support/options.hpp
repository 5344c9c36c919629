// What the examples with a command line share: options with a value, and numbers that are refused rather than guessed.
#ifndef SANDGLASS_EXAMPLES_SUPPORT_OPTIONS_HPP
#define SANDGLASS_EXAMPLES_SUPPORT_OPTIONS_HPP

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace support {

// The caller asked for something this program does not have: main prints it and ends with status 2.
class usage_error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The whole text as a decimal number from `low` to `high`, or nothing: no blanks, no `+`, no silent overflow.
inline std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end || value < low || value > high) return std::nullopt;
    return value;
}

// `500ms`, `2s`, `30m`, `1h`: a whole number and its unit, or nothing.
inline std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
    constexpr std::int64_t most = 1'000'000'000'000;  // 1e12 hours in milliseconds still fit 64 bits
    const auto digits = text.find_first_not_of("0123456789");
    if (digits == std::string_view::npos) return std::nullopt;
    const std::string_view unit = text.substr(digits);
    const auto count = parse_integer(text.substr(0, digits), 0, most);
    if (!count) return std::nullopt;
    if (unit == "ms") return std::chrono::milliseconds{*count};
    if (unit == "s") return std::chrono::seconds{*count};
    if (unit == "m") return std::chrono::minutes{*count};
    if (unit == "h") return std::chrono::hours{*count};
    return std::nullopt;
}

// One pass over the command line: `while (args.next()) { if (args.is("--idle")) idle = args.integer(1, 60); ... }`.
class arguments {
  public:
    arguments(int argc, char** argv) : argc_{argc}, argv_{argv} {}

    bool next() {
        if (++index_ >= argc_) return false;
        current_ = argv_[index_];
        return true;
    }

    [[nodiscard]] bool is(std::string_view name) const { return current_ == name; }

    // The current argument if it is a file (`-` is standard input) and the first one; anything else is unknown here.
    std::string file() {
        if (current_.size() > 1 && current_.front() == '-')
            throw usage_error("unknown option " + std::string{current_});
        if (std::exchange(file_seen_, true))
            throw usage_error("one file at most, and this is the second: " + std::string{current_});
        return std::string{current_};
    }

    [[noreturn]] void unknown() const { throw usage_error("unknown argument " + std::string{current_}); }

    std::string_view value() {
        if (index_ + 1 >= argc_) throw usage_error(std::string{current_} + " needs a value");
        return argv_[++index_];
    }

    std::int64_t integer(std::int64_t low, std::int64_t high) {
        const std::string_view text = value();
        if (const auto number = parse_integer(text, low, high)) return *number;
        refuse(text, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    }

    double real(double low, double high, const std::string& allowed) {
        const std::string text{value()};
        char* stop = nullptr;
        const double number = std::strtod(text.c_str(), &stop);
        if (text.empty() || *stop != '\0' || !std::isfinite(number) || number < low || number > high)
            refuse(text, allowed);
        return number;
    }

    std::chrono::milliseconds duration(std::chrono::milliseconds low, std::chrono::milliseconds high,
                                       const std::string& allowed) {
        return to_duration(value(), low, high, allowed);
    }

    // For options whose value holds several durations.
    std::chrono::milliseconds to_duration(std::string_view text, std::chrono::milliseconds low,
                                          std::chrono::milliseconds high, const std::string& allowed) const {
        const auto parsed = parse_duration(text);
        if (!parsed || *parsed < low || *parsed > high) refuse(text, "a whole number with ms, s, m or h, " + allowed);
        return *parsed;
    }

    [[noreturn]] void refuse(std::string_view text, const std::string& allowed) const {
        throw usage_error(std::string{current_} + " \"" + std::string{text} + "\": expected " + allowed);
    }

  private:
    int argc_;
    char** argv_;
    int index_ = 0;
    std::string_view current_;
    bool file_seen_ = false;
};

}  // namespace support

#endif
