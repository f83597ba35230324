"""A report on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tare.lab.study.sections import TEXT, Section, Table, shown
from tare.reporters import terminal
from tare.reporters.sheet import Heading, Sheet

if TYPE_CHECKING:
    from tare.reporters.console import Console


def print_sections(out: Console, sections: Sequence[Section], *, details: bool = False) -> None:
    """Sections that hold nothing but figures and details are left out without `details`."""
    for section in sections:
        tables = [part for part in section.parts if isinstance(part, Table) and (details or not part.detail)]
        if not tables:
            continue
        out.line(section.title, bold=True)
        for table in tables:
            _print_table(out, table)
        out.line()


def _print_table(out: Console, table: Table) -> None:
    out.line(f"  {table.title}")
    if not table.rows:
        out.line("    none")
        return
    made = Sheet([Heading(column.name, text=column.kind == TEXT) for column in table.columns])
    for row in table.rows:
        made.rows.append(
            [shown(value, column.kind) for value, column in zip(row, table.columns, strict=True)]
        )
    terminal.show_whole_sheet(out, made, "    ")
