#!/usr/bin/env python3
"""Tests of run.py, report.py and instructions.py: python3 bench/scripts_test.py"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import instructions
import report
import run


def measurement(name: str, figures: dict[str, list[float | None]], errors: list[str] | None = None) -> dict[str, Any]:
    return {"name": name, **run.split_name(name), "figures": figures, "errors": errors or []}


DATA: dict[str, Any] = {
    "schema": 1,
    "date": "2026-01-02",
    "commit": "0123456789ab",
    "changed_since": False,
    "quick": False,
    "rounds": 3,
    "machine": {"cpu": "A CPU", "cores": 2, "memory_gib": 4, "virtual": True, "governor": None, "kernel": "Linux 6", "distribution": "Debian"},
    "compiler": "g++ 12",
    "flags": "-O3",
    "peers": {"asio": "1.74", "libev": None},
    "measurements": [
        measurement("arm/timer/priority_queue/pending:100000", {"caller_ns": [200, 300, 1000], "cpu_ns": [200, 300, 1000]}),
        measurement("arm/timer/sandglass/pending:100000", {"caller_ns": [100, 100, 100], "cpu_ns": [100, 150, 200]}),
        measurement("arm/timer/asio/pending:100000", {"caller_ns": [None, 900, None], "cpu_ns": [None, 900, None]}, ["round 1: lost one"]),
        measurement("arm/bare/sandglass/pending:1000", {"caller_ns": [10, 11, 12]}),
        measurement("contended/timer/priority_queue/producers:4", {"million_pairs_per_second": [2, 2, 2]}),
        measurement("contended/timer/sandglass/producers:4", {"million_pairs_per_second": [6, 7, 8]}),
        measurement("lateness/timer/sandglass/tick_us:1000", {"p50_us": [540, 550, 560], "p99_us": [1000, 1010, 1020], "early": [0, 0, 0]}),
        measurement("lateness/timer/asio", {"p50_us": [60, 60, 60], "p99_us": [99, 99, 99], "early": [0, 3, 3]}),
        measurement("sizing/timer/sandglass/pending:10000/horizon_s:21600/slots:8192",
                    {"cpu_percent": [0.1, 0.2, 0.3], "fired_ns": [400, 410, 420], "memory_mib": [1, 1, 1]}),
    ],
}


class Report(unittest.TestCase):
    def setUp(self) -> None:
        self.data = copy.deepcopy(DATA)
        self.results = report.Results(self.data)

    def test_ratio_is_the_median_of_the_ratios_in_each_round(self) -> None:
        m = self.results.find("arm", "timer", "sandglass", pending=100_000)
        section = report.SECTIONS[0]
        self.assertEqual(report.ratio(self.results, m, section), 3.0)
        # CPU: 2, 2 and 5, while the medians' ratio is 2.
        self.assertEqual(report.ratio(self.results, m, report.SECTIONS[1]), 2.0)

    def test_where_more_is_better_the_ratio_is_turned_round(self) -> None:
        section = next(s for s in report.SECTIONS if s.workload == "contended")
        m = self.results.find("contended", "timer", "sandglass", producers=4)
        self.assertEqual(report.ratio(self.results, m, section), 3.5)

    def test_a_failed_round_is_left_out_and_pairs_still_match(self) -> None:
        m = self.results.find("arm", "timer", "asio", pending=100_000)
        self.assertAlmostEqual(report.ratio(self.results, m, report.SECTIONS[0]), 300 / 900)

    def test_an_error_is_told(self) -> None:
        self.assertIn("`arm/timer/asio/pending:100000`, round 1: lost one", report.table(self.data))

    def test_a_missing_peer_is_told(self) -> None:
        self.assertIn("not measured: libev", report.table(self.data))

    def test_rows_where_sandglass_loses_stay(self) -> None:
        self.data["measurements"][1]["figures"]["caller_ns"] = [400, 600, 2000]
        self.assertIn("600 (0.5 ×)", report.table(self.data))

    def test_numbers_have_three_digits_and_no_exponent(self) -> None:
        self.assertEqual([report.number(n) for n in (0, 0.0312, 1.005, 99.94, 1234567.8, None)],
                         ["0", "0.0312", "1", "99.9", "1,234,568", report.MISSING])

    def test_early_calls_are_told_beside_lateness(self) -> None:
        self.assertEqual(report.lateness_cell(self.results, "asio"), "60 / 99, 3 early")
        self.assertEqual(report.lateness_cell(self.results, "sandglass"), "550 / 1,010")

    def test_sizing(self) -> None:
        self.assertEqual(report.sizing_section(self.data).splitlines()[-1], "| 10,000, 6 h | 0.2 % · 410 ns · 1 MiB |")

    def test_sections_go_between_their_comments_and_only_there(self) -> None:
        page = "a\n<!-- bench: begin -->\nold\n<!-- bench: end -->\nb\n<!-- sizing: begin --><!-- sizing: end -->\nc\n"
        new = report.with_sections(page, self.data)
        self.assertNotIn("old", new)
        self.assertTrue(new.startswith("a\n") and new.endswith("\nc\n") and "\nb\n" in new)
        self.assertEqual(report.with_sections(new, self.data), new)
        with self.assertRaises(SystemExit):
            report.with_sections("no comments", self.data)

    def test_check_finds_a_table_that_the_results_do_not_make(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            readme = folder / "README.md"
            readme.write_text("<!-- bench: begin --><!-- bench: end --><!-- sizing: begin --><!-- sizing: end -->", encoding="utf-8")
            results = folder / "results.json"
            results.write_text(json.dumps(self.data), encoding="utf-8")

            def call(*more: str) -> int:
                command = [sys.executable, report.__file__, results, "--readme", readme, *more]
                return subprocess.run(command, check=False, capture_output=True).returncode

            self.assertEqual(call("--check"), 1)
            self.assertEqual(call(), 0)
            self.assertEqual(call("--check"), 0)
            table = folder / "table.md"
            table.write_text(table.read_text(encoding="utf-8").replace("100 (3.0 ×)", "50 (6.0 ×)"), encoding="utf-8")
            self.assertEqual(call("--check"), 1)


class Run(unittest.TestCase):
    def test_what_is_compared_stays_together_and_the_order_changes(self) -> None:
        names = [f"arm/timer/{who}/pending:{n}" for n in (1000, 10_000, 100_000) for who in ("a", "b", "c", "d")]
        orders = [run.order_of_round(names, seed) for seed in range(20)]
        for order in orders:
            self.assertEqual(sorted(order), sorted(names))
            sizes = [name.rsplit(":", 1)[1] for name in order]
            self.assertEqual(sum(a != b for a, b in zip(sizes, sizes[1:])), 2)
        self.assertGreater(len({tuple(o) for o in orders}), 10)

    def test_a_failure_keeps_the_place_of_its_round(self) -> None:
        class Flaky:
            calls = 0

            def measure(self, _: str) -> dict[str, float]:
                self.calls += 1
                if self.calls == 2:
                    raise RuntimeError("not this time")
                return {"caller_ns": float(self.calls)}

        results: dict[str, Any] = {}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "results.json"
            errors = run.run_rounds(Flaky(), ["arm/timer/sandglass/pending:1000"], 3, results, path)
            saved = json.loads(path.read_text(encoding="utf-8"))
        self.assertEqual(errors, 1)
        self.assertEqual(saved["measurements"][0]["figures"], {"caller_ns": [1.0, None, 3.0]})
        self.assertEqual(saved["measurements"][0]["errors"], ["round 2: not this time"])


class Instructions(unittest.TestCase):
    EXPECTED = {"tolerance_percent": 5, "instructions": {"cancel": 100.0, "fire": 50.0}}

    def test_within_the_tolerance(self) -> None:
        self.assertEqual(instructions.verdicts(self.EXPECTED, {"cancel": 104.0, "fire": 48.0}), [])

    def test_beyond_it_in_either_direction(self) -> None:
        wrong = instructions.verdicts(self.EXPECTED, {"cancel": 106.0, "fire": 40.0})
        self.assertEqual(len(wrong), 2)
        self.assertIn("cancel: 106.0 instructions, expected 100.0: +6.0 %", wrong[0])

    def test_an_operation_too_few_or_too_many(self) -> None:
        self.assertEqual(len(instructions.verdicts(self.EXPECTED, {"cancel": 100.0, "new": 1.0})), 2)

    def test_what_callgrind_says(self) -> None:
        self.assertEqual(instructions.collected("==1== Events    : Ir\n==1== Collected : 12345\n"), 12345)
        with self.assertRaises(RuntimeError):
            instructions.collected("valgrind: no such file")


if __name__ == "__main__":
    unittest.main()
