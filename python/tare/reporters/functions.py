"""The functions of a run as text: those of the program, by samples of stacks, among those that it calls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from tare import units
from tare.reporters.sheet import Column, Sheet
from tare.streams import visible
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare.analysis.stacks import FunctionTime

NOTE = (
    "Functions with a number of calls: the time in these calls. Others: processor time, by samples of the "
    "stacks; ±: half of its 95 % interval. Whole: with the functions that they call (docs/stacks.md)"
)


def sheet(rows: Sequence[FunctionTime], total_ns: int) -> Sheet:
    """One line for each function; `total_ns`: what shares are of."""
    columns: list[Column] = [
        Column("Function", text=True, key=True, cell=lambda row: visible(row.function)),
        Column("In", text=True, optional=True, cell=_where),
        Column("Calls", cell=lambda row: NOTHING if row.calls is None else units.count(row.calls)),
        Column("Time", cell=lambda row: units.duration(row.time_ns)),
        Column("±", cell=lambda row: units.duration(row.error_ns) if row.error_ns else NOTHING),
        Column("Share", cell=lambda row: units.percent(row.time_ns / total_ns) if total_ns else NOTHING),
        Column("Whole", cell=lambda row: units.duration(row.with_callees_ns)),
    ]
    if any(row.rank_max_ns < row.time_ns for row in rows):  # there are several ranks
        columns += [
            Column("Rank mean", optional=True, cell=lambda row: units.duration(row.rank_mean_ns)),
            Column("Longest", optional=True, cell=lambda row: units.duration(row.rank_max_ns)),
            Column("Of rank", optional=True, cell=lambda row: _rank(row.rank_max)),
        ]
    return Sheet.of(columns, rows)


def _rank(rank: int | None) -> str:
    return NOTHING if rank is None else str(rank)


def _where(row: FunctionTime) -> str:
    if row.source != "program":
        return row.source
    return visible(PurePath(row.file or row.object or NOTHING).name)
