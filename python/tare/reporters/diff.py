"""Differences between runs, for people."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from tare import units
from tare.analysis.comparable import ranks_of
from tare.analysis.ranks import use_mpi
from tare.analysis.rows import UNKNOWN, AtPlace, Placed
from tare.reporters import terminal
from tare.reporters.code_times import signed
from tare.reporters.sheet import Column, Sheet
from tare.streams import visible
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare.analysis.code_diff import CodeChange
    from tare.analysis.comparable import Differing
    from tare.analysis.compare import Comparison
    from tare.analysis.diff import Gate, Line, RegionLine
    from tare.runs.run import Run

TITLES = {
    "wall": "wall time",
    "net": "net time",
    "mpi": "MPI time (mean)",
    "computing": "computing (mean)",
    "idle": "idle in OpenMP (mean)",
    "descheduled": "descheduled (mean)",
    "blocked": "blocked (mean)",
    "calls": "calls",
    "bytes": "bytes",
}
LISTED = 8
ESTIMATED = (
    "Bytes and times in calls are estimates for the whole run, where some were only counted (docs/budget.md)."
)
INCOMPLETE = (
    "Sums over all ranks (calls, bytes, times in calls) are not compared: results of some are missing."
)
REGION_NOTE = "Parallel regions: time in which threads of their teams are idle, summed over all ranks."
CODE_NOTE = (
    "Functions of the program: processor time by samples of stacks. ±: half of the 95 % interval of the "
    "difference, of the sampling alone. Real: no if the difference may be chance of the samples"
)
NO_CODE = "The program's functions are compared if all runs have samples of stacks (--with stacks)."
SMALL_P = 0.001
VERDICTS = {True: "yes", False: "no", None: "?"}


def figures(found: dict[str, Comparison], exact: Collection[str]) -> Sheet:
    """One row a metric; `exact`: those that do not vary by themselves (Difference.exact)."""
    columns = (
        Column("Whole run", text=True, cell=lambda row: TITLES[row[0]]),
        Column("Base", cell=lambda row: _amount(row[0])(row[1].base_mean)),
        Column("New", cell=lambda row: _amount(row[0])(row[1].new_mean)),
        Column("Change", cell=lambda row: change(row[1])),
        Column("Real", cell=lambda row: VERDICTS[_real(row[1], exact=row[0] in exact)]),
        Column("95 % interval", optional=True, cell=lambda row: _interval(row[1])),
        Column("p", optional=True, cell=lambda row: _probability(row[1])),
    )
    return Sheet.of(columns, found.items())


def lines(found: Sequence[Line], *, by_site: bool) -> Sheet:
    """One row a function or call site: its time, and how calls and bytes changed."""
    place = (
        Column("Caller", text=True, optional=True, cell=lambda line: _caller(line.place)),
        Column("Where", text=True, cell=lambda line: _where(line.place)),
    )
    columns = (
        Column("Function", text=True, cell=lambda line: line.function),
        *(place if by_site else ()),
        Column("Base", cell=_of_time(lambda time_ns: units.duration(time_ns.base_mean))),
        Column("New", cell=_of_time(lambda time_ns: units.duration(time_ns.new_mean))),
        Column("Change", cell=_of_time(change)),
        Column("Real", cell=_of_time(lambda time_ns: VERDICTS[_real(time_ns, exact=False)])),
        Column("Calls", optional=True, cell=lambda line: change(line.calls)),
        Column("Bytes", optional=True, cell=lambda line: change(line.bytes)),
    )
    return Sheet.of(columns, found)


def _of_time(shown: Callable[[Comparison], str]) -> Callable[[Line], str]:
    """What a cell has of the times of a line; nothing of look-ups, whose number alone is known."""
    return lambda line: shown(line.time_ns) if line.is_timed else NOTHING


def regions(found: Sequence[RegionLine]) -> Sheet:
    """One row a parallel region of OpenMP: how long its threads are idle."""
    columns = (
        Column("Parallel region", text=True, cell=lambda line: _where(line.place)),
        Column("In", text=True, optional=True, cell=lambda line: _caller(line.place)),
        Column("Idle base", cell=lambda line: units.duration(line.idle_ns.base_mean)),
        Column("Idle new", cell=lambda line: units.duration(line.idle_ns.new_mean)),
        Column("Change", cell=lambda line: change(line.idle_ns)),
        Column("Real", cell=lambda line: VERDICTS[_real(line.idle_ns, exact=False)]),
        Column("Time", cell=lambda line: change(line.time_ns)),
        Column("Calls", optional=True, cell=lambda line: change(line.calls)),
    )
    return Sheet.of(columns, found)


def code(found: Sequence[CodeChange]) -> Sheet:
    """One row a function of the program: its processor time, by samples of stacks."""
    columns = (
        Column("Function of the program", text=True, cell=lambda line: visible(line.function)),
        Column("In", text=True, optional=True, cell=lambda line: visible(line.file) or NOTHING),
        Column("Base", cell=lambda line: units.duration(_mean(line.time_ns.base))),
        Column("New", cell=lambda line: units.duration(_mean(line.time_ns.new))),
        Column("More", cell=lambda line: signed(line.more_ns)),
        Column("±", cell=lambda line: units.duration(line.error_ns) if line.error_ns else NOTHING),
        Column("Real", cell=lambda line: VERDICTS[line.differs]),
    )
    return Sheet.of(columns, found)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _where(of: AtPlace | None) -> str:
    return terminal.place(_without_address(of))


def _caller(of: AtPlace | None) -> str:
    return terminal.caller(_without_address(of))


def _without_address(of: AtPlace | None) -> Placed:
    """The place without its address, which differs between versions."""
    of = of or UNKNOWN
    return Placed(file=of.file, line=of.line, caller=of.caller, object=of.object)


def change(comparison: Comparison) -> str:
    """The change of the means, in percent; "=" if nothing changed, "new" and "gone" where one side is 0."""
    base, new = comparison.base_mean, comparison.new_mean
    if math.isclose(base, new):
        return "="
    if base == 0 or new == 0:
        return "new" if base == 0 else "gone"
    percent = 100 * (new / base - 1)
    return f"{percent:+,.1f} %" if abs(percent) < 1000 else f"x {new / base:,.0f}"


def title(base: Sequence[Run], new: Sequence[Run]) -> str:
    """What is compared with what: "3 runs of old on 4 ranks, compared with 3 runs of new on 4 ranks"."""
    return f"{_described(base)}, compared with {_described(new)}"


def differing(found: Sequence[Differing]) -> Iterator[str]:
    """What the runs differ in beside their times: then these are not of the same work."""
    for each in found:
        base, new = (" and ".join(side) for side in (each.base, each.new))
        yield f"Not the same {each.what}: base {base}; new {new}"
    if any(each.what == "ranks" for each in found):
        yield "Times of MPI on different numbers of ranks are not of the same work."


def failed_runs(found: Sequence[tuple[Run, str]]) -> Iterator[str]:
    """A line for each run that did not end well, with the reason; at most LISTED."""
    for run, why in found[:LISTED]:
        yield f"Did not end well: {run.run_dir}: {why}"
    if len(found) > LISTED:
        yield f"Did not end well: {len(found) - LISTED:,} more"


def notes(exact: Collection[str], *, noise_known: bool) -> Iterator[str]:
    """What the column "Real" means, depending on whether runs were repeated, and what is estimated."""
    if noise_known:
        yield (
            "Real: yes if the difference exceeds the noise (Welch's t-test at 95 %, corrected by Holm for "
            "the number of figures, of functions, of call sites, of regions)."
        )
    else:
        which = " and ".join(exact) if "bytes" in exact else "calls of functions"
        yield (
            "Real: ? as one run on each side does not tell how much times vary by themselves"
            f"{f'; {which} are exact' if exact else ''}. Repeat the runs: tare diff A1 A2 A3 vs B1 B2 B3"
        )
    yield from about_sums(exact)


def about_sums(exact: Collection[str]) -> Iterator[str]:
    """Says whether sums over the ranks are estimates, or are not compared."""
    if not exact:
        yield INCOMPLETE
    elif "bytes" not in exact:
        yield ESTIMATED


def verdict(gate: Gate) -> str:
    """The result of a limit (--fail-above) as a line."""
    growth = f"{100 * gate.growth:+.1f} %" if math.isfinite(gate.growth) else "was 0 and is not"
    grown = f"{TITLES[gate.metric]} {growth}, limit {100 * gate.threshold:+g} %"
    result = "FAILED" if gate.exceeded else "passed"
    if gate.p is None:
        doubt = "exact" if gate.exact else "too few runs: noise not known"
        return f"{result}: {grown} ({doubt})"
    p = f"p {_p(gate.p)}"
    if gate.growth > gate.threshold and not gate.exceeded:
        return f"passed: {grown}, but that is within the noise ({p})"
    return f"{result}: {grown} ({p})"


def _described(runs: Sequence[Run]) -> str:
    names = "/".join(dict.fromkeys(run.meta.name for run in runs))
    *others, most = sorted({ranks_of(run) for run in runs})
    ranks = "/".join([*(f"{each:,}" for each in others), units.number_of(most, *_noun(runs))])
    return f"{units.number_of(len(runs), 'run')} of {names} on {ranks}"


def _noun(runs: Sequence[Run]) -> tuple[str, str]:
    have_ranks = any(run.missing or use_mpi(run.processes) for run in runs)
    return ("rank", "ranks") if have_ranks else ("process", "processes")


def _real(comparison: Comparison, *, exact: bool) -> bool | None:
    """Whether the difference is real; single runs tell this only of what is counted, not timed."""
    if comparison.differs is None and (exact or comparison.base == comparison.new):
        return comparison.base != comparison.new
    return comparison.differs


def _interval(comparison: Comparison) -> str:
    if comparison.interval is None:
        return NOTHING
    low, high = (100 * (bound - 1) for bound in comparison.interval)
    return f"{low:+.1f} to {high:+.1f} %"


def _probability(comparison: Comparison) -> str:
    p = comparison.corrected_p if comparison.corrected_p is not None else comparison.p
    return NOTHING if p is None else _p(p)


def _p(p: float) -> str:
    return f"{p:.3f}" if p >= SMALL_P else f"<{SMALL_P}"


def _amount(metric: str) -> Callable[[float], str]:
    if metric == "calls":
        return lambda value: units.count(round(value))
    return units.size if metric == "bytes" else units.duration
