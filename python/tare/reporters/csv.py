"""CSV: a header line, one row a line; what is unknown is empty."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from tare.reporters import paths
from tare.streams import visible

# What spreadsheets take for the beginning of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_rows(stream: TextIO, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Numbers stay numbers; a text that could be taken for a formula begins with an apostrophe."""
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in _flat(row).items()} for row in rows)


def _flat(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A call path is one cell."""
    return {**row, "path": paths.one_line(row)} if "path" in row else row


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return visible(f"'{value}" if value.startswith(FORMULA) else value)
