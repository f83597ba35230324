"""SQL on the tables of a run, by DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tare.errors import CommandError, UsageError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

BATCH = 1000  # rows that are fetched together


def connect(tables: Mapping[str, object]) -> DuckDBPyConnection:
    """A database in memory that has these tables; CommandError if DuckDB is missing.

    It must be closed, or dropped, before the interpreter ends.
    """
    try:
        import duckdb
    except ImportError as error:
        from tare.packages import how_to_install

        raise CommandError(f"SQL needs duckdb: {how_to_install(['duckdb'])}") from error
    # Nothing is fetched from a network because of a query.
    connection = duckdb.connect(config={"autoinstall_known_extensions": False})
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
        yield
    except duckdb.Error as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        hint = next((line for line in lines[1:] if line.startswith(("Did you mean", "Candidate"))), "")
        raise UsageError(". ".join(filter(None, (lines[0].rstrip(".!"), hint)))) from error
