"""Markdown: tables as GitHub and GitLab show them."""

from __future__ import annotations

import re
from typing import TextIO

from tare.reporters.sheet import Sheet
from tare.streams import visible

# What would end a cell, format it, or make a link; underscores do so only at the ends of words.
_MARKUP = re.compile(r"[\\|<>&*`~\[\]$]|(?<!\w)_|_(?!\w)")


def write(stream: TextIO, sheet: Sheet) -> None:
    """Writes a table as Markdown. Numbers are aligned right."""
    _line(stream, [heading.title for heading in sheet.headings])
    _line(stream, ["---" if heading.text else "---:" for heading in sheet.headings])
    for row in sheet.rows:
        _line(stream, row)


def _line(stream: TextIO, cells: list[str]) -> None:
    stream.write(f"| {' | '.join(map(_escaped, cells))} |\n")


def _escaped(cell: str) -> str:
    return _MARKUP.sub(lambda found: f"\\{found[0]}", visible(cell))
