"""The locations of a run for people: one a line, or folded where there are many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tare import units
from tare.analysis.locations import bytes_per_record
from tare.analysis.spread import spread
from tare.reporters import terminal
from tare.reporters.sheet import WORLD, Column, Heading, Sheet
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare._tables import LocationsRow

# So many have a line of their own.
LISTED = 8

Figure = Callable[["LocationsRow"], "float | None"]


def _count(number: float) -> str:
    return units.count(round(number))


def _each(value: float) -> str:
    return f"{value:.1f}"


# Heading, figure, how it is written.
Figured = tuple[str, Figure, Callable[[float], str]]
FIGURES: tuple[Figured, ...] = (
    ("Calls", lambda row: row.calls, _count),
    ("Records", lambda row: row.records, _count),
    ("Dropped", lambda row: row.dropped, _count),
    ("Flushes", lambda row: row.flushes, _count),
    ("Flushing", lambda row: row.flush_ns, units.duration),
    ("On disk", lambda row: row.bytes, units.size),
    ("B/record", bytes_per_record, _each),
)

# Of the node's tared, where there is one.
DRAINS: Figured = ("Drains", lambda row: row.drains, _count)


def sheet(locations: Sequence[LocationsRow], worlds: int) -> Sheet:
    """The table of locations: each by itself, or by process and rank if there are more than LISTED."""
    figures = [*FIGURES, DRAINS] if any(row.drains for row in locations) else FIGURES
    make = _list if len(locations) <= LISTED else _folded
    return make(locations, worlds, figures)


def _list(locations: Sequence[LocationsRow], worlds: int, figures: Sequence[Figured]) -> Sheet:
    whose = Column("Rank", cell=lambda row: terminal.rank(row.rank, row.pid))
    if all(row.rank < 0 for row in locations):
        whose = Column("Process", cell=lambda row: str(row.pid))
    columns = [
        *([WORLD] if worlds > 1 else ()),
        whose,
        Column("Thread", cell=lambda row: str(row.thread)),
        *(Column(title, cell=partial(_cell, figure, shown)) for title, figure, shown in figures),
    ]
    return Sheet.of(columns, locations)


def _cell(figure: Figure, shown: Callable[[float], str], row: LocationsRow) -> str:
    value = figure(row)
    return NOTHING if value is None else shown(value)


def _folded(locations: Sequence[LocationsRow], worlds: int, figures: Sequence[Figured]) -> Sheet:
    """A line for each figure: least, mean and most of all locations, and where."""
    titles = (f"Of {len(locations):,}", "Least", "at rank", "Mean", "Most", "at rank", "In all")
    folded = Sheet([Heading(title, text=number == 0) for number, title in enumerate(titles)])
    for title, figure, shown in figures:
        found = spread(locations, figure)
        if found is None:
            continue
        total = sum(figure(row) or 0 for row in locations)
        if figure is bytes_per_record:
            total = sum(row.bytes for row in locations) / sum(row.records for row in locations)
        folded.rows.append(
            [
                title, shown(found.least), _place(found.min_at, worlds), shown(found.mean),
                shown(found.most), _place(found.max_at, worlds), shown(total),
            ]
        )  # fmt: skip
    return folded


def _place(location: LocationsRow, worlds: int) -> str:
    """Rank, and thread if it is not the first; with its world, where there are several."""
    world = f"{location.world}:" if worlds > 1 else ""
    thread = f"/{location.thread}" if location.thread else ""
    return f"{world}{terminal.rank(location.rank, location.pid)}{thread}"
