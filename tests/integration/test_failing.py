"""Calls that return an error are counted, and are no messages: those after them belong to one another."""

from __future__ import annotations

from pathlib import Path

import duckdb
import tare as tare_package
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, measure


def test_calls_that_fail_are_no_messages(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "failing.c"], tmp_path / "failing")
    measured = measure(tare, mpi, 2, [program], tmp_path / "run", "--trace")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    ranks = {
        rank["rank"]: (rank["failed_calls"], rank["failed_communication"])
        for rank in measured.info()["ranks"]
    }
    assert ranks == {0: (5, 4), 1: (7, 6)}
    messages = tare_package.open(measured.directory).messages  # noqa: F841 (DuckDB finds it by name)
    query = "SELECT source, destination, bytes, received_bytes FROM messages ORDER BY send_enter_ns"
    with duckdb.connect() as connection:
        found = connection.execute(query).fetchall()
    # The first one was too long for its receive, which has taken it.
    assert found == [(0, 1, 16, None), *((0, 1, 4 * ints, 4 * ints) for ints in range(2, 7))]
