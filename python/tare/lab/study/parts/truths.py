"""Whether the study finds what is known beforehand: truths that its description states."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from tare.analysis.intervals import Interval
from tare.lab.study.analysis import Analysis
from tare.lab.study.description import OVERHEAD, Truth
from tare.lab.study.parts import variation
from tare.lab.study.plan import Cell
from tare.lab.study.sections import CHANGE, COUNT, SECONDS, SHARE, Section, Table, columns

FOUND, MISSED, UNKNOWN = "found", "not found", "not decided"


def truths(analysis: Analysis) -> Section | None:
    """Measured times beside those that the workload is known to take; None if the description states none."""
    stated = analysis.description.truths
    parts = [row for truth in stated if not truth.is_share for row in _parts(analysis, truth)]
    shares = [row for truth in stated if truth.is_share for row in _shares(analysis, truth)]
    if not parts and not shares:
        return None
    section = Section("The known truth", _in_short([*parts, *shares]))
    if parts:
        names = columns(
            "run", "part", "time", ("truth", SECONDS), ("measured", SECONDS), ("interval", SECONDS),
            ("off by", CHANGE), ("right within", SHARE), "verdict", ("blocks", COUNT),
        )  # fmt: skip
        note = (
            f"Medians of the differences within blocks. {analysis.interval_note()} Found: the whole interval "
            "is as near to the truth as the description asks. Not found: none of it is. Not decided: some "
            "is, or the blocks are too few."
        )
        section.parts.append(Table("Parts of the overhead", names, parts, note))
    if shares:
        names = columns(
            "runs", "factor", "time", ("truth", SHARE), ("measured", SHARE), ("right within", SHARE),
            "verdict",
        )  # fmt: skip
        note = "Shares of the variation (analysis of variance), which have no interval."
        section.parts.append(Table("Shares of the variation", names, shares, note))
    return section


def _in_short(rows: Iterable[list[object]]) -> str:
    verdicts = [verdict for row in rows for verdict in row if verdict in (FOUND, MISSED, UNKNOWN)]
    counts = {verdict: verdicts.count(verdict) for verdict in (FOUND, MISSED, UNKNOWN)}
    return f"Of {len(verdicts)} numbers that are known, " + ", ".join(
        f"{count} {'is' if count == 1 else 'are'} {verdict}"
        for verdict, count in counts.items()
        if count or verdict == FOUND
    )


def _parts(analysis: Analysis, truth: Truth) -> Iterator[list[object]]:
    for cell, label, measured in _measured(analysis, truth):
        if _is_meant(cell, truth.where):
            yield [
                label, truth.of, truth.time, truth.value, measured.median, (measured.low, measured.high),
                measured.median / truth.value - 1, truth.within,
                judged(measured, truth, analysis.confidence), measured.count,
            ]  # fmt: skip


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
    """The shares of each tool that has the factor among its own."""
    runs = analysis.results.runs
    for name, level in truth.where.items():
        runs = runs[runs[f"factor {name}"] == level]
    names = [f"factor {name}" for name in analysis.results.varied if name != "workload"]
    for design in variation.designs(runs, names):
        if not design.of_tool:
            continue
        for share in variation.shares(analysis, design):
            if share.response == truth.time and share.factor == truth.of:
                found = share.effect.share
                near = math.isfinite(found) and abs(found - truth.value) <= truth.within
                yield [
                    design.name, truth.of, truth.time, truth.value, found, truth.within,
                    FOUND if near else MISSED,
                ]  # fmt: skip
