"""Comparison of two sets of runs: whole runs, functions, call sites and parallel regions (docs/diff.md).

Times are nanoseconds, sizes are bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal

from tare.analysis import regions
from tare.analysis.compare import ALPHA, Comparison, compare, correct
from tare.analysis.efficiency import useful_ns
from tare.analysis.profile import summed
from tare.analysis.ranks import are_mpi_shares_known, of_ranks
from tare.analysis.rows import AtPlace
from tare.functions import OUTSIDE_NET, contains_program, meaning
from tare.runs import missing

if TYPE_CHECKING:
    from tare._native import Process
    from tare._tables import ProfileRow
    from tare.analysis.regions import Region
    from tare.runs.run import Run

# What a gate can check. For each of them, less is better.
METRICS = ("wall", "net", "mpi", "computing", "idle", "descheduled", "blocked", "calls", "bytes")
COUNTED = ("calls", "bytes")  # of them, those that are no times


@dataclass(frozen=True)
class Line:
    """A function or call site on both sides; if it is absent on one side, its values are 0 there."""

    function: str
    place: AtPlace | None  # of a call site; None: the line is for the function
    time_ns: Comparison  # time of the calls, in ns
    calls: Comparison  # number of calls
    bytes: Comparison  # bytes that the calls moved

    @property
    def change_ns(self) -> float:
        """Mean of the new runs minus that of the base; negative: faster."""
        return self.time_ns.new_mean - self.time_ns.base_mean

    @property
    def is_timed(self) -> bool:
        """False of look-ups, whose calls are only counted."""
        return bool(self.time_ns.base_mean or self.time_ns.new_mean)


@dataclass(frozen=True)
class RegionLine:
    """A parallel region of OpenMP on both sides; if it is absent on one side, its values are 0 there.

    Its values are sums over all ranks.
    """

    place: AtPlace
    idle_ns: Comparison  # threads of its teams waited for others, or had not come
    time_ns: Comparison  # from begin to end
    calls: Comparison  # how often it was encountered


@dataclass(frozen=True)
class Difference:
    """The difference of base runs and new runs. Lines with the largest change of time come first."""

    figures: dict[str, Comparison]  # by metric
    functions: list[Line]  # one for each function
    sites: list[Line]  # one for each function at each call site
    # None, unless all runs know all of theirs; the largest change of idle time first.
    regions: list[RegionLine]
    # The metrics that are no times and no estimates; none if runs lack ranks: then sums are not compared.
    exact: tuple[str, ...]

    @property
    def noise_known(self) -> bool:
        """Whether at least one side has more than one run."""
        return any(comparison.p is not None for comparison in self.figures.values())


@dataclass(frozen=True)
class Gate:
    """Whether a metric has grown by more than the threshold, and by more than the noise."""

    metric: str
    threshold: float  # 0.05: 5 %
    growth: float  # infinite if the base is 0
    p: float | None  # uncorrected, because the metric is chosen in advance; None: the noise is unknown
    exact: bool  # the metric is counted, so that it does not vary by itself

    @property
    def exceeded(self) -> bool:
        """True also if the noise is not known and the growth is above the threshold."""
        return self.growth > self.threshold and (self.p is None or self.p < ALPHA)


def gate(found: Difference, metric: str, threshold: float) -> Gate:
    """`metric` is a key of `found.figures`; `threshold` a share."""
    comparison = found.figures[metric]
    base, new = comparison.base_mean, comparison.new_mean
    growth = new / base - 1 if base else math.inf if new else 0.0
    return Gate(metric, threshold, growth, comparison.p, metric in found.exact)


def difference(base: Sequence[Run], new: Sequence[Run]) -> Difference:
    """Welch's t-test of every figure, with Holm's correction for figures, functions and call sites each."""
    is_whole = not any(map(missing.incomplete, (*base, *new)))
    estimates = any(run.has_counted_time for run in (*base, *new))
    exact = () if not is_whole else ("calls",) if estimates else COUNTED
    known = [[_known_regions(run) for run in side] for side in (base, new)]
    sides = [
        [_figures(run, found) for run, found in zip(side, of_side, strict=True)]
        for side, of_side in zip((base, new), known, strict=True)
    ]
    figures = {
        metric: compare(*([run[metric] for run in side] for side in sides), exact=metric in exact)
        for metric in METRICS
        if all(metric in run for side in sides for run in side) and (is_whole or metric not in COUNTED)
    }
    if not is_whole:
        correct(list(figures.values()))
        return Difference(figures, [], [], [], exact)
    functions = _lines(
        *([_by_function(run) for run in side] for side in (base, new)), exact=exact, by_site=False
    )
    sites = _lines(
        *_by_site(*([_of_whole_run(run, "site") for run in side] for side in (base, new))),
        exact=exact,
        by_site=True,
    )
    of_regions = _regions(known)
    correct(list(figures.values()))
    for lines in (functions, sites):
        correct([comparison for line in lines for comparison in (line.time_ns, line.calls, line.bytes)])
    correct([each for line in of_regions for each in (line.idle_ns, line.time_ns, line.calls)])
    return Difference(figures, functions, sites, of_regions, exact)


def _figures(run: Run, known_regions: Sequence[Region] | None) -> dict[str, float]:
    """The metrics of a run that are known; times in nanoseconds."""
    processes = of_ranks(run.processes)
    found: dict[str, float] = {
        "net": max((process.net_ns for process in processes), default=0),
        "calls": sum(row.calls for row in summed(run, ["function"])),
    }
    everything = _of_whole_run(run, "function")
    if are_mpi_shares_known(processes):
        found["mpi"] = _mean(processes, lambda process: process.net_ns - useful_ns(process))
        found["computing"] = _mean(processes, useful_ns)
    if all(each.is_known for each in everything):
        found["bytes"] = sum(each.bytes for each in everything)
    if known_regions is not None and processes:
        found["idle"] = sum(region.idle_ns for region in known_regions) / len(processes)
    if any(process.scheduling.observed_ns for process in processes):
        found["descheduled"] = _mean(processes, lambda process: process.scheduling.descheduled_ns)
        if not run.has_counted_time:  # else it is not known what was outside of calls
            found["blocked"] = _mean(processes, lambda process: process.scheduling.blocked_outside_ns)
    if run.meta.wall_ns is not None:
        found["wall"] = run.meta.wall_ns
    return found


def _mean(processes: Sequence[Process], figure: Callable[[Process], int]) -> float:
    return sum(map(figure, processes)) / len(processes) if processes else 0.0


@dataclass
class _Sums:
    """The calls of a line in one run, the whole of it."""

    row: ProfileRow  # the last one of them
    time_ns: int = 0
    calls: int = 0
    bytes: int = 0
    is_known: bool = True  # else some were only counted, and there is no estimate


Values = Mapping[Hashable, _Sums]


def _of_whole_run(run: Run, by: Literal["function", "site"]) -> list[_Sums]:
    """Calls by function or call site: estimates, where some were only counted for some of the time."""
    counted = {
        row.function
        for row in summed(run, ["function"])
        if run.has_counted_time and 0 < row.counted < row.calls
    }
    found = []
    for row in summed(run, [by]):
        if row.function not in counted:
            found.append(_Sums(row, row.time_ns, row.calls, row.bytes))
        elif row.whole_time_ns is not None and row.whole_time_error_ns is not None:
            found.append(_Sums(row, row.whole_time_ns, row.whole_calls or 0, row.whole_bytes or 0))
        elif row.whole_calls != 0:  # else it is of the calls whose call site is not known
            found.append(_Sums(row, is_known=False))
    return found


def _by_function(run: Run) -> Values:
    return _added((each.row.function, each) for each in _of_whole_run(run, "function"))


def _by_site(
    base: Sequence[Sequence[_Sums]], new: Sequence[Sequence[_Sums]]
) -> tuple[list[Values], list[Values]]:
    """Sums by call site, with equal keys where those of both sides correspond."""
    keys = _keys(*([[(each.row.function, each.row) for each in run] for run in side] for side in (base, new)))
    of_base, of_new = (
        [_added(zip(of, run, strict=True)) for of, run in zip(of_side, side, strict=True)]
        for of_side, side in zip(keys, (base, new), strict=True)
    )
    return of_base, of_new


Called = tuple[str, AtPlace]  # a function, and where it is called


def _keys(
    base: Sequence[Sequence[Called]], new: Sequence[Sequence[Called]]
) -> tuple[list[list[Hashable]], list[list[Hashable]]]:
    """Function, caller, file, and the position among the lines there: equal for what corresponds."""
    places = (_lines_of(base), _lines_of(new))

    def key(of: Called, side: int) -> Hashable:
        place = _place(of)
        own, others = places[side][place], places[1 - side].get(place, [])
        return place, _which(_line(of[1]), own, others)

    return [[key(of, 0) for of in run] for run in base], [[key(of, 1) for of in run] for run in new]


def _which(line: int, own: list[int], others: list[int]) -> Hashable:
    """Identifies a call although lines move between versions.

    If both sides have the same number of calls, they correspond in order. Otherwise calls on the same line
    correspond, and the others correspond in order.
    """
    if len(own) == len(others):
        return own.index(line)
    if line in others:
        return "line", line
    return [each for each in own if each not in others].index(line), "moved"


def _lines_of(runs: Sequence[Sequence[Called]]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, set[int]] = {}
    for run in runs:
        for of in run:
            found.setdefault(_place(of), set()).add(_line(of[1]))
    return {place: sorted(lines) for place, lines in found.items()}


def _line(at: AtPlace) -> int:
    return int(at.line or at.offset or 0)


def _place(of: Called) -> Hashable:
    function, at = of
    return function, at.caller, PurePath(at.file or at.object or "").name


def _added(keyed: Iterable[tuple[Hashable, _Sums]]) -> Values:
    """Sums of those with equal keys: different worlds, or copies of a line."""
    found: dict[Hashable, _Sums] = {}
    for key, each in keyed:
        sums = found.setdefault(key, _Sums(each.row))
        sums.row = each.row
        sums.time_ns += each.time_ns
        sums.calls += each.calls
        sums.bytes += each.bytes
        sums.is_known &= each.is_known
    return found


def _has_time_of_its_own(function: str) -> bool:
    """Whether it neither bounds the net time nor contains the program."""
    is_of_mpi = meaning(function).source == "MPI"
    return function not in OUTSIDE_NET if is_of_mpi else not contains_program(function)


def _lines(
    base: Sequence[Values], new: Sequence[Values], *, exact: Sequence[str], by_site: bool
) -> list[Line]:
    rows: dict[Hashable, ProfileRow] = {}
    unknown = set()
    for values in (*base, *new):
        for key, sums in values.items():
            if _has_time_of_its_own(sums.row.function):
                rows[key] = sums.row  # the last one, of the new runs, provides the line
            if not sums.is_known:
                unknown.add(sums.row.function)
    lines = []
    for key, row in rows.items():
        if row.function in unknown:
            continue
        time_ns, calls, size = (
            compare(
                *(
                    [getattr(values[key], name) if key in values else 0 for values in side]
                    for side in (base, new)
                ),
                exact=name in exact,
            )
            for name in ("time_ns", "calls", "bytes")
        )
        # Look-ups have no time. They matter only if their number changed.
        line = Line(row.function, row if by_site else None, time_ns, calls, size)
        if line.is_timed or {*calls.base} != {*calls.new}:
            lines.append(line)
    return sorted(lines, key=lambda line: abs(line.change_ns), reverse=True)


def _known_regions(run: Run) -> list[Region] | None:
    """The parallel regions of a run; None if it is not known of all of them how long threads were idle."""
    if "openmp" not in run.meta.options.sources or run.has_counted_time:
        return None
    rows = run.rows(run.regions)
    found = regions.summed(rows)
    return None if regions.limits(found, rows) else found


def _regions(known: Sequence[Sequence[list[Region] | None]]) -> list[RegionLine]:
    """Those of the runs of both sides; none if a run does not know all of its own."""
    if any(found is None for side in known for found in side):
        return []
    base, new = ([[("", region) for region in found or ()] for found in side] for side in known)
    places: dict[Hashable, Region] = {}
    sums: list[list[dict[Hashable, list[Region]]]] = []
    for of_side, side in zip(_keys(base, new), known, strict=True):
        sums.append([])
        for keys, found in zip(of_side, side, strict=True):
            of_run: dict[Hashable, list[Region]] = {}
            for key, region in zip(keys, found or (), strict=True):
                places[key] = region  # the last one, of the new runs, provides the line
                of_run.setdefault(key, []).append(region)
            sums[-1].append(of_run)
    lines = []
    for key, place in places.items():
        idle_ns, time_ns, calls = (
            compare(
                *([sum(getattr(each, name) for each in run.get(key, ())) for run in side] for side in sums),
                exact=name == "calls",
            )
            for name in ("idle_ns", "time_ns", "calls")
        )
        lines.append(RegionLine(place, idle_ns, time_ns, calls))
    return sorted(lines, key=lambda line: -abs(line.idle_ns.new_mean - line.idle_ns.base_mean))
