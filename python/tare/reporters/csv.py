"""CSV: a header line, one row a line; what is unknown is empty."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from tare.streams import visible

# What spreadsheets take for the beginning of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_rows(stream: TextIO, columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Writes the fields of `rows` that `columns` name. Numbers stay numbers; a text that a spreadsheet would
    take for a formula gets an apostrophe in front."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row[name]) for name in columns] for row in rows)


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    return visible(f"'{value}" if value.startswith(FORMULA) else value)
