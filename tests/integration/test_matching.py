"""Which send belongs to which receive, and which calls are one collective operation."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import tare as tare_package
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, Measurement, measure

RANKS, ROUNDS = 3, 20


def rows(run: Path, query: str) -> list[Any]:
    """The rows of a query of the tables `messages` and `collectives`."""
    opened = tare_package.open(run)
    messages, collectives = opened.messages, opened.collectives  # noqa: F841 (DuckDB finds them by name)
    with duckdb.connect() as connection:
        return connection.execute(query).fetchall()


def test_every_message_and_collective_is_matched(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """The trace has many small chunks."""
    program = compile_c(mpi, [PROGRAMS / "matched.c"], tmp_path / "matched")
    options = ["--trace", "--buffer", "64K"]
    measured = measure(tare, mpi, RANKS, [program, str(ROUNDS)], tmp_path / "run", *options)
    assert measured.ended.returncode == 0, measured.ended.stderr
    sent = sum(int(count) for count in re.findall(r"(\d+) messages of rank", measured.ended.stdout))
    check_messages(measured, sent)
    check_collectives(measured)
    assert tare_package.open(measured.directory).warnings == []


def check_messages(measured: Measurement, sent: int) -> None:
    """Their sizes tell which belong together; and the profile counts the same ones."""
    # One of each rank and round was sent to nobody, and one that is persistent twice.
    (counts,) = rows(
        measured.directory,
        """SELECT count(*), count(*) FILTER (send_enter_ns IS NOT NULL AND receive_enter_ns IS NOT NULL),
        count(*) FILTER (bytes = received_bytes),
        count(*) FILTER (receive_completion_leave_ns >= send_enter_ns) FROM messages""",
    )
    assert counts == (sent, sent, sent, sent)
    peers = {(row["rank"], row["peer"]): row for row in measured.profile("peer,rank") if row["sent_messages"]}
    by_peer = "SELECT source, destination, count(*), sum(bytes) FROM messages GROUP BY ALL"
    assert {
        (source, destination): (count, sent_bytes)
        for source, destination, count, sent_bytes in rows(measured.directory, by_peer)
    } == {at: (row["sent_messages"], row["sent_bytes"]) for at, row in peers.items()}


def check_collectives(measured: Measurement) -> None:
    """Each is the same one on all ranks."""
    found = rows(
        measured.directory,
        """SELECT function, count(DISTINCT operation), count(*), count(completion_leave_ns),
        count(DISTINCT root) FROM collectives GROUP BY ALL ORDER BY ALL""",
    )
    each, parts = ROUNDS, ROUNDS * RANKS
    assert found == [
        ("MPI_Barrier", each, parts, parts, 0),
        ("MPI_Bcast", each, parts, parts, RANKS),
        ("MPI_Comm_dup", 1, RANKS, RANKS, 0),
        ("MPI_Iallreduce", each, parts, parts, 0),
    ]
    ((last, too_early),) = rows(
        measured.directory,
        """SELECT count(*) FILTER (rank = last_rank AND enter_ns = last_enter_ns),
        count(*) FILTER (leave_ns < last_enter_ns AND function = 'MPI_Barrier') FROM collectives""",
    )
    assert (last, too_early) == (3 * ROUNDS + 1, 0)


def test_a_run_without_calls_has_empty_tables(tare: Path, tmp_path: Path) -> None:
    subprocess.run([tare, "run", "-q", "-o", tmp_path / "run", "--", "true"], check=True, timeout=60)
    assert rows(tmp_path / "run", "FROM messages") == rows(tmp_path / "run", "FROM collectives") == []
