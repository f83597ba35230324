"""Starts of messages: in a profile not every one is timed, in a trace all are."""

from __future__ import annotations

from pathlib import Path

import pytest
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, Measurement, measure

ROUNDS = 20_000
STARTS = ("MPI_Isend", "MPI_Irecv")
BYTES = ROUNDS // 2 * (8 + 800)


def started(mpi: MpiEnvironment, tare: Path, tmp_path: Path, *options: str) -> Measurement:
    program = compile_c(mpi, [PROGRAMS / "many_starts.c"], tmp_path / "many_starts")
    measured = measure(tare, mpi, 1, [program, str(ROUNDS)], tmp_path / "run", *options)
    assert measured.ended.returncode == 0, measured.ended.stderr
    calls = measured.calls()
    assert [calls[name] for name in (*STARTS, "MPI_Waitall")] == [ROUNDS] * 3
    (peer,) = measured.profile("peer")
    assert (peer["sent_messages"], peer["sent_bytes"]) == (ROUNDS, BYTES)
    assert (peer["received_messages"], peer["received_bytes"]) == (ROUNDS, BYTES)
    return measured


def test_calls_and_bytes_are_exact_and_times_have_an_interval(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    measured = started(mpi, tare, tmp_path)
    rows = {row["function"]: row for row in measured.profile("function")}
    for name in STARTS:
        row = rows[name]
        assert row["bytes"] == BYTES
        assert 0.8 * ROUNDS < row["estimated_calls"] < 0.92 * ROUNDS
        assert row["time_error_ns"] > 0
        assert row["min_ns"] <= row["mean_ns"] <= row["max_ns"]
        assert row["mean_ns"] == pytest.approx(row["time_ns"] / ROUNDS)
    assert rows["MPI_Waitall"]["estimated_calls"] == 0
    assert rows["MPI_Waitall"]["time_error_ns"] is None
    # Both sizes have times of their own.
    sizes = [row for row in measured.profile("function,size") if row["function"] == "MPI_Isend"]
    assert [row["calls"] for row in sizes] == [ROUNDS // 2] * 2
    assert all(0 < row["estimated_calls"] < row["calls"] and row["time_ns"] > 0 for row in sizes)
    (rank,) = measured.info()["ranks"]
    # One start stands for nine: a few that were interrupted make the estimate longer than the net time.
    errors = [row["time_error_ns"] or 0 for row in rows.values()]
    assert rank["mpi_ns"] - 3 * sum(errors) <= rank["net_ns"]
    assert 0 < rank["mpi_share"] <= 1


@pytest.mark.parametrize("options", [("--trace",), ("--sample", "random:0.1")], ids=["trace", "sampled"])
def test_all_are_timed_where_each_is_recorded(
    options: tuple[str, ...], mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    measured = started(mpi, tare, tmp_path, *options)
    rows = {row["function"]: row for row in measured.profile("function")}
    for name in STARTS:
        assert rows[name]["estimated_calls"] == 0
        assert rows[name]["time_error_ns"] is None
