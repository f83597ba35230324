"""The rows of a query as a table of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tare import units
from tare.reporters import terminal
from tare.reporters.console import Console
from tare.reporters.sheet import Heading, Sheet


def show(out: Console, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Numbers are as the query has them; nothing is left out."""
    kept = list(rows)
    texts = [any(isinstance(row[at], str) for row in kept) for at in range(len(names))]
    sheet = Sheet([Heading(name, text=text) for name, text in zip(names, texts, strict=True)])
    sheet.rows += [[_cell(value) for value in row] for row in kept]
    terminal.show_sheet(out, sheet)


def _cell(value: Any) -> str:
    if value is None:
        return units.NOTHING
    return f"{value:.6g}" if isinstance(value, float) else str(value)
