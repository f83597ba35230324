"""What a report is made of: sections of tables and figures, without saying how they are shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tare import units
from tare.streams import visible
from tare.units import NOTHING

# How a column's values are shown; numbers are aligned to the right.
TEXT, SECONDS, SHARE, CHANGE, NUMBER, COUNT, BYTES, P, RATIO = (
    "text", "seconds", "share", "change", "number", "count", "bytes", "p", "ratio",
)  # fmt: skip
MIN_P = 0.0001
MOST_RATIO = 1e6  # from here on, with an exponent


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    kind: str = TEXT  # how values are shown


@dataclass(frozen=True)
class NotSignificant:
    """A value that is not significant; shown in brackets."""

    value: float


@dataclass(frozen=True)
class Table:
    """A table."""

    title: str
    columns: tuple[Column, ...]
    rows: list[list[Any]]
    note: str = ""  # a line below it
    detail: bool = False  # a long table of details: the terminal leaves it out, the page folds it


@dataclass(frozen=True)
class Figure:
    """A drawing, as SVG."""

    title: str
    svg: str
    note: str = ""  # a line below it


@dataclass
class Section:
    """A part of the report, with tables and figures."""

    title: str
    about: str = ""  # an introductory text
    parts: list[Table | Figure] = field(default_factory=list)


def of_table(title: str, table: Table) -> Section | None:
    """A section of one table; None if that has no rows."""
    return Section(title, parts=[table]) if table.rows else None


def columns(*described: str | tuple[str, str]) -> tuple[Column, ...]:
    """Columns of these names, or of names and kinds."""
    return tuple(Column(each) if isinstance(each, str) else Column(*each) for each in described)


def shown(value: Any, kind: str) -> str:
    """A value as people read it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    if isinstance(value, tuple):
        low, high = (shown(each, kind) for each in value)
        return NOTHING if low == high == NOTHING else f"{low} .. {high}"
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, NotSignificant):
        return f"({shown(value.value, kind)})"
    match kind:
        case "seconds":
            return f"-{units.duration(-1e9 * value)}" if value < 0 else units.duration(1e9 * value)
        case "share":
            return f"{100 * value:.2f} %"
        case "change":
            return f"{100 * value:+.2f} %"
        case "number":
            return f"{value:.4g}"
        case "count":
            return f"{round(value):,}"
        case "bytes":
            return units.size(value)
        case "p":
            return f"< {MIN_P}" if value < MIN_P else f"{value:.4f}"
        case "ratio":
            return f"{value:.2f}" if abs(value) < MOST_RATIO else f"{value:.3g}"
        case _:
            return visible(str(value))


def plain(value: Any) -> Any:
    """A value for JSON."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if isinstance(value, NotSignificant):
        return plain(value.value)
    item = getattr(value, "item", None)
    return plain(item()) if callable(item) else value


def as_json(sections: Sequence[Section]) -> list[dict[str, Any]]:
    """The tables of sections as report.json has them, without figures."""
    return [
        {
            "title": section.title,
            "tables": [
                {
                    "title": part.title,
                    "columns": [column.name for column in part.columns],
                    "rows": [[plain(value) for value in row] for row in part.rows],
                }
                for part in section.parts
                if isinstance(part, Table)
            ],
        }
        for section in sections
    ]
