"""CSV: a header line, one row a line; what is unknown is empty. Whatever writes CSV writes it here.

Cells may hold names that others have chosen, titles too. A spreadsheet takes a text for a formula by its
first character, as OWASP lists them ("CSV injection"); those that are invisible have become escapes before.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any, TextIO

from tare.streams import visible

# What spreadsheets take for the beginning of a formula; some of them also characters of full width.
FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
NUMBERS = (int, float, Decimal, type(None))
# Names come again and again: looked at once.
DISTINCT = 1 << 14


def write(stream: TextIO, titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Writes the titles and the rows, and returns the number of the rows. Numbers stay numbers; a text that a
    spreadsheet would take for a formula gets an apostrophe in front."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(_cell, titles))
    count = 0
    for count, row in enumerate(rows, 1):  # noqa: B007
        writer.writerow([each if type(each) in NUMBERS else _cell(each) for each in row])
    return count


def write_rows(stream: TextIO, columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Writes the fields of `rows` that `columns` name."""
    write(stream, columns, ([row[name] for name in columns] for row in rows))


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    # Anything else, as a list or a duration, is shown as a text.
    return value if isinstance(value, NUMBERS) else _text(str(value))


@lru_cache(DISTINCT)
def _text(value: str) -> str:
    text = visible(value)
    return f"'{text}" if text.startswith(FORMULA) else text
