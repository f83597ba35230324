"""Sets of runs side by side: as wholes, and time, calls and bytes by function and by call site."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol

from tare.analysis.compare import ALPHA, Comparison, compare, correct
from tare.analysis.efficiency import useful_ns
from tare.analysis.profile import Recorded, Row, summed
from tare.functions import OUTSIDE_NET

if TYPE_CHECKING:
    from tare._native import Process
    from tare.runs.metadata import Metadata

NAMES = ("function", "file", "line", "caller", "object")
# What a gate can watch; all of them are the worse, the larger they are.
METRICS = ("wall", "net", "mpi", "computing", "calls", "bytes")


class MeasuredRun(Recorded, Protocol):
    """A run with its meta.json (recording.Run)."""

    @property
    def meta(self) -> Metadata: ...


@dataclass
class Line:
    """A function or call site on both sides; absent ones count 0."""

    names: dict[str, Any]
    time_ns: Comparison
    calls: Comparison
    bytes: Comparison

    @property
    def change_ns(self) -> float:
        return self.time_ns.new_mean - self.time_ns.base_mean


@dataclass
class Difference:
    figures: dict[str, Comparison]
    functions: list[Line]
    sites: list[Line]

    @property
    def noise_known(self) -> bool:
        """Whether one side at least has more than one run."""
        return any(comparison.p is not None for comparison in self.figures.values())


@dataclass(frozen=True)
class Gate:
    """Whether a metric has grown too much: by more than the threshold, and by more than the noise."""

    metric: str
    threshold: float
    growth: float
    p: float | None  # uncorrected: one metric, chosen beforehand; None if the noise is not known

    @property
    def exceeded(self) -> bool:
        return self.growth > self.threshold and (self.p is None or self.p < ALPHA)


def gate(found: Difference, metric: str, threshold: float) -> Gate:
    comparison = found.figures[metric]
    base, new = comparison.base_mean, comparison.new_mean
    growth = new / base - 1 if base else math.inf if new else 0.0
    return Gate(metric, threshold, growth, comparison.p)


def difference(base: Sequence[MeasuredRun], new: Sequence[MeasuredRun]) -> Difference:
    """Lines with the largest change of time first."""
    sides = ([_figures(run) for run in base], [_figures(run) for run in new])
    figures = {
        metric: compare(*([run[metric] for run in side] for side in sides))
        for metric in METRICS
        if all(metric in run for side in sides for run in side)
    }
    functions = _lines(*([_by_function(run) for run in side] for side in (base, new)))
    sites = _lines(*_by_site(*([summed(run, ["site"]) for run in side] for side in (base, new))))
    correct(list(figures.values()))
    for lines in (functions, sites):
        correct([comparison for line in lines for comparison in (line.time_ns, line.calls, line.bytes)])
    return Difference(figures, functions, sites)


def _figures(run: MeasuredRun) -> dict[str, float]:
    """The metrics of a run; times in nanoseconds."""
    processes = run.processes
    (everything,) = run.profile_sums([{}])
    found: dict[str, float] = {
        "net": max((process["net_ns"] for process in processes), default=0),
        "mpi": _mean(processes, lambda process: process["mpi_ns"]),
        "computing": _mean(processes, useful_ns),
        "calls": sum(row["calls"] for row in everything),
        "bytes": sum(row["bytes"] for row in everything),
    }
    if run.meta.wall_ns is not None:
        found["wall"] = run.meta.wall_ns
    return found


def _mean(processes: Sequence[Process], figure: Callable[[Process], int]) -> float:
    return sum(map(figure, processes)) / len(processes) if processes else 0.0


Values = Mapping[Hashable, Row]


def _by_function(run: MeasuredRun) -> Values:
    return _added((row["function"], row) for row in summed(run, ["function"]))


def _by_site(
    base: Sequence[Sequence[Row]], new: Sequence[Sequence[Row]]
) -> tuple[list[Values], list[Values]]:
    """By function, caller and file, and which of the calls there it is."""
    places = (_lines_of(base), _lines_of(new))

    def values(rows: Sequence[Row], side: int) -> Values:
        keyed = []
        for row in rows:
            place = _place(row)
            own, others = places[side][place], places[1 - side].get(place, [])
            keyed.append(((place, _which(_line(row), own, others)), row))
        return _added(keyed)

    return [values(rows, 0) for rows in base], [values(rows, 1) for rows in new]


def _which(line: int, own: list[int], others: list[int]) -> Hashable:
    """Lines move between versions: as many calls are the same calls in order; else what has not moved is the
    same, and of the rest the first is the first."""
    if len(own) == len(others):
        return own.index(line)
    if line in others:
        return "line", line
    return [each for each in own if each not in others].index(line), "moved"


def _lines_of(runs: Sequence[Sequence[Row]]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, set[int]] = {}
    for rows in runs:
        for row in rows:
            found.setdefault(_place(row), set()).add(_line(row))
    return {place: sorted(lines) for place, lines in found.items()}


def _line(row: Row) -> int:
    return int(row["line"] or row["offset"] or 0)


def _place(row: Row) -> Hashable:
    return row["function"], row["caller"], PurePath(row["file"] or row["object"] or "").name


def _added(rows: Iterable[tuple[Hashable, Row]]) -> Values:
    """Rows of different worlds, or copies of a line, are one."""
    found: dict[Hashable, Row] = {}
    for key, row in rows:
        if key in found:
            found[key] = {
                **row,
                **{name: found[key][name] + row[name] for name in ("time_ns", "calls", "bytes")},
            }
        else:
            found[key] = row
    return found


def _lines(base: Sequence[Values], new: Sequence[Values]) -> list[Line]:
    rows: dict[Hashable, Row] = {}
    for values in (*base, *new):
        for key, row in values.items():
            if row["function"] not in OUTSIDE_NET:
                rows[key] = row  # the newest one names its line
    lines = []
    for key, row in rows.items():
        time_ns, calls, size = (
            compare(*([values[key][name] if key in values else 0 for values in side] for side in (base, new)))
            for name in ("time_ns", "calls", "bytes")
        )
        names: Row = {name: row[name] for name in NAMES if name in row}
        if time_ns.base_mean or time_ns.new_mean or calls.base != calls.new:  # not look-ups as ever
            lines.append(Line(names, time_ns, calls, size))
    return sorted(lines, key=lambda line: abs(line.change_ns), reverse=True)
