"""CSV: a header line, one row a line; what is unknown is empty."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import Any, TextIO


def write_rows(stream: TextIO, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    writer = csv.DictWriter(stream, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
