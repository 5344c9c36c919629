#!/usr/bin/env python3
"""Builds the benchmarks, runs every measurement in rounds, and writes results.json, a table and charts.

Measurements that are compared with each other run next to each other, each in a process of its own, and in another order
in each round: what the machine does meanwhile then meets all of them alike.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import report

ROOT = Path(__file__).resolve().parent.parent
GOOGLE = "sandglass.bench"
OWN = "sandglass.drive"
# What Google Benchmark appends to the names.
SUFFIX = "/iterations:1/manual_time"


def output_of(*command: str | Path) -> str:
    """What a command prints; empty if it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def first_match(pattern: str, path: str) -> str | None:
    try:
        found = re.search(pattern, Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return None
    return found.group(1).strip() if found else None


def machine() -> dict[str, Any]:
    memory_kib = first_match(r"^MemTotal:\s+(\d+)", "/proc/meminfo")
    return {
        "cpu": first_match(r"^model name\s*:\s*(.+)$", "/proc/cpuinfo") or platform.processor() or "unknown",
        "cores": os.cpu_count(),
        "memory_gib": round(int(memory_kib) / 2**20) if memory_kib else None,
        "virtual": first_match(r"^flags\s*:.*\b(hypervisor)\b", "/proc/cpuinfo") is not None,
        "governor": first_match(r"^(\w+)", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "kernel": f"{platform.system()} {platform.release()}",
        "distribution": first_match(r'^PRETTY_NAME="?([^"\n]+)', "/etc/os-release"),
    }


def cache_entry(build: Path, name: str) -> str:
    return first_match(rf"^{re.escape(name)}:\w+=(.*)$", str(build / "CMakeCache.txt")) or ""


def compiler_and_flags(build: Path) -> tuple[str, str]:
    version = output_of(cache_entry(build, "CMAKE_CXX_COMPILER") or "c++", "--version").splitlines()
    build_type = cache_entry(build, "CMAKE_BUILD_TYPE")
    flags = [cache_entry(build, "CMAKE_CXX_FLAGS"), cache_entry(build, f"CMAKE_CXX_FLAGS_{build_type.upper()}")]
    return version[0] if version else "unknown", " ".join(["-std=c++20", *filter(None, flags)])


def build_programs(build: Path, *programs: str) -> None:
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DSANDGLASS_BUILD_TESTS=OFF", "-DSANDGLASS_BUILD_EXAMPLES=OFF"]
    subprocess.run(["cmake", "-S", ROOT, "-B", build, *options], check=True, stdout=sys.stderr)
    jobs = str(os.cpu_count() or 1)
    subprocess.run(["cmake", "--build", build, "--parallel", jobs, "--target", *programs], check=True, stdout=sys.stderr)


class Suite:
    """The two programs, and what they can measure."""

    def __init__(self, build: Path, quick: bool, timeout: float) -> None:
        self.programs = {name: build / "bench" / name for name in (GOOGLE, OWN)}
        self.timeout = timeout
        self.environment = {k: v for k, v in os.environ.items() if k != "SANDGLASS_BENCH_QUICK"}
        if quick:
            self.environment["SANDGLASS_BENCH_QUICK"] = "1"
        self.program_of: dict[str, str] = {}
        for line in self._call(GOOGLE, "--benchmark_list_tests").splitlines():
            self.program_of[line.removesuffix(SUFFIX)] = GOOGLE
        for line in self._call(OWN, "--list").splitlines():
            self.program_of[line] = OWN

    def _call(self, program: str, *arguments: str) -> str:
        done = subprocess.run(
            [self.programs[program], *arguments],
            env=self.environment, timeout=self.timeout, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        if done.returncode != 0 and not done.stdout.strip():
            raise RuntimeError(f"{program} ended with status {done.returncode}: {done.stderr.strip()[-300:]}")
        return done.stdout

    def measure(self, name: str) -> dict[str, float]:
        """The figures of one measurement; RuntimeError if there are none."""
        try:
            if self.program_of[name] == OWN:
                return self._own(name)
            return self._google(name)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"took longer than {self.timeout:.0f} s") from None
        except (ValueError, KeyError, IndexError) as wrong:
            raise RuntimeError(f"unreadable output: {wrong!r}") from None

    def _own(self, name: str) -> dict[str, float]:
        result = json.loads(self._call(OWN, "--run", name))
        if "error" in result:
            raise RuntimeError(result["error"])
        return result["figures"]

    def _google(self, name: str) -> dict[str, float]:
        exactly = f"^{re.escape(name)}(/iterations:1)?(/manual_time)?$"
        text = self._call(GOOGLE, f"--benchmark_filter={exactly}", "--benchmark_format=json")
        result = json.loads(text[text.index("{"):])["benchmarks"][0]
        if result.get("error_occurred"):
            raise RuntimeError(result["error_message"])
        wanted = ("caller_ns", "cpu_ns", "million_pairs_per_second")
        return {key: result[key] for key in wanted if key in result}


def split_name(name: str) -> dict[str, Any]:
    """workload/kind/implementation[/parameter:value]..."""
    workload, kind, implementation, *rest = name.split("/")
    parameters = {key: int(value) for key, value in (part.split(":") for part in rest)}
    return {"workload": workload, "kind": kind, "implementation": implementation, "parameters": parameters}


def order_of_round(names: list[str], seed: int) -> list[str]:
    """Shuffled, but what is compared stays together."""
    shuffle = random.Random(seed)
    groups: dict[tuple[Any, ...], list[str]] = {}
    for name in names:
        n = split_name(name)
        size = n["parameters"].get("pending", n["parameters"].get("producers"))
        groups.setdefault((n["workload"], n["kind"], size), []).append(name)
    keys = sorted(groups, key=str)
    shuffle.shuffle(keys)
    for group in groups.values():
        shuffle.shuffle(group)
    return [name for key in keys for name in groups[key]]


def headline(figures: dict[str, float]) -> str:
    key = next(iter(figures))
    return f"{key} {figures[key]:.4g}"


def save(results: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(path)


def run_rounds(suite: Suite, names: list[str], rounds: int, results: dict[str, Any], path: Path) -> int:
    """Returns the number of errors. Saves after each round, and when interrupted."""
    by_name = {name: {"name": name, **split_name(name), "figures": {}, "errors": []} for name in names}
    results["measurements"] = list(by_name.values())
    total = rounds * len(names)
    done = errors = 0
    start = time.monotonic()
    try:
        for round_number in range(1, rounds + 1):
            for name in order_of_round(names, round_number):
                entry = by_name[name]
                try:
                    figures = suite.measure(name)
                    shown = headline(figures)
                    for key, value in figures.items():
                        entry["figures"].setdefault(key, [None] * (round_number - 1)).append(value)
                except RuntimeError as wrong:
                    shown = f"ERROR: {wrong}"
                    entry["errors"].append(f"round {round_number}: {wrong}")
                    # A place is kept, so that the others' rounds still pair.
                    for values in entry["figures"].values():
                        values.append(None)
                    errors += 1
                done += 1
                left = (time.monotonic() - start) / done * (total - done)
                print(f"[{done:4}/{total}] round {round_number}  {name:55} {shown:28} {left / 60:4.0f} min left",
                      file=sys.stderr, flush=True)
            results["rounds"] = round_number
            save(results, path)
    except KeyboardInterrupt:
        print("interrupted; what there is has been saved", file=sys.stderr)
        save(results, path)
        raise SystemExit(130) from None
    return errors


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, one round: does everything run?")
    parser.add_argument("--rounds", type=int, help="how often everything is measured (default 5, quick 1)")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only measurements whose name contains it")
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build-bench")
    parser.add_argument("--output", type=Path, help="folder of the results (default bench/results, quick: in the build folder)")
    parser.add_argument("--no-build", action="store_true", help="use the programs as they are")
    parser.add_argument("--timeout", type=float, default=300, help="seconds a measurement may take (default 300)")
    given = parser.parse_args()
    if given.rounds is None:
        given.rounds = 1 if given.quick else 5
    if given.rounds < 1:
        parser.error(f"--rounds is {given.rounds}; allowed is 1 or more")
    if given.output is None:
        given.output = given.build_dir / "quick" if given.quick else ROOT / "bench" / "results"
    return given


def main() -> int:
    given = arguments()
    if not given.no_build:
        build_programs(given.build_dir, GOOGLE, OWN)
    suite = Suite(given.build_dir, given.quick, given.timeout)
    names = [name for name in suite.program_of if re.search(given.filter, name)]
    if not names:
        print(f"no measurement's name contains {given.filter!r}", file=sys.stderr)
        return 2
    compiler, flags = compiler_and_flags(given.build_dir)
    peers = json.loads((given.build_dir / "bench" / "peers.json").read_text(encoding="utf-8"))
    missing = [name for name, version in peers.items() if version is None]
    if missing:
        print(f"not found on this machine, not measured: {', '.join(missing)}", file=sys.stderr)
    results = {
        "schema": 1,
        "date": datetime.date.today().isoformat(),
        "commit": output_of("git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"),
        "changed_since": bool(output_of("git", "-C", ROOT, "status", "--porcelain", "include", "bench/subjects", "bench/support")),
        "quick": given.quick,
        "rounds": 0,
        "machine": machine(),
        "compiler": compiler,
        "flags": flags,
        "peers": peers,
    }
    path = given.output / "results.json"
    errors = run_rounds(suite, names, given.rounds, results, path)
    report.write_table(results, given.output / "table.md")
    if report.can_draw():
        report.write_charts(results, given.output)
    else:
        print("no charts: matplotlib is not installed", file=sys.stderr)
    print(f"{len(names)} measurements, {results['rounds']} rounds, {errors} errors: {path}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
