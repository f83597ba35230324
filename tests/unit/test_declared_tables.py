"""What repeats the declaration of the tables, src/reader/tables/tables.toml, repeats it as it is."""

from __future__ import annotations

import sys
import tomllib

import pytest
from environments import ROOT

FOLDER = ROOT / "src" / "reader" / "tables"
DECLARED = tomllib.loads((FOLDER / "tables.toml").read_text("utf-8"))
PAGE = (ROOT / "docs" / "tables.md").read_text("utf-8")


@pytest.fixture
def generate(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.delitem(sys.modules, "generate", raising=False)
    return __import__("generate")


def test_the_page_has_the_columns_that_are_declared(generate: object) -> None:
    tables = generate.read(DECLARED)  # type: ignore[attr-defined]
    page = generate.on_page(PAGE, tables)  # type: ignore[attr-defined]
    assert page == PAGE, (
        "python src/reader/tables/generate.py src/reader/tables/tables.toml --page docs/tables.md"
    )


def test_what_a_row_is_is_plain_text() -> None:
    """`tare sql RUN` prints it."""
    assert not [name for name, of in DECLARED["tables"].items() if set("[]`") & set(of["row"])]


def test_every_table_has_a_section_with_its_columns(generate: object) -> None:
    for table in generate.read(DECLARED):  # type: ignore[attr-defined]
        title = table.name.replace("_", " ").capitalize()
        _, found, section = PAGE.partition(f"\n## {title}\n")
        assert found, table.name
        if table.name != "calls":  # its columns are some of those of the events
            assert "| column | type |" in section.split("\n## ")[0], table.name
