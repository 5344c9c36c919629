#ifndef SANDGLASS_BENCH_SUPPORT_DRIVE_HPP
#define SANDGLASS_BENCH_SUPPORT_DRIVE_HPP

#include <functional>
#include <string>
#include <utility>
#include <vector>

// Measurements that Google Benchmark does not fit: what counts is not how long something takes.
namespace bench {

struct outcome {
    std::vector<std::pair<std::string, double>> figures;
    std::string error{};  // the answer was wrong
};

struct drive {
    std::string name;  // workload/kind/implementation[/parameter:value]
    std::function<outcome()> run;
};

// All that the program knows, in the order in which they were added.
inline std::vector<drive>& drives() {
    static std::vector<drive> all;
    return all;
}
inline bool add(std::string name, std::function<outcome()> run) {
    drives().push_back({std::move(name), std::move(run)});
    return true;
}

}  // namespace bench

#endif
