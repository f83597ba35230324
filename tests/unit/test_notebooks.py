"""What notebooks show of a run and its tables."""

from __future__ import annotations

from html.parser import HTMLParser

from tare.tables import html
from tare.tables.rows_table import RowsTable

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


def test_a_table_shows_its_first_rows_and_how_many_there_are() -> None:
    rows = [{"rank": rank, "share": 0.25, "host": None, "left": 1} for rank in range(12_345)]
    shown = RowsTable({"rank": "int32", "share": "float64", "host": "text"}, lambda: rows)._repr_html_()
    head, *found = Cells(shown).rows
    assert head == ["rank", "share", "host"]
    assert len(found) == html.SHOWN
    assert found[1] == ["1", "0.25", ""]
    assert "12,325 more rows" in shown
    assert "more rows" not in html.table(["rank"], rows[:3])


def test_names_cannot_become_markup() -> None:
    shown = html.table(["caller"], [{"caller": HOSTILE}])
    page = Cells(shown)
    assert page.tags == {"table", "thead", "tbody", "tr", "th", "td"}
    assert page.rows[1] == ["<script>alert(1)</script>\\x1b[31m"]
