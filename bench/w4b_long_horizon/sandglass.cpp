#include "subjects/sandglass.hpp"
#include "support/benchmarks.hpp"

namespace {

void long_horizon(benchmark::State& state) {
    bench::long_horizon<bench::bare_wheel>(state, static_cast<std::size_t>(state.range(0)));
}

}  // namespace

// The default, and more. At 1 ms a tick the last one's turn is 2097 s, longer than the horizon.
BENCHMARK(long_horizon)
    ->Name("long_horizon/bare/sandglass")
    ->Apply(bench::once)
    ->ArgName("slots")
    ->Arg(8'192)
    ->Arg(65'536)
    ->Arg(262'144)
    ->Arg(2'097'152);
