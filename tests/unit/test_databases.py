"""What DuckDB is told of files."""

from __future__ import annotations

from pathlib import Path

import pytest
from tare.databases import quoted
from tare.errors import CommandError


def test_names_are_texts_of_sql() -> None:
    assert quoted(Path("it's")) == "'it''s'"
    with pytest.raises(CommandError, match="is not UTF-8, which DuckDB asks for"):
        quoted(Path("a\udcff"))
