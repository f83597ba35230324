"""Numbers beside their limits, as text and as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any

from interleave import Rounds
from tare.analysis.intervals import Interval, median_interval

from tools import BARE, Outcome, Tool


@dataclass(frozen=True)
class Row:
    """One line of a table: a median, what it is over bare, and what that may be at most."""

    label: str
    median: float | None = None  # of the runs
    over: Interval | None = None  # of the rounds' differences from bare
    limit: float | None = None  # of `over`
    peers: str = ""
    invisible: bool = False  # met if it cannot be told from nothing, whatever the median is

    @property
    def verdict(self) -> str:
        if self.limit is None or self.over is None:
            return ""
        if self.invisible and self.over.low <= self.limit:
            return "met"
        word = "met" if self.over.median <= self.limit else "not met"
        certain = self.over.high <= self.limit or self.over.low > self.limit
        return word if certain else f"{word} (uncertain)"


@dataclass(frozen=True)
class Table:
    """Rows of one measurement; `unit` is of the medians, `over_unit` of what is over bare."""

    title: str
    unit: str
    over_unit: str
    rows: list[Row]
    rounds: int
    digits: int = 1
    over: str = "over bare"
    notes: list[str] = field(default_factory=list)
    samples: dict[str, list[float]] = field(default_factory=dict)
    last_column: str = "peers, on another machine"


def difference(samples: Sequence[float], bare: Sequence[float], scale: float = 1.0) -> Interval:
    """The median of the rounds' differences."""
    return median_interval(
        [scale * (with_tool - without) for with_tool, without in zip(samples, bare, strict=True)]
    )


def percent(samples: Sequence[float], bare: Sequence[float]) -> Interval:
    """The median of the rounds' ratios, as percent more."""
    return median_interval(
        [100 * (with_tool / without - 1) for with_tool, without in zip(samples, bare, strict=True)]
    )


def over_bare(
    title: str,
    measured: Rounds,
    of: Callable[[Outcome], float],
    unit: str,
    over_unit: str,
    limits: Mapping[Tool, float] = MappingProxyType({}),
    quoted: Mapping[Tool, str] = MappingProxyType({}),
    *,
    over: Tool = BARE,
    digits: int = 1,
    invisible: bool = False,
) -> Table:
    """A row for each tool: the median of what `of` takes from its runs, and how it compares with `over`.

    `over_unit`: "%" for ratios, else that of differences. `invisible`: a limit is met if the interval does
    not lie above it.
    """
    compare = percent if over_unit == "%" else difference
    samples = {tool: measured.samples(tool, of) for tool in measured.tools}
    rows = [
        Row(
            tool.label,
            median(samples[tool]),
            None if tool is over else compare(samples[tool], samples[over]),
            limits.get(tool),
            quoted.get(tool, ""),
            invisible,
        )
        for tool in measured.tools
    ]
    by_label = {tool.label: values for tool, values in samples.items()}
    return Table(title, unit, over_unit, rows, measured.count, digits, samples=by_label)


def show(table: Table) -> None:
    """Prints a table at once, so that a long measurement can be watched."""
    width = max(26, *(len(row.label) for row in table.rows))
    print(f"\n{table.title}")
    print(f"  {_head(table, width)}".rstrip())
    for row in table.rows:
        print(f"  {_line(row, width, table.digits)}".rstrip())
    for note in table.notes:
        print(f"  {note}")
    sys.stdout.flush()


def _head(table: Table, width: int) -> str:
    """Columns that no row has go without a heading."""
    compared = [row.over for row in table.rows if row.over]
    over = f"{table.over}, {table.over_unit}" if compared else ""
    interval = f"{100 * min(over.coverage for over in compared):.0f} % interval" if compared else ""
    limited = any(row.limit is not None for row in table.rows)
    limit, verdict = ("limit", "verdict") if limited else ("", "")
    last = table.last_column if any(row.peers for row in table.rows) else ""
    rounds = f"{table.rounds} rounds"
    return _columns(width, rounds, table.unit, over, interval, limit, verdict, last)


def _line(row: Row, width: int, digits: int) -> str:
    median = "" if row.median is None else f"{row.median:.{digits}f}"
    over = "" if row.over is None else f"{row.over.median:+.{digits}f}"
    interval = "" if row.over is None else f"{row.over.low:+.{digits}f} .. {row.over.high:+.{digits}f}"
    limit = "" if row.limit is None else f"{row.limit:g}"
    return _columns(width, row.label, median, over, interval, limit, row.verdict, row.peers)


def _columns(width: int, label: str, median: str, over: str, interval: str, *rest: str) -> str:
    limit, verdict, last = rest
    return f"{label:<{width}} {median:>11} {over:>20}  {interval:<20} {limit:>5}  {verdict:<20} {last}"


def as_json(tables: Sequence[Table]) -> dict[str, Any]:
    return {"schema": "tare.bench/1", "tables": [_table_json(table) for table in tables]}


def _table_json(table: Table) -> dict[str, Any]:
    rows = [
        {
            "label": row.label,
            "median": row.median,
            "over": None if row.over is None else vars(row.over),
            "limit": row.limit,
            "verdict": row.verdict or None,
            "peers": row.peers or None,
        }
        for row in table.rows
    ]
    return {
        "title": table.title,
        "unit": table.unit,
        "over_unit": table.over_unit,
        "rounds": table.rounds,
        "rows": rows,
        "notes": table.notes,
        "samples": table.samples,
    }


def write_json(tables: Sequence[Table], path: Path) -> None:
    path.write_text(json.dumps(as_json(tables), indent=1) + "\n")


def _miss(table: Table, row: Row) -> str:
    assert row.over is not None
    over = f"{row.over.median:+.{table.digits}f} {table.over_unit}"
    return f"{table.title}: {row.label}, {over}, limit {row.limit:g}"


def misses(tables: Sequence[Table]) -> list[str]:
    """The numbers that are over their limits."""
    return [_miss(table, row) for table in tables for row in table.rows if row.verdict.startswith("not met")]
