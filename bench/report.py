#!/usr/bin/env python3
"""Makes the table, the charts and the README's section from a results.json that run.py has written.

    python3 bench/report.py                    writes table.md and the charts beside it, and the README's section
    python3 bench/report.py --check            writes nothing; fails if any of them is not what the results say
"""

from __future__ import annotations

import argparse
import io
import json
import re
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator

ROOT = Path(__file__).resolve().parent.parent
BASELINE = "priority_queue"
NAMES = {
    "sandglass": {"bare": "**sandglass** `hashed_wheel`", "loop": "**sandglass** `timer_queue`", "timer": "**sandglass** `wheel_timer`"},
    "sandglass_pool": "**sandglass** `wheel_timer`, pool",
    "priority_queue": {"bare": "`std::priority_queue`", "timer": "`std::priority_queue` + mutex (baseline)"},
    "priority_queue_slab": "`std::priority_queue` + mutex, tuned (slab)",
    "multimap": "`std::multimap`",
    "list_scan": "list, scanned each tick",
    "asio": "Boost.Asio `steady_timer`",
    "libuv": "libuv",
    "libevent": "libevent",
    "libev": "libev",
}
KINDS = {
    "timer": "Thread-safe, with a thread of their own",
    "loop": "In a loop, one thread",
    "bare": "The data structure alone, one thread, virtual time",
}
ORDER = list(NAMES)
MISSING = "–"


@dataclass(frozen=True)
class Section:
    """One table of the report."""

    title: str
    what: str
    workload: str
    figure: str
    kinds: tuple[str, ...] = ("timer", "loop", "bare")
    column: str | None = "pending"
    more_is_better: bool = False
    ratios: bool = True


SECTIONS = [
    Section("W1 arm: the caller", "N pending, due in 1 to 1800 s; 1,000,000 more are scheduled. ns a call.", "arm", "caller_ns"),
    Section("W1 arm: CPU", "The same, CPU time of the whole process. ns a call.", "arm", "cpu_ns", ("timer",)),
    Section("W2 arm + cancel: the caller", "N pending; 2,000,000 times a random one is cancelled and another scheduled. ns a pair.",
            "arm_cancel", "caller_ns"),
    Section("W2 arm + cancel: CPU", "The same, CPU time of the whole process. ns a pair.", "arm_cancel", "cpu_ns", ("timer",)),
    Section("W3 renew: the caller", "N pending; 2,000,000 times a random one is moved to 1 to 1800 s from now. ns a move.",
            "renew", "caller_ns"),
    Section("W3 renew: CPU", "The same, CPU time of the whole process. ns a move.", "renew", "cpu_ns", ("timer",)),
    Section("W4 fire: CPU", "N timers over 1 to 1000 ms, from scheduling the first until all have fired. CPU ns a timer.", "fire", "cpu_ns"),
    Section("W4b long horizon", "1,000,000 timers over 1 to 1800 s, through all 1.8 million ticks. ns a fired timer.",
            "long_horizon", "caller_ns", ("bare",), "slots"),
    Section("W5 contended", "100,000 pending; each producer thread does W2 on its own part. Million pairs a second.",
            "contended", "million_pairs_per_second", ("timer",), "producers", more_is_better=True),
]
# Tables with one row an implementation and one column a figure.
FIGURES = [
    ("W6 lateness", "10,000 timers a second, due in 1 to 1000 ms: time of the call minus time asked for, in µs; how many were "
     "early; CPU of the timer's threads in % of a core.", "lateness",
     [("p50_us", "p50"), ("p99_us", "p99"), ("p999_us", "p99.9"), ("max_us", "max"), ("early", "early"), ("cpu_percent", "CPU %")]),
    ("W7 idle", "One timer, 10 s away.", "idle", [("switches_per_second", "switches a second"), ("cpu_percent", "CPU %")]),
    ("W8 memory", "1,000,000 pending.", "memory", [("bytes_per_timer", "bytes a timer")]),
    ("W9 at rest", "1,000,000 pending over 1800 s, nobody schedules; some 560 fire a second.", "at_rest",
     [("cpu_percent", "CPU %"), ("wakes_per_second", "wake-ups a second")]),
    ("W10 crowd", "500,000 timers due at one time, while another thread schedules one every 100 µs. Its calls, in µs.", "crowd",
     [("longest_call_us", "longest"), ("p99_call_us", "p99")]),
]

SIZING = ("N timers spread evenly over a horizon, none of them cancelled, 1 ms tick: CPU of the process in % of a core while nobody "
          "schedules; ns a fired timer, on virtual time; what the process has grown by.")


class Results:
    """What results.json holds, and the few questions that the report asks of it."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.measurements = data["measurements"]

    def of(self, workload: str, kind: str) -> list[dict[str, Any]]:
        found = [m for m in self.measurements if m["workload"] == workload and m["kind"] == kind]
        return sorted(found, key=lambda m: (rank(m), sorted(m["parameters"].items(), reverse=True)))

    def find(self, workload: str, kind: str, implementation: str, **parameters: int) -> dict[str, Any] | None:
        for m in self.of(workload, kind):
            if m["implementation"] == implementation and m["parameters"] == parameters:
                return m
        return None

    def baseline_of(self, m: dict[str, Any]) -> dict[str, Any] | None:
        """The measurement that this one is compared with: the baseline's at the same size."""
        parameters = {k: v for k, v in m["parameters"].items() if k not in ("slots", "tick_us")}
        return self.find(m["workload"], m["kind"], BASELINE, **parameters)


def rank(m: dict[str, Any]) -> int:
    """The baseline first, then sandglass, then the rest."""
    name = m["implementation"]
    return -1 if name == BASELINE else ORDER.index(name) if name in ORDER else len(ORDER)


def values(m: dict[str, Any] | None, figure: str) -> list[float]:
    return [v for v in (m or {}).get("figures", {}).get(figure, []) if v is not None]


def median(m: dict[str, Any] | None, figure: str) -> float | None:
    found = values(m, figure)
    return statistics.median(found) if found else None


def ratio(results: Results, m: dict[str, Any], section: Section) -> float | None:
    """How many times as fast as the baseline: the median over the rounds of the ratio in one round."""
    base = results.baseline_of(m)
    if base is None or base is m:
        return None
    pairs = zip(base["figures"].get(section.figure, []), m["figures"].get(section.figure, []))
    ratios = [(t / b if section.more_is_better else b / t) for b, t in pairs if b and t]
    return statistics.median(ratios) if ratios else None


def number(value: float | None) -> str:
    """Three significant digits, without an exponent."""
    if value is None:
        return MISSING
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.4f}"


def times(value: float | None) -> str:
    return MISSING if value is None else f"{value:.1f} ×"


def label(m: dict[str, Any]) -> str:
    named = NAMES.get(m["implementation"], m["implementation"])
    text = named if isinstance(named, str) else named.get(m["kind"], m["implementation"])
    if tick := m["parameters"].get("tick_us"):
        text += ", 1 ms tick" if tick == 1000 else f", {tick} µs tick"
    if m["workload"] == "at_rest" and "slots" in m["parameters"]:
        text += f", {m['parameters']['slots']:,} slots"
    return text


def count_of_rounds(data: dict[str, Any]) -> str:
    return f"{data['rounds']} round{'s' if data['rounds'] != 1 else ''}"


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def header(first: str, columns: list[str]) -> list[str]:
    return [row(first, *columns), "|---|" + "---:|" * len(columns)]


def unique(things: Iterator[Any]) -> list[Any]:
    return sorted(set(things))


def section_table(results: Results, section: Section, kind: str, spread: bool) -> list[str]:
    found = [m for m in results.of(section.workload, kind) if values(m, section.figure)]
    if not found:
        return []
    column = section.column or ""
    sizes = unique(m["parameters"][column] for m in found if column in m["parameters"]) or [None]
    lines = header(KINDS[kind], [f"{column} {size:,}" if size is not None else section.figure for size in sizes])
    for name in dict.fromkeys(m["implementation"] for m in found):
        mine = {m["parameters"].get(column): m for m in found if m["implementation"] == name}
        # One that knows nothing of the parameter stands for itself under each.
        cells = [mine.get(size, mine.get(None)) for size in sizes]
        first = next(m for m in mine.values())
        lines.append(row(label(first), *(cell(results, m, section, spread) for m in cells)))
    return [*lines, ""]


def cell(results: Results, m: dict[str, Any] | None, section: Section, spread: bool) -> str:
    found = values(m, section.figure)
    if m is None or not found:
        return MISSING
    if spread:
        return f"{number(min(found))} … {number(max(found))}"
    faster = ratio(results, m, section)
    return number(median(m, section.figure)) + (f" ({times(faster)})" if faster is not None else "")


def figures_table(results: Results, workload: str, columns: list[tuple[str, str]], spread: bool) -> list[str]:
    lines: list[str] = []
    for kind, title in KINDS.items():
        found = [m for m in results.of(workload, kind) if m["figures"]]
        present = [(key, name) for key, name in columns if any(values(m, key) for m in found)]
        if not found:
            continue
        lines += header(title, [name for _, name in present])
        for m in found:
            lines.append(row(label(m), *(figure_cell(m, key, spread) for key, _ in present)))
        lines.append("")
    return lines


def figure_cell(m: dict[str, Any], key: str, spread: bool) -> str:
    found = values(m, key)
    if spread and found:
        return f"{number(min(found))} … {number(max(found))}"
    return number(median(m, key))


def machine_line(results: Results) -> str:
    m = results.data["machine"]
    parts = [m["cpu"], f"{m['cores']} cores" + (" of a virtual machine" if m["virtual"] else "")]
    if m["memory_gib"]:
        parts.append(f"{m['memory_gib']} GiB")
    parts += [p for p in (m["distribution"], m["kernel"]) if p]
    return ", ".join(parts)


def missing_peers(results: Results) -> list[str]:
    return [name for name, version in results.data["peers"].items() if version is None]


def peers_line(results: Results) -> str:
    there = [f"{name} {version}" for name, version in results.data["peers"].items() if version is not None]
    line = f"Peers: {', '.join(there) or 'none'}."
    if missing := missing_peers(results):
        line += f" Not found on this machine, not measured: {', '.join(missing)}."
    return line


def table(data: dict[str, Any]) -> str:
    results = Results(data)
    out = [
        "# Results", "",
        "Made by `bench/report.py` from `results.json`; what is measured and how: [bench/README.md](../README.md).", "",
        f"{data['date']}, {count_of_rounds(data)}"
        f"{', quick (tiny sizes: says nothing about speed)' if data['quick'] else ''}.",
        f"{machine_line(results)}. {data['compiler']}, `{data['flags']}`. {peers_line(results)}", "",
        "A cell is the median of all rounds; in brackets how many times as fast as the baseline of that kind, the median of the",
        "ratios in each round.", "",
    ]
    out += tables(results, spread=False)
    errors = [f"* `{m['name']}`, {e}" for m in data["measurements"] for e in m["errors"]]
    if errors:
        out += ["## Errors", "", *errors, ""]
    out += ["## Spread", "", "Lowest and highest of all rounds.", "", "<details>", ""]
    out += [line.replace("## ", "### ", 1) if line.startswith("## ") else line for line in tables(results, spread=True)]
    out += ["</details>", ""]
    return "\n".join(out)


def tables(results: Results, spread: bool) -> list[str]:
    out: list[str] = []
    for section in SECTIONS:
        body = [line for kind in section.kinds for line in section_table(results, section, kind, spread)]
        if body:
            out += [f"## {section.title}", "", section.what, "", *body]
    for title, what, workload, columns in FIGURES:
        body = figures_table(results, workload, columns, spread)
        if body:
            out += [f"## {title}", "", what, "", *body]
    sizing = sizing_table(results)
    if sizing and not spread:
        out += ["## Sizing", "", SIZING, "", *sizing, ""]
    return out


# ---- The README's section -------------------------------------------------------------------------------------------

README_COLUMNS: list[tuple[str, str, str, dict[str, int], bool]] = [
    ("schedule, 10⁵ pending", "arm", "caller_ns", {"pending": 100_000}, True),
    ("cancel + schedule, 10⁵", "arm_cancel", "caller_ns", {"pending": 100_000}, True),
    ("the same, 10⁶", "arm_cancel", "caller_ns", {"pending": 1_000_000}, True),
    ("move, 10⁵", "renew", "caller_ns", {"pending": 100_000}, True),
    ("the same, 10⁶", "renew", "caller_ns", {"pending": 1_000_000}, True),
    ("fire, 10⁶ (CPU)", "fire", "cpu_ns", {"pending": 1_000_000}, True),
    ("million pairs/s, 4 threads", "contended", "million_pairs_per_second", {"producers": 4}, True),
    ("late by, p50 / p99 µs", "lateness", "", {}, False),
    ("bytes", "memory", "bytes_per_timer", {}, False),
    ("longest call in a crowd, µs", "crowd", "longest_call_us", {}, False),
]


def readme_cell(results: Results, name: str, column: tuple[str, str, str, dict[str, int], bool]) -> str:
    _, workload, figure, parameters, with_ratio = column
    if workload == "lateness":
        return lateness_cell(results, name)
    m = results.find(workload, "timer", name, **parameters)
    text = number(median(m, figure))
    section = Section("", "", workload, figure, more_is_better=workload == "contended")
    faster = ratio(results, m, section) if m and with_ratio else None
    return text + (f" ({times(faster)})" if faster is not None else "")


def lateness_cell(results: Results, name: str) -> str:
    found = [m for m in results.of("lateness", "timer") if m["implementation"] == name and m["parameters"].get("tick_us", 1000) == 1000]
    if not found or not values(found[0], "p50_us"):
        return MISSING
    early = median(found[0], "early") or 0
    text = f"{number(median(found[0], 'p50_us'))} / {number(median(found[0], 'p99_us'))}"
    return text + (f", {number(early)} early" if early else "")


def readme_section(data: dict[str, Any]) -> str:
    results = Results(data)
    names = unique(m["implementation"] for m in data["measurements"] if m["kind"] == "timer")
    names.sort(key=lambda n: rank({"implementation": n}))
    lines = header("ns a call, unless said", [c[0] for c in README_COLUMNS])
    for name in names:
        lines.append(row(label({"workload": "", "implementation": name, "kind": "timer", "parameters": {}}),
                         *(readme_cell(results, name, column) for column in README_COLUMNS)))
    return "\n".join([
        *lines, "",
        f"Medians of {count_of_rounds(data)}, {data['date']}; in brackets how many times as fast as the baseline in the same round. "
        f"{machine_line(results)}; {data['compiler']}. All figures: [table](bench/results/table.md).",
    ])


# ---- How to choose the number of slots ------------------------------------------------------------------------------

def horizon(seconds: int) -> str:
    for unit, name in ((3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds // unit} {name}"
    return f"{seconds} s"


def sizing_cell(m: dict[str, Any] | None) -> str:
    cpu, fired, memory = (median(m, figure) for figure in ("cpu_percent", "fired_ns", "memory_mib"))
    if cpu is None:
        return MISSING
    return f"{number(cpu)} % · {number(fired)} ns · {number(memory)} MiB"


def sizing_table(results: Results) -> list[str]:
    """Rows: timers and horizons; columns: slots."""
    found = {tuple(m["parameters"][k] for k in ("pending", "horizon_s", "slots")): m for m in results.of("sizing", "timer")}
    slots = unique(key[2] for key in found)
    if not slots:
        return []
    lines = header("timers, due within", [f"{n:,} slots" for n in slots])
    for pending, seconds in unique(key[:2] for key in found):
        lines.append(row(f"{pending:,}, {horizon(seconds)}", *(sizing_cell(found.get((pending, seconds, n))) for n in slots)))
    return lines


def sizing_section(data: dict[str, Any]) -> str:
    return "\n".join(sizing_table(Results(data)))


# ---- Into the README ------------------------------------------------------------------------------------------------

README_SECTIONS = {"bench": readme_section, "sizing": sizing_section}


def with_section(readme: str, name: str, section: str) -> str:
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    if readme.count(begin) != 1 or readme.count(end) != 1:
        raise SystemExit(f"the README must hold each of {begin} and {end} once")
    before, rest = readme.split(begin)
    return f"{before}{begin}\n{section}\n{end}{rest.split(end)[1]}"


def with_sections(readme: str, data: dict[str, Any]) -> str:
    for name, make in README_SECTIONS.items():
        readme = with_section(readme, name, make(data))
    return readme


# ---- Charts ---------------------------------------------------------------------------------------------------------

COLOURS = {
    "sandglass": "#d1495b", "sandglass_pool": "#edae49", "priority_queue": "#30638e", "priority_queue_slab": "#7a9fc2",
    "multimap": "#6a994e", "list_scan": "#a98467", "asio": "#8d6a9f", "libuv": "#3d8f8a", "libevent": "#8f8f8f", "libev": "#555555",
}


def can_draw() -> bool:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def plain(m: dict[str, Any]) -> str:
    return re.sub(r"[*`]", "", label(m))


def new_figure(width: float, height: float, panels: int = 1) -> tuple[Any, list[Any]]:
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcdefaults()
    plt.rcParams.update({"svg.hashsalt": "sandglass", "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif"})
    figure, axes = plt.subplots(1, panels, figsize=(width, height), squeeze=False)
    for axis in axes[0]:
        axis.grid(True, which="major", linewidth=0.4, color="#cccccc")
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, list(axes[0])


def finished(figure: Any) -> str:
    import matplotlib.pyplot as plt

    figure.tight_layout()
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    return re.sub(r"[ \t]+$", "", buffer.getvalue(), flags=re.MULTILINE)


def draw_growth(axis: Any, results: Results, workload: str, kind: str, figure: str) -> None:
    found = [m for m in results.of(workload, kind) if "pending" in m["parameters"] and values(m, figure)]
    for name in dict.fromkeys(m["implementation"] for m in found):
        mine = sorted((m for m in found if m["implementation"] == name), key=lambda m: m["parameters"]["pending"])
        strong = name == "sandglass"
        axis.plot([m["parameters"]["pending"] for m in mine], [median(m, figure) for m in mine], marker="o",
                  markersize=5 if strong else 3, linewidth=2.5 if strong else 1.2, color=COLOURS.get(name), label=plain(mine[0]),
                  zorder=3 if strong else 2)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("timers pending")


def growth_chart(results: Results, workload: str, kind: str, figure: str, title: str, unit: str) -> str:
    chart, (axis,) = new_figure(8, 4.2)
    draw_growth(axis, results, workload, kind, figure)
    axis.set_ylabel(unit)
    axis.set_title(title, loc="left")
    axis.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return finished(chart)


def bare_chart(results: Results) -> str:
    chart, axes = new_figure(11, 3.8, 3)
    for axis, (workload, title) in zip(axes, (("arm", "schedule"), ("arm_cancel", "cancel + schedule"), ("renew", "move"))):
        draw_growth(axis, results, workload, "bare", "caller_ns")
        axis.set_title(title, loc="left")
    axes[0].set_ylabel("ns a call")
    axes[0].legend(fontsize=7, frameon=False)
    return finished(chart)


def bar_chart(bars: list[tuple[str, str, list[float]]], groups: list[str], title: str, unit: str, log: bool) -> str:
    chart, (axis,) = new_figure(8, 0.9 + 0.2 * len(bars) * len(groups))
    thickness = 0.8 / max(len(groups), 1)
    for g, group in enumerate(groups):
        places = [-i + 0.4 - (g + 0.5) * thickness for i in range(len(bars))]
        axis.barh(places, [bar[2][g] for bar in bars], thickness, color=[bar[1] for bar in bars], alpha=1 - 0.3 * g)
        for place, bar in zip(places, bars):
            axis.annotate(f" {number(bar[2][g])}  {group}", (bar[2][g], place), va="center", fontsize=7)
    axis.set_yticks([-i for i in range(len(bars))], [bar[0] for bar in bars])
    axis.set_xlabel(unit)
    axis.margins(x=0.15)
    if log:
        axis.set_xscale("log")
    axis.set_title(title, loc="left")
    return finished(chart)


def bars_of(results: Results, workload: str, columns: list[tuple[dict[str, int] | None, str]]) -> list[tuple[str, str, list[float]]]:
    """One bar group an implementation that has all the figures."""
    bars = []
    seen = set()
    for m in results.of(workload, "timer"):
        rows = [m if p is None else results.find(workload, "timer", m["implementation"], **p) for p, _ in columns]
        key = label(m)
        numbers = [median(r, figure) for r, (_, figure) in zip(rows, columns)]
        if key not in seen and all(n is not None for n in numbers):
            seen.add(key)
            bars.append((plain(m), COLOURS.get(m["implementation"], "#777777"), numbers))
    return bars


def charts(data: dict[str, Any]) -> dict[str, str]:
    results = Results(data)
    made = {
        "arm.svg": growth_chart(results, "arm", "timer", "caller_ns", "Schedule one more", "ns a call"),
        "arm_cancel.svg": growth_chart(results, "arm_cancel", "timer", "caller_ns", "Cancel a random timer and schedule another", "ns a pair"),
        "renew.svg": growth_chart(results, "renew", "timer", "caller_ns", "Move a random timer", "ns a move"),
        "fire.svg": growth_chart(results, "fire", "timer", "cpu_ns", "Schedule and fire, CPU of the whole process", "ns a timer"),
        "bare.svg": bare_chart(results),
    }
    contended = bars_of(results, "contended", [({"producers": n}, "million_pairs_per_second") for n in (1, 2, 4)])
    if contended:
        made["contended.svg"] = bar_chart(contended, ["1 thread", "2 threads", "4 threads"],
                                          "Cancel + schedule from several threads", "million pairs a second", log=False)
    lateness = bars_of(results, "lateness", [(None, "p50_us"), (None, "p99_us"), (None, "p999_us")])
    if lateness:
        made["lateness.svg"] = bar_chart(lateness, ["p50", "p99", "p99.9"], "How late callbacks are called", "µs", log=True)
    return made


def write_table(data: dict[str, Any], path: Path) -> None:
    path.write_text(table(data), encoding="utf-8")


def write_charts(data: dict[str, Any], folder: Path) -> None:
    for name, svg in charts(data).items():
        (folder / name).write_text(svg, encoding="utf-8")


def drawn_by(svg: str) -> str | None:
    """The version of matplotlib that drew a chart."""
    found = re.search(r"Matplotlib v([0-9.]+\d)", svg)
    return found.group(1) if found else None


def stale(data: dict[str, Any], folder: Path, readme: Path) -> list[str]:
    """What is not as the results say."""
    bad = []
    table_path = folder / "table.md"
    if not table_path.exists() or table_path.read_text(encoding="utf-8") != table(data):
        bad.append(str(table_path))
    text = readme.read_text(encoding="utf-8")
    if with_sections(text, data) != text:
        bad.append(f"{readme}, between the comments `... begin` and `... end`")
    if can_draw():
        import matplotlib

        for name, svg in charts(data).items():
            path = folder / name
            there = path.read_text(encoding="utf-8") if path.exists() else ""
            # Another version draws another picture.
            if there != svg and drawn_by(there) in (None, matplotlib.__version__):
                bad.append(str(path))
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", type=Path, default=ROOT / "bench" / "results" / "results.json")
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    data = json.loads(given.results.read_text(encoding="utf-8"))
    if data.get("schema") != 1:
        raise SystemExit(f"{given.results}: schema is {data.get('schema')}; allowed is 1")
    folder = given.results.parent
    if given.check:
        bad = stale(data, folder, given.readme)
        for what in bad:
            print(f"not what {given.results.name} says: {what}; run bench/report.py", file=sys.stderr)
        return 1 if bad else 0
    write_table(data, folder / "table.md")
    if can_draw():
        write_charts(data, folder)
    else:
        print("no charts: matplotlib is not installed", file=sys.stderr)
    given.readme.write_text(with_sections(given.readme.read_text(encoding="utf-8"), data), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
