"""What notebooks show of a run and its tables."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, cast

from tare.runs import html

if TYPE_CHECKING:
    from tare._native import Table

HOSTILE = "<script>alert(1)</script>\x1b[31m"


class Cells(HTMLParser):
    """The texts of the cells, row by row, and all tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


class Rows:
    """A table of the reader, of rows that are there."""

    def __init__(self, columns: list[str], rows: list[list[object]]) -> None:
        self._columns, self._rows = columns, rows

    def head(self, most: int) -> tuple[list[str], list[list[object]], int | None]:
        return self._columns, self._rows[:most], len(self._rows)


def shown_of(columns: list[str], rows: list[list[object]]) -> str:
    return html.head(cast("Table[Any]", Rows(columns, rows)))


def test_a_table_shows_its_first_rows_and_how_many_there_are() -> None:
    rows: list[list[object]] = [[rank, 0.25, None] for rank in range(12_345)]
    shown = shown_of(["rank", "share", "host"], rows)
    head, *found = Cells(shown).rows
    assert head == ["rank", "share", "host"]
    assert len(found) == html.SHOWN
    assert found[1] == ["1", "0.25", ""]
    assert "12,325 more rows" in shown
    assert "more rows" not in shown_of(["rank", "share", "host"], rows[:3])


def test_names_cannot_become_markup() -> None:
    shown = shown_of(["caller"], [[HOSTILE]])
    page = Cells(shown)
    assert page.tags == {"table", "thead", "tbody", "tr", "th", "td"}
    assert page.rows[1] == ["<script>alert(1)</script>\\x1b[31m"]
