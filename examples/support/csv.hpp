// Rows of comma-separated values, read as a stream. A row that cannot be understood is reported with its file, line and
// column, and costs nothing but itself: the rows after it are handled as if it had not been there.
#ifndef SANDGLASS_EXAMPLES_SUPPORT_CSV_HPP
#define SANDGLASS_EXAMPLES_SUPPORT_CSV_HPP

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "options.hpp"

namespace csv {

// Something is wrong at `column` (in bytes, from 1) of a row.
class bad_row : public std::runtime_error {
  public:
    bad_row(std::size_t column, const std::string& what) : std::runtime_error(what), column_{column} {}
    [[nodiscard]] std::size_t column() const noexcept { return column_; }

  private:
    std::size_t column_;
};

// A field as it is shown in an error: short, and without bytes that would upset a terminal.
inline std::string quoted(std::string_view field) {
    constexpr std::size_t longest = 40;
    std::string text{field.substr(0, longest)};
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return '"' + text + (field.size() > longest ? "...\"" : "\"");
}

// One row with as many fields as there are columns. It looks into the reader's buffer: valid until the next row.
class row {
  public:
    row(std::string_view line, const std::vector<std::string>& columns) : columns_{&columns} {
        for (std::size_t begin = 0;;) {
            const std::size_t comma = line.find(',', begin);
            fields_.push_back({line.substr(begin, comma - begin), begin + 1});
            if (comma == std::string_view::npos) break;
            begin = comma + 1;
        }
        if (fields_.size() == columns.size()) return;
        const bool few = fields_.size() < columns.size();
        throw bad_row(few ? line.size() + 1 : fields_[columns.size()].column,
                      std::string{few ? "too few" : "too many"} + " fields (" + std::to_string(fields_.size()) +
                          "): expected " + std::to_string(columns.size()) + ", " + joined(columns));
    }

    // A field that may be any text but nothing.
    [[nodiscard]] std::string_view text(std::size_t i) const {
        if (fields_[i].text.empty()) refuse(i, "expected some text");
        return fields_[i].text;
    }

    [[nodiscard]] std::int64_t integer(std::size_t i, std::int64_t low, std::int64_t high) const {
        if (const auto number = support::parse_integer(fields_[i].text, low, high)) return *number;
        refuse(i, "expected a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    }

    // Reports this row as bad because of its field `i`.
    [[noreturn]] void refuse(std::size_t i, const std::string& why) const {
        throw bad_row(fields_[i].column, (*columns_)[i] + " is " + quoted(fields_[i].text) + ": " + why);
    }

    static std::string joined(const std::vector<std::string>& columns) {
        std::string all;
        for (const std::string& name : columns) all += (all.empty() ? "" : ",") + name;
        return all;
    }

  private:
    struct field {
        std::string_view text;
        std::size_t column;
    };

    const std::vector<std::string>* columns_;
    std::vector<field> fields_;
};

// Reads a file, or standard input for `-`. A first line that begins with the name of the first column is the header;
// empty lines are skipped; lines may end in CR LF.
class reader {
  public:
    // Throws std::runtime_error if the file cannot be read.
    reader(const std::string& path, std::vector<std::string> columns)
        : columns_{std::move(columns)}, name_{path == "-" ? "<stdin>" : path} {
        if (path == "-") return;
        // A directory can be opened like a file on some systems and then looks like an empty one.
        std::error_code ignored;
        if (std::filesystem::is_directory(path, ignored))
            throw std::runtime_error("cannot read " + path + ": a directory");
        file_.open(path, std::ios::binary);
        if (!file_.is_open())
            throw std::runtime_error("cannot read " + path + ": " + std::generic_category().message(errno));
        input_ = &file_;
    }

    // Calls handle(row) for each row in turn and returns how many were bad; `handle` may call row.refuse().
    template <class Handle>
    std::size_t for_each(Handle&& handle) {
        std::size_t bad = 0;
        std::string line;
        for (std::size_t number = 1; std::getline(*input_, line); ++number) {
            std::string_view text = line;
            if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
            if (text.empty() || (number == 1 && is_header(text))) continue;
            try {
                handle(row{text, columns_});
            } catch (const bad_row& error) {
                ++bad;
                std::cerr << name_ << ':' << number << ':' << error.column() << ": error: " << error.what() << '\n';
            }
        }
        if (input_->bad()) throw std::runtime_error("cannot read on in " + name_);
        return bad;
    }

  private:
    [[nodiscard]] bool is_header(std::string_view line) const { return line.substr(0, line.find(',')) == columns_[0]; }

    std::vector<std::string> columns_;
    std::string name_;
    std::ifstream file_;
    std::istream* input_ = &std::cin;
};

}  // namespace csv

#endif
