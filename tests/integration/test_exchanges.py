"""Calls that send and receive: what each has received stands beside what it sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import tare as package
from environments import MpiEnvironment, compile_c
from expectations import symbols_of
from measured import PROGRAMS, measure

PROC_NULL = -2
ANY_TAG = -1
ANY_SOURCE = -1
SENT = ("peer", "tag", "bytes")
RECEIVED = ("source", "source_tag", "received", "source_world")
# As in sendrecv.c: in order, of each rank.
EXPECTED: dict[int, list[tuple[Any, ...]]] = {
    0: [
        ("MPI_Sendrecv", 1, 1, 80, 1, 1, 160, 1),
        ("MPI_Sendrecv", 1, 2, 80, 1, 3, 160, 1),
        ("MPI_Sendrecv", 1, 4, 80, PROC_NULL, ANY_TAG, 0, None),
        ("MPI_Sendrecv_replace", 1, 5, 40, 1, 5, 40, 1),
        ("MPI_Sendrecv", 0, 6, 8, 0, 6, 8, 1),
        ("MPI_Sendrecv", 99, 7, None, None, None, None, None),
    ],
    1: [
        ("MPI_Sendrecv", 0, 1, 160, 0, 1, 80, 0),
        ("MPI_Sendrecv", 0, 3, 160, 0, 2, 80, 0),
        ("MPI_Sendrecv", PROC_NULL, 4, 0, 0, 4, 80, 0),
        ("MPI_Sendrecv_replace", 0, 5, 40, 0, 5, 40, 0),
        ("MPI_Sendrecv", 1, 6, 8, 1, 6, 8, 0),
        ("MPI_Sendrecv", 99, 7, None, None, None, None, None),
    ],
}


def test_exchanges(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "sendrecv.c"], tmp_path / "program")
    measured = measure(tare, mpi, 2, [program], tmp_path / "run", "--trace")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    rows = measured.events()
    assert all("received" not in row for row in rows if "Sendrecv" not in row["function"])
    sums = {
        (row["rank"], row["function"]): (row["bytes"], row["received"])
        for row in measured.profile("function,rank")
    }
    for rank, expected in EXPECTED.items():
        found = [row for row in rows if row["rank"] == rank and row["function"].startswith("MPI_Sendrecv")]
        assert [(row["function"], *(row.get(key) for key in SENT + RECEIVED)) for row in found] == expected
        for function in ("MPI_Sendrecv", "MPI_Sendrecv_replace"):
            of_function = [row for row in expected if row[0] == function]
            assert sums[rank, function] == (
                sum(row[3] or 0 for row in of_function),
                sum(row[6] or 0 for row in of_function),
            )
        if "mpi_isendrecv" in symbols_of(program):
            sent, received = (80, 160) if rank == 0 else (160, 80)
            silent = mpi.family == "mpich"  # its statuses of these requests say nothing
            assert sums[rank, "MPI_Isendrecv"] == (sent, 0 if silent else received)
            assert sums[rank, "MPI_Isendrecv_replace"] == (24, 0 if silent else 24)
            waits = [row for row in rows if row["rank"] == rank and row["function"] == "MPI_Wait"]
            nothing = (None, None, None)
            assert [tuple(row.get(key) for key in SENT) for row in waits] == [
                nothing if silent else (1 - rank, 8, received),
                nothing if silent else (1 - rank, 9, 24),
            ]
    if "mpi_isendrecv" in symbols_of(program):
        for function, source, tag in (("MPI_Isendrecv", ANY_SOURCE, 8), ("MPI_Isendrecv_replace", 1, 9)):
            (row,) = (row for row in rows if (row["rank"], row["function"]) == (0, function))
            assert (row["source"], row["source_tag"]) == (source, tag)
        messages = package.open(measured.directory).messages
        channel = [row for row in pa.table(messages).to_pylist() if (row["source"], row["tag"]) == (0, 9)]
        assert [row["bytes"] for row in channel] == [24, 32, 40, 48]
        assert [row["received_bytes"] for row in channel] == [None if silent else 24, 32, 40, 48]
