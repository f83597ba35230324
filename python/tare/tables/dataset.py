"""The tables of a run as a directory of Parquet or CSV files, written as DuckDB reads the run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tare import databases, interrupts, private_files
from tare.errors import unwritable
from tare.reporters import csv
from tare.runs import sql
from tare.runs.run import Run, listed

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Without those that are a part of the events.
NOT_WRITTEN = ("calls", "flushes")
# How long tables are divided into files: by rank, unless these would be too many and too small.
BY_RANK = ("events", "collectives", "requests", "waits", "root_causes")
BY_WORLD = (*BY_RANK, "messages")
MAX_RANKS = 1000
PARQUET = "FORMAT parquet, COMPRESSION zstd"


def written() -> list[str]:
    """The tables that are written."""
    return [name for name in listed() if name not in NOT_WRITTEN]


def write(run: Run, to: Path, kind: Literal["parquet", "csv"]) -> int:
    """Makes the directory completely or not at all; how many rows it has.

    Parquet: TABLE/*.parquet, of long tables TABLE/world=W/rank=R/*.parquet, as DuckDB, Spark and pandas read
    them; the files have these columns too. CSV: TABLE.csv.
    """
    part = private_files.part_of(to.parent.resolve() / to.name)
    tables = run.tables()
    connection = sql.connect({name: tables[name] for name in written()}, writes_to=part)
    import duckdb

    try:
        part.mkdir()
        with interrupts.of_duckdb():
            rows = sum(_write_table(connection, run, name, part, kind) for name in written())
        part.replace(to)
    except (duckdb.Error, OSError) as error:
        raise unwritable(to, error) from error
    finally:
        connection.close()
        shutil.rmtree(part, ignore_errors=True)
    return rows


def write_csv(connection: DuckDBPyConnection, source: str, to: Path) -> int:
    """Writes a table of the connection, or a query in brackets; the number of rows."""
    with to.open("w", encoding="utf-8", newline="") as file:
        return csv.write(file, *sql.result(connection.execute(f"FROM {source}")))


def write_parquet(connection: DuckDBPyConnection, source: str, to: Path, options: str = PARQUET) -> int:
    """The same, as DuckDB writes it."""
    done = connection.execute(f"COPY (FROM {source}) TO {databases.quoted(to)} ({options})").fetchone()
    return int(done[0]) if done else 0


def _write_table(connection: DuckDBPyConnection, run: Run, name: str, part: Path, kind: str) -> int:
    if kind == "csv":
        return write_csv(connection, name, part / f"{name}.csv")
    by = ["world", "rank"] if name in BY_RANK and len(run.processes) <= MAX_RANKS else ["world"]
    target = part / name
    if name in BY_WORLD:
        whole = f"{PARQUET}, PARTITION_BY ({', '.join(by)}), WRITE_PARTITION_COLUMNS true"
        if rows := write_parquet(connection, name, target, whole):
            return rows
    # What has no rows has columns.
    target.mkdir(exist_ok=True)
    return write_parquet(connection, name, target / "data_0.parquet")
