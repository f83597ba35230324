"""Whether the study finds what is known beforehand: truths that its description states."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from tare.analysis.intervals import Interval
from tare.lab.study import plan
from tare.lab.study.analysis import WRITE, Analysis
from tare.lab.study.description import MAIN, OVERHEAD, RESIDUALS, Truth
from tare.lab.study.parts import variation
from tare.lab.study.parts.variation import Design
from tare.lab.study.plan import Cell
from tare.lab.study.sections import CHANGE, COUNT, SECONDS, SHARE, Section, Table, columns

FOUND, MISSED, UNKNOWN, UNMEASURED = "found", "not found", "not decided", "not measured"
NO_RUNS = "no run of this study"
VERDICT = "verdict"
PARTS = columns(
    "run", "part", "time", ("truth", SECONDS), ("measured", SECONDS), ("interval", SECONDS),
    ("off by", CHANGE), ("right within", SHARE), VERDICT, ("blocks", COUNT),
)  # fmt: skip
SHARES = columns(
    "runs", "factor", "time", ("truth", SHARE), ("measured", SHARE), ("right within", SHARE), VERDICT
)


def truths(analysis: Analysis) -> Section | None:
    """Measured times beside those that the workload is known to take; None if the description states none.

    Each truth has a row at least, also if no run shows what it is about.
    """
    stated = analysis.description.truths
    if not stated:
        return None
    tables = []
    if parts := [row for truth in stated if not truth.is_share for row in _parts(analysis, truth)]:
        note = (
            f"Medians of the differences within blocks. {analysis.interval_note()} Found: the whole interval "
            "is as near to the truth as the description asks. Not found: none of it is. Not decided: some "
            "is, or the blocks are too few. Not measured: no runs that ended well show it."
        )
        tables.append(Table("Parts of the overhead", PARTS, parts, note))
    if shares := [row for truth in stated if truth.is_share for row in _shares(analysis, truth)]:
        note = (
            "Shares of the variation (analysis of variance), which have no interval. Not measured: not all "
            "combinations that it takes have runs that ended well and show the time, or it does not vary."
        )
        tables.append(Table("Shares of the variation", SHARES, shares, note))
    return Section("The known truth", _in_short(tables), [*tables])


def _in_short(tables: Iterable[Table]) -> str:
    places = [(table, [column.name for column in table.columns].index(VERDICT)) for table in tables]
    verdicts = [row[place] for table, place in places for row in table.rows]
    counts = {each: verdicts.count(each) for each in (FOUND, MISSED, UNKNOWN, UNMEASURED)}
    return f"Of {len(verdicts)} numbers that are known, " + ", ".join(
        f"{count} {'is' if count == 1 else 'are'} {verdict}"
        for verdict, count in counts.items()
        if count or verdict == FOUND
    )


def _parts(analysis: Analysis, truth: Truth) -> Iterator[list[object]]:
    known = {cell: (label, measured) for cell, label, measured in _measured(analysis, truth)}
    cells = _having_part(analysis, truth)
    for cell in cells:
        label, measured = known.get(cell, ("", None))
        if measured is not None and measured.count:
            yield [
                label, truth.of, truth.time, truth.value, measured.median, (measured.low, measured.high),
                measured.median / truth.value - 1, truth.within,
                judged(measured, truth, analysis.confidence), measured.count,
            ]  # fmt: skip
        else:
            yield _unmeasured_part(truth, _label(analysis, cell))
    if not cells:
        yield _unmeasured_part(truth, NO_RUNS)


def _unmeasured_part(truth: Truth, label: str) -> list[object]:
    return [label, truth.of, truth.time, truth.value, None, None, None, truth.within, UNMEASURED, 0]


def _having_part(analysis: Analysis, truth: Truth) -> list[Cell]:
    """The cells of the plan of which the truth says something."""
    description = analysis.description
    planned = dict.fromkeys(plan.cells(description))
    return [
        cell
        for cell in planned
        if _is_meant(cell, truth.where)
        and (bare := plan.without_tool(description, cell)) != cell
        and bare in planned
        and (truth.of == OVERHEAD or _silent(cell) in planned)
        and _has_time(analysis, cell, truth.time)
    ]


def _silent(cell: Cell) -> Cell | None:
    """The same without writing; None if the cell does not write, or cannot do without."""
    if cell.by_factor.get(WRITE) != "true":
        return None
    return Cell(tuple((name, "false" if name == WRITE else level) for name, level in cell.levels))


def _has_time(analysis: Analysis, cell: Cell, time: str) -> bool:
    """Whether runs of a cell are to have a time."""
    workload = analysis.description.workloads[cell.level("workload")]
    if time in MAIN:
        return workload.mpi or time == "overall"
    return any(time == f"{each.phase} {each.quantity}" for each in workload.measures if each.phase)


def _label(analysis: Analysis, cell: Cell) -> str:
    """The label of a cell that need not have runs."""
    planned = (name for name, levels in analysis.description.factors.items() if len(levels) > 1)
    return cell.label(frozenset(analysis.results.varied) | frozenset(planned)) or cell.level("workload")


def _measured(analysis: Analysis, truth: Truth) -> Iterator[tuple[Cell, str, Interval]]:
    """The part that the truth is about, of each cell that has it."""
    if truth.of == OVERHEAD:
        for pair in analysis.pairs():
            if truth.time in pair.ours:
                more = analysis.interval(pair.ours[truth.time] - pair.bare[truth.time])
                yield pair.cell, pair.label, more
        return
    for split in analysis.splits():
        if truth.time in split.pair.ours:
            part = analysis.interval(split.part(truth.of, truth.time))
            yield split.pair.cell, split.pair.label, part


def _is_meant(cell: Cell, where: Mapping[str, str]) -> bool:
    return all(cell.by_factor.get(name) == level for name, level in where.items())


def judged(measured: Interval, truth: Truth, confidence: float) -> str:
    """`measured`: in seconds, with its interval."""
    if not measured.is_confident(confidence):
        return UNKNOWN
    low, high = truth.value * (1 - truth.within), truth.value * (1 + truth.within)
    if low <= measured.low and measured.high <= high:
        return FOUND
    return MISSED if measured.high < low or measured.low > high else UNKNOWN


def _shares(analysis: Analysis, truth: Truth) -> Iterator[list[object]]:
    """The shares of each tool that has the factor among its own; else of all tools with each program."""
    factor = frozenset(truth.of.split(":"))
    planned = _planned_designs(analysis, truth)
    of_factor = [each for each in planned if factor <= _varied(each) | {RESIDUALS}]
    designs = [each for each in of_factor if each.of_tool] or of_factor
    for design in designs:
        share = _measured_share(analysis, truth, design, factor)
        if share is None:
            yield [design.name, truth.of, truth.time, truth.value, None, truth.within, UNMEASURED]
        else:
            verdict = FOUND if abs(share - truth.value) <= truth.within else MISSED
            yield [design.name, truth.of, truth.time, truth.value, share, truth.within, verdict]
    if not designs:
        yield [NO_RUNS, truth.of, truth.time, truth.value, None, truth.within, UNMEASURED]


def _planned_designs(analysis: Analysis, truth: Truth) -> list[Design]:
    """What the runs are crossed to if all that the truth is about are made, with one row for each cell."""
    import pandas as pd

    cells = plan.cells(analysis.description)
    frame = pd.DataFrame(
        {"cell": cell.key, **{f"factor {name}": level for name, level in cell.levels}} for cell in cells
    )
    names = [name for name in frame.columns[1:] if name != "factor workload" and frame[name].nunique() > 1]
    meant = [_is_meant(cell, truth.where) and _has_time(analysis, cell, truth.time) for cell in cells]
    return list(variation.designs(frame[meant], names)) if any(meant) else []


def _varied(design: Design) -> frozenset[str]:
    varied = (name for name in design.factors if design.frame[name].nunique() > 1)
    return frozenset(name.removeprefix("factor ") for name in varied)


def _measured_share(
    analysis: Analysis, truth: Truth, planned: Design, factor: frozenset[str]
) -> float | None:
    """None unless each cell of the design has a run with the time, or where nothing varies."""
    runs = analysis.results.runs
    if truth.time not in runs:
        return None
    runs = runs[runs["cell"].isin(planned.frame["cell"]) & runs[truth.time].notna()]
    if set(runs["cell"]) != set(planned.frame["cell"]):
        return None
    found = (
        share.effect.share
        for share in variation.shares(analysis, replace(planned, frame=runs), [truth.time])
        if frozenset(share.factor.split(":")) == factor
    )
    return next((share for share in found if math.isfinite(share)), None)
