"""MPI_THREAD_MULTIPLE: with 8 threads calling at once, every call is counted and recorded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, measure
from on_mpi import both_debian

# As in threads.c
THREADS, GENERATIONS, NULL_SENDS, EXCHANGES = 8, 2, 5000, 50
IN_THREADS = {
    "MPI_Send": NULL_SENDS + EXCHANGES,
    "MPI_Irecv": EXCHANGES,
    "MPI_Wait": EXCHANGES,
    "MPI_Allreduce": EXCHANGES // 10,
}
DOUBLE = 8


@pytest.mark.parametrize("ranks", [1, 2])
def test_every_call_is_counted(ranks: int, mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "threads.c"], tmp_path / "threads", "-pthread")
    # A small buffer, so that threads write while others record.
    measured = measure(tare, mpi, ranks, [program], tmp_path / "run", "--trace", "--buffer", "64K")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr

    runs = ranks * THREADS * GENERATIONS
    rows = {row["function"]: row for row in measured.profile("function")}
    assert {name: rows[name]["calls"] for name in IN_THREADS} == {
        name: runs * each for name, each in IN_THREADS.items()
    }
    assert rows["MPI_Send"]["bytes"] == rows["MPI_Irecv"]["bytes"] == runs * EXCHANGES * DOUBLE

    info = measured.info()
    assert info["trace"]["dropped"] == 0
    assert [row["state"] for row in info["ranks"]] == ["finished"] * ranks
    for rank in range(ranks):
        events = Counter(
            (row["thread"], row["function"])
            for row in measured.events("--rank", str(rank))
            if row["function"] in IN_THREADS
        )
        totals = {
            name: sum(n for (_, function), n in events.items() if function == name) for name in IN_THREADS
        }
        assert totals == {name: THREADS * GENERATIONS * each for name, each in IN_THREADS.items()}
        # A location may be used again by a later thread, never by two at once.
        locations = {thread for thread, _ in events}
        assert THREADS <= len(locations) <= THREADS * GENERATIONS
        for location in locations:
            sends = events[location, "MPI_Send"]
            assert sends % IN_THREADS["MPI_Send"] == 0
            assert events[location, "MPI_Wait"] * IN_THREADS["MPI_Send"] == sends * IN_THREADS["MPI_Wait"]


@both_debian
def test_requests_that_another_thread_completes(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    rounds = 1000  # of some 9 records: several chunks
    program = compile_c(mpi, [PROGRAMS / "handover.c"], tmp_path / "handover", "-pthread")
    options = ["--trace", "--buffer", "64K"]
    measured = measure(tare, mpi, 2, [program, str(rounds)], tmp_path / "run", *options)
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    # The data are those of the call that has started the request, whoever completes it: also by line.
    own = len(range(0, rounds, 3)) * 8
    rows = {row["function"]: row for row in measured.profile("function")}
    assert rows["MPI_Irecv"]["bytes"] == rows["MPI_Isend"]["bytes"] == 2 * (rounds * 160_000 + own)
    by_line = [row["bytes"] for row in measured.profile("line") if row["function"] == "MPI_Irecv"]
    assert sorted(by_line) == [2 * own, 2 * rounds * 160_000]
    for rank in (0, 1):
        started: dict[tuple[int, int], dict[str, Any]] = {}
        completed: Counter[tuple[int, int]] = Counter()
        handed_over = 0
        for row in measured.events("--rank", str(rank)):
            if row["function"] in ("MPI_Irecv", "MPI_Isend"):
                started[row["thread"], row["request"]] = row
            elif row["function"] in ("MPI_Wait", "MPI_Waitall"):
                for request in row.get("requests", [row]):
                    at = (request.get("starter", row["thread"]), request["request"])
                    completed[at] += 1
                    handed_over += "starter" in request
                    if started[at]["function"] == "MPI_Irecv":
                        assert (request["tag"], request["bytes"]) == (
                            started[at]["tag"],
                            8 if started[at]["thread"] == row["thread"] else 160_000,
                        )
        assert set(completed) == set(started)
        assert set(completed.values()) == {1}
        assert handed_over == 2 * rounds
