"""A table as text, before anybody has decided how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Heading:
    """One column."""

    title: str
    text: bool = False  # left-aligned, and cut if there is no room; numbers are neither
    optional: bool = False  # left out if there is no room
    key: bool = False  # part of what identifies a row


@dataclass(frozen=True)
class Column(Heading):
    """A column, and what it shows of a row."""

    cell: Callable[[Any], str] = str


# Of runs with several worlds.
WORLD = Column("World", key=True, cell=lambda row: str(row.world))


@dataclass
class Sheet:
    """Cells are ready to be printed; every row has one for each heading."""

    headings: list[Heading]
    rows: list[list[str]] = field(default_factory=list)

    @classmethod
    def of(cls, columns: Sequence[Column], rows: Iterable[Any]) -> Sheet:
        """A line for each of the rows, as the columns show it."""
        return cls(list(columns), [[column.cell(row) for column in columns] for row in rows])

    def without(self, column: int) -> Sheet:
        """The sheet but for one column."""
        return Sheet(
            [*self.headings[:column], *self.headings[column + 1 :]],
            [[*row[:column], *row[column + 1 :]] for row in self.rows],
        )
