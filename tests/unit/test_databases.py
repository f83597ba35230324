"""What DuckDB is told of files."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from tare.commands import sql
from tare.databases import quoted
from tare.errors import CommandError


def test_names_are_texts_of_sql() -> None:
    assert quoted(Path("it's")) == "'it''s'"
    with pytest.raises(CommandError, match="is not UTF-8, which DuckDB asks for"):
        quoted(Path("a\udcff"))


def test_bytes_are_written_as_duckdb_writes_them() -> None:
    every = bytes(range(256))
    with duckdb.connect() as connection:
        found = connection.execute("SELECT $1::BLOB::VARCHAR", [every]).fetchall()
    assert found == [(sql._value(every),)]
