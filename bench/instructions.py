#!/usr/bin/env python3
"""Counts the instructions of schedule, cancel, renew and fire, and compares them with what they were.

Times vary with the machine and with what else it does; instructions of one program under callgrind do not. The program is
sandglass.counted.

    python3 bench/instructions.py            compares; fails beyond the tolerance, in either direction
    python3 bench/instructions.py --update   writes what is now expected
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from run import ROOT, build_programs, cache_entry, output_of

COUNTED = "sandglass.counted"
EXPECTED = ROOT / "bench" / "instructions" / "expected.json"


def compiler_of(build: Path) -> str:
    """Name and major version: "g++ 12". Patches of a compiler change next to nothing."""
    line = output_of(cache_entry(build, "CMAKE_CXX_COMPILER") or "c++", "--version").split("\n")[0]
    name = "clang++" if "clang" in line else "g++"
    found = re.search(r"(\d+)\.\d+\.\d+", line)
    return f"{name} {found.group(1) if found else '?'}"


def collected(stderr: str) -> int:
    """The sum that callgrind prints at its end."""
    found = re.search(r"Collected\s*:\s*(\d+)", stderr)
    if not found:
        raise RuntimeError(f"callgrind has not said what it collected: {stderr.strip()[-300:]}")
    return int(found.group(1))


def instructions(program: Path, operation: str) -> float:
    """Instructions per operation."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", "--toggle-collect=counted", f"--callgrind-out-file={folder}/out", program, operation],
            capture_output=True, text=True, check=False,
        )
    if done.returncode != 0:
        raise RuntimeError(f"{operation}: ended with status {done.returncode}: {done.stderr.strip()[-300:]}")
    counted = collected(done.stderr)
    if counted == 0:
        raise RuntimeError(f"{operation}: nothing was counted; has {program.name} no function of the name `counted`?")
    return counted / int(done.stdout)


def verdicts(expected: dict[str, Any], now: dict[str, float]) -> list[str]:
    """What is wrong, one line each."""
    tolerance = expected["tolerance_percent"]
    wanted = expected["instructions"]
    wrong = [f"{name}: is not expected, or no longer counted" for name in sorted(wanted.keys() ^ now.keys())]
    for name in sorted(wanted.keys() & now.keys()):
        change = 100 * (now[name] / wanted[name] - 1)
        if abs(change) > tolerance:
            wrong.append(f"{name}: {now[name]:.1f} instructions, expected {wanted[name]:.1f}: {change:+.1f} %, "
                         f"allowed is {tolerance} % in either direction")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build-bench")
    parser.add_argument("--update", action="store_true")
    given = parser.parse_args()
    build_programs(given.build_dir, COUNTED)
    program = given.build_dir / "bench" / COUNTED
    now = {name: round(instructions(program, name), 1) for name in output_of(program, "--list").splitlines()}
    if not now:
        raise SystemExit(f"{program} knows no operation")
    expected = json.loads(EXPECTED.read_text(encoding="utf-8")) if EXPECTED.exists() else {"tolerance_percent": 5}
    compiler = compiler_of(given.build_dir)
    if given.update:
        expected.update(compiler=compiler, instructions=now)
        EXPECTED.write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")
    for name, count in now.items():
        print(f"{name:16} {count:8.1f} instructions, expected {expected['instructions'].get(name, 0):8.1f}")
    if compiler != expected["compiler"]:
        raise SystemExit(f"compiled by {compiler}; what is expected was counted with {expected['compiler']}")
    wrong = verdicts(expected, now)
    for line in wrong:
        print(f"FAILED {line}", file=sys.stderr)
    if wrong:
        print("Is the change meant? Then measure it, say so, and run this with --update.", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
