"""CSV: a header line, one row a line; what is unknown is empty."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from tare.reporters import paths


def write_rows(stream: TextIO, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_flat(row) for row in rows)


def _flat(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A call path is one cell."""
    return {**row, "path": paths.one_line(row)} if "path" in row else row
