"""Measures the grid of docs/sweet-spots.md, and writes its numbers into that page. Nothing else may run then.

With --brief it takes a corner of the grid, to try the command, and leaves the page as it is.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools import ROOT, TARE, BenchError

PAGE = ROOT / "docs" / "sweet-spots.md"
RANKS = (8, 16, 64)
FAN_OUTS = (2, 4, 8, 16, 64)
EVENTS = (16, 32, 64, 128, 256, 512, 1024)
OVERHEAD_RANKS = 64
# The paper's tree of section III, which took no offloads each 24 ms.
NAIVE = {"ranks": 64, "fan_out": 8, "events": 64}
NS_PER_MS = 1e6
NS_PER_US = 1e3
ROUNDED_FROM_MS = 0.1  # less is told with three digits behind the point

Tree = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench/grid.py", description=__doc__)
    parser.add_argument("--brief", action="store_true", help="a corner of the grid, to try the command")
    parser.add_argument("--figures", type=Path, default=ROOT / "build" / "grid", metavar="DIR")
    options = parser.parse_args()
    begin = time.monotonic()
    try:
        trees = measured(options.figures, brief=options.brief)
        text = with_numbers(PAGE.read_text("utf-8"), trees)
    except BenchError as error:
        print(f"grid: {error}", file=sys.stderr)
        return 1
    page = options.figures / PAGE.name if options.brief else PAGE
    page.write_text(text, "utf-8")
    print(f"{page}: {len(trees)} numbers, in {round(time.monotonic() - begin)} s")
    return 0


def measured(figures: Path, *, brief: bool) -> list[Tree]:
    def joined(numbers: tuple[int, ...]) -> str:
        return ",".join(map(str, numbers))

    command = [
        TARE, "sweetspot", "--ranks", f"8,{OVERHEAD_RANKS}" if brief else joined(RANKS),
        "--fan-out", "8,64" if brief else joined(FAN_OUTS), "--events", "16,64" if brief else joined(EVENTS),
        "--filter", "statistics", "--brief", "--fresh", "--json", "--figures", figures,
    ]  # fmt: skip
    print(" ".join(map(str, command)), flush=True)
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"tare sweetspot ended with {done.returncode}")
    found: list[Tree] = json.loads(done.stdout)["trees"]
    return found


def with_numbers(page: str, trees: list[Tree]) -> str:
    """The page with what stands between its marks `<!-- grid: NAME -->` and `<!-- end -->` made anew."""
    parts: dict[str, Callable[[list[Tree]], str]] = {
        "accuracy": accuracy, "boi": boi_table, "naive": naive, "overhead": overhead_table, "direct": direct,
    }  # fmt: skip
    for name, made in parts.items():
        places = re.findall(rf"<!-- grid: {name} -->\n\n(.*?)\n\n<!-- end -->", page, re.DOTALL)
        if len(places) != 1:
            raise BenchError(f"the page has {len(places)} places for {name}")
        page = page.replace(places[0], made(trees))
    return page


def accuracy(trees: list[Tree]) -> str:
    spreads = [
        100 * (max(tree["boi_trials_ns"]) - min(tree["boi_trials_ns"])) / tree["boi_ns"] for tree in trees
    ]
    trials = sum(len(tree["boi_trials_ns"]) for tree in trees)
    confirmed = sum(tree["boi_trials_confirmed"] for tree in trees)
    off = [min(each["percent"] for each in tree["arrivals_below_boi"]) for tree in trees]
    shift = statistics.median(off)
    return (
        f"Three searches for one number differ by {statistics.median(spreads):.0f} % (median). "
        f"{confirmed} of the {trials} were confirmed within 5 %.\n"
        f"Rounds that were sent more often than at the BOI arrived at intervals {abs(shift):.0f} % "
        f"{'shorter' if shift < 0 else 'longer'} than it\n"
        "(the least of three as in the paper's Figure 7, median over trees and sizes)."
    )


def rows(trees: list[Tree], keys: tuple[str, ...], value: Callable[[Tree], str]) -> str:
    """A line for each tree, a column for each size."""
    sizes = sorted({tree["events"] for tree in trees})
    at = {(*(tree[key] for key in keys), tree["events"]): value(tree) for tree in trees}
    heads = [*(key.replace("_", "-") for key in keys), *(f"{size:,}" for size in sizes)]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for place in sorted({key[:-1] for key in at}):
        cells = [*map(str, place), *(at[*place, size] for size in sizes)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def in_ms(ns: float) -> str:
    ms = ns / NS_PER_MS
    return f"{ms:.3f}" if ms < ROUNDED_FROM_MS else f"{ms:.2f}"


def boi_table(trees: list[Tree]) -> str:
    return rows(trees, ("ranks", "fan_out"), lambda tree: in_ms(tree["boi_ns"]))


def naive(trees: list[Tree]) -> str:
    (tree,) = [tree for tree in trees if all(tree[key] == value for key, value in NAIVE.items())]
    return (
        "With 64 ranks, 64 events and fan-out 8, the paper's tree took offloads every 100 ms, and not every\n"
        f"24 ms (its section III). tare's takes one every {in_ms(tree['boi_ns'])} ms here."
    )


def overhead_table(trees: list[Tree]) -> str:
    of = [tree for tree in trees if tree["ranks"] == OVERHEAD_RANKS]
    return rows(of, ("fan_out",), lambda tree: f"{tree['limiting_overhead_percent']:.0f}")


def direct(trees: list[Tree]) -> str:
    costs = [tree["direct_offload_ns"] / NS_PER_US for tree in trees]
    return f"An offload itself takes {min(costs):.2g} to {max(costs):.2g} µs here."


if __name__ == "__main__":
    sys.exit(main())
