"""The tables of a query, and their origin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tare import databases
from tare.errors import CommandError
from tare.packages import how_to_install
from tare.tables.dataset import written

if TYPE_CHECKING:
    import ibis
    from ibis.backends import BaseBackend

    from tare.runs.run import Run

    # The tables of docs/tables.md by their names in SQL.
    Tables = Mapping[str, "ibis.Table"]
else:
    Tables = Mapping


def of_run(run: Run) -> Tables:
    """The tables of an open run, in a DuckDB of this process; each is read when a query is executed."""
    try:
        import ibis
    except ImportError as error:
        raise CommandError(f"queries need Ibis: {how_to_install(['ibis-framework[duckdb]'])}") from error
    # Ibis sets the time zone.
    connection = ibis.duckdb.from_connection(databases.in_memory(locked=False))
    tables = {}
    for name, table in run.tables().items():
        connection.con.register(name, table)
        tables[name] = connection.table(name)
    return tables


def of_parquet(connection: BaseBackend, directory: str | Path) -> Tables:
    """The tables that `tare export RUN --to parquet` has written.

    `connection` is an Ibis connection, as `ibis.duckdb.connect()` or `ibis.pyspark.connect(session)`.
    `directory` is a path, or the address of a directory that every worker of a cluster reaches. There are no
    tables `calls` and `flushes`: they are parts of `events`.
    """
    tables = {}
    for name in written():
        place = f"{directory}/{name}"
        if connection.name == "duckdb":
            tables[name] = connection.read_parquet(
                f"{place}/**/*.parquet", table_name=name, hive_partitioning=False
            )
        else:
            tables[name] = connection.read_parquet(place, table_name=name)
    return tables
