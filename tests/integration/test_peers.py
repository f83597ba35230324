"""What each rank sent to and received from each other, on every MPI."""

from __future__ import annotations

from pathlib import Path

from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, measure
from tare.runs.run import open_run


def test_messages_are_counted_by_peer(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "exchange.c"], tmp_path / "exchange")
    measured = measure(tare, mpi, 2, [program], tmp_path / "run")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr

    recorded = open_run(measured.directory)
    found = {}
    for row in recorded.rows(recorded.peers(["rank", "communicator"])):
        key = (row.rank, row.communicator, row.peer)
        assert key not in found
        found[key] = (row.sent_messages, row.sent_bytes, row.received_messages, row.received_bytes)
    for rank in (0, 1):
        on_pair = found.pop((rank, "pair", 1 - rank))
        assert on_pair == (3 + 2, 72 + 48 + 56, 3 + 2, 72 + 48 + 56)
        on_self = found.pop((rank, "MPI_COMM_WORLD", rank))
        assert on_self == (1, 8, 1, 8)
        # What is put and got stands with the communicator that the window was made with.
        on_world = found.pop((rank, "MPI_COMM_WORLD", 1 - rank))
        assert on_world == (3 + 1, 200 + 16, 3 + 1, 200 + 32)
    assert not found


def test_requests_are_credited_with_the_time_waited_for_them(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    program = compile_c(mpi, [PROGRAMS / "exchange.c"], tmp_path / "exchange")
    measured = measure(tare, mpi, 2, [program], tmp_path / "run")
    recorded = open_run(measured.directory)
    rows = recorded.rows(recorded.profile(["rank", "function", "site"]))
    waits = {"MPI_Wait", "MPI_Waitall"}
    starts = {"MPI_Irecv", "MPI_Isend", "MPI_Startall", "MPI_Imrecv"}
    waited = {row.function for row in rows if row.waited_ns > 0}
    assert {"MPI_Irecv", "MPI_Startall"} <= waited <= starts
    in_waits = sum(row.time_ns for row in rows if row.function in waits)
    credited = sum(row.waited_ns for row in rows)
    # Each row's ticks are converted by themselves: up to a nanosecond is rounded away in each.
    assert 0 < credited <= in_waits + len(rows)
    # All of it, but for what is left of the division by the number of requests.
    assert credited > 0.99 * in_waits - 1000
