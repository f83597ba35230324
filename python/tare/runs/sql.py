"""SQL on the tables of a run, by DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tare import databases, interrupts
from tare.errors import UsageError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

BATCH = 1000  # rows that are fetched together


def connect(
    tables: Mapping[str, object], *, files: bool = False, writes_to: Path | None = None
) -> DuckDBPyConnection:
    """A database in memory that has these tables, as databases.in_memory makes it.

    DuckDB asks a table for its columns now, and reads it when a query does.
    """
    connection = databases.in_memory(files=files, writes_to=writes_to)
    for name, table in tables.items():
        connection.register(name, table)
    return connection


def result(connection: DuckDBPyConnection) -> tuple[list[str], Iterator[Sequence[Any]]]:
    """The names of the columns of what the connection has executed, and its rows, as they are asked for."""

    def rows() -> Iterator[Sequence[Any]]:
        while batch := connection.fetchmany(BATCH):
            yield from batch

    return [each[0] for each in connection.description or []], rows()


@contextmanager
def errors() -> Iterator[None]:
    """What DuckDB says of a query becomes one line."""
    try:
        import duckdb
    except ImportError:  # connect() says so
        yield
        return

    try:
        with interrupts.of_duckdb():
            yield
    except duckdb.Error as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        hint = next((line for line in lines[1:] if line.startswith(("Did you mean", "Candidate"))), "")
        raise UsageError(". ".join(filter(None, (lines[0].rstrip(".!"), hint)))) from error
