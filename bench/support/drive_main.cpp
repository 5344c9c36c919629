// sandglass.drive --list         the names of all measurements
// sandglass.drive --run NAME     runs one; prints its figures as one line of JSON
// sandglass.drive --run-all      each of them, one after the other, in a process of its own
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "support/drive.hpp"

namespace {

std::string quoted(std::string_view text) {
    std::string s = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') s += '\\';
        s += c;
    }
    return s + '"';
}

bool run(const bench::drive& d) {
    bench::outcome result;
    try {
        result = d.run();
    } catch (const std::exception& e) {
        result.error = e.what();
    }
    std::cout << "{\"name\": " << quoted(d.name);
    if (!result.error.empty()) {
        std::cout << ", \"error\": " << quoted(result.error);
    } else {
        std::cout << ", \"figures\": {";
        const char* separator = "";
        for (const auto& [name, value] : result.figures) {
            std::cout << separator << quoted(name) << ": " << (std::isfinite(value) ? value : -1.);
            separator = ", ";
        }
        std::cout << '}';
    }
    std::cout << "}" << std::endl;
    return result.error.empty();
}

// Memory that one has used would be there for the next one.
bool run_apart(const bench::drive& d) {
    const pid_t child = fork();
    if (child == 0) std::_Exit(run(d) ? 0 : 1);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int usage() {
    std::cerr << "usage: sandglass.drive --list | --run NAME | --run-all\n";
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    std::cout.precision(10);
    const std::string_view what = argc > 1 ? argv[1] : "";
    if (what == "--list" && argc == 2) {
        for (const bench::drive& d : bench::drives()) std::cout << d.name << '\n';
        return 0;
    }
    if (what == "--run-all" && argc == 2) {
        bool good = true;
        for (const bench::drive& d : bench::drives()) good = run_apart(d) && good;
        return good ? 0 : 1;
    }
    if (what != "--run" || argc != 3) return usage();
    for (const bench::drive& d : bench::drives()) {
        if (d.name == argv[2]) return run(d) ? 0 : 1;
    }
    std::cerr << "no measurement is called \"" << argv[2] << "\"; --list shows all names\n";
    return 2;
}
