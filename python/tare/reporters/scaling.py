"""`tare diff --scaling`: a column for each run, a row for each figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tare import units
from tare.analysis.scaling import Point, ScaledLine
from tare.reporters import terminal
from tare.reporters.sheet import Heading, Sheet
from tare.units import NOTHING

FIGURES: tuple[tuple[str, Callable[[Point], float | None]], ...] = (
    ("global efficiency", lambda of: of.global_efficiency),
    ("  computation scaling", lambda of: of.computation_scaling),
    ("  parallel efficiency", lambda of: of.efficiency.parallel_efficiency),
    ("    load balance", lambda of: of.efficiency.load_balance),
    ("    communication", lambda of: of.efficiency.communication_efficiency),
    ("      serialisation", lambda of: of.efficiency.serialisation_efficiency),
    ("      transfer", lambda of: of.efficiency.transfer_efficiency),
    ("descheduled", lambda of: of.efficiency.descheduled_share),
    ("blocked", lambda of: of.efficiency.blocked_share),
)


def efficiencies(points: Sequence[Point]) -> Sheet:
    """POP's model of each run."""
    sheet = Sheet([Heading("", text=True, key=True), *_of_runs(points)])
    sheet.rows.append(["net time", *(units.duration(of.efficiency.net_ns) for of in points)])
    sheet.rows.append(["speedup", *(NOTHING if of.speedup is None else f"{of.speedup:.2f}" for of in points)])
    for name, figure in FIGURES:
        sheet.rows.append([name, *(_percent(figure(of)) for of in points)])
    return sheet


def lines(points: Sequence[Point], found: Sequence[ScaledLine]) -> Sheet:
    """What lines take of the time of the ranks in each run; those whose share grows most first."""
    sheet = Sheet([Heading("Function", text=True), Heading("Where", text=True), *_of_runs(points)])
    for line in found:
        sheet.rows.append([line.function, terminal.place(line.place), *map(_percent, line.shares)])
    return sheet


def _of_runs(points: Sequence[Point]) -> list[Heading]:
    return [Heading(units.number_of(of.ranks, "rank")) for of in points]


def _percent(share: float | None) -> str:
    return NOTHING if share is None else units.percent(share)
