"""A table as text, before anybody has decided how it is shown."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Heading:
    """One column."""

    title: str
    text: bool = False  # left-aligned, and cut if there is no room; numbers are neither
    optional: bool = False  # left out if there is no room
    key: bool = False  # part of what identifies a row


@dataclass
class Sheet:
    """Cells are ready to be printed; every row has one for each heading."""

    headings: list[Heading]
    rows: list[list[str]] = field(default_factory=list)

    def without(self, column: int) -> Sheet:
        """The sheet but for one column."""
        return Sheet(
            [*self.headings[:column], *self.headings[column + 1 :]],
            [[*row[:column], *row[column + 1 :]] for row in self.rows],
        )
