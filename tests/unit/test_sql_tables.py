"""Which tables DuckDB is given for a query: those that it may read."""

from __future__ import annotations

import pytest
from tare.runs import sql

TABLES = {"ranks": 1, "calls": 2, "site_totals": 3}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT count(*) FROM ranks", {"ranks"}),
        ('SELECT r.rank FROM Ranks r JOIN "CALLS" USING (rank)', {"ranks", "calls"}),
        ("FROM site_totals", {"site_totals"}),
        ("SELECT 1", set()),
        ("SELECT * FROM ranks_of_mine", set()),
        ("SHOW TABLES", set(TABLES)),
        ("select table_name from information_schema.tables", set(TABLES)),
        ("SELECT * FROM duckdb_columns()", set(TABLES)),
    ],
)
def test_a_query_is_given_the_tables_that_it_names(query: str, names: set[str]) -> None:
    assert set(sql.named(TABLES, query)) == names
