"""Buffers drained by tared, a process beside the ranks of a node."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from environments import MpiEnvironment, compile_c, run
from measured import PROGRAMS, Measurement, left_in_memory, measure
from on_mpi import both_families
from test_survival import RANKS, SENDS, assert_tared_ends

# They record more than fits into the buffers, and sleep then: whatever is full by then is drained by tared.
PROGRAM = ("alive", "1")
BUFFER = 64 * 1024


@pytest.fixture
def killed(mpi: MpiEnvironment, tmp_path: Path) -> Path:
    return compile_c(mpi, [PROGRAMS / "killed.c"], tmp_path / "killed")


@both_families
def test_it_drains_what_ranks_record(mpi: MpiEnvironment, killed: Path, tare: Path, tmp_path: Path) -> None:
    options = ["--drain", "tared", "--buffer", str(BUFFER)]
    measured = measure(tare, mpi, RANKS, [killed, *PROGRAM], tmp_path / "run", *options)
    assert measured.ended.returncode == 0
    assert_drained(measured)
    cost = measured.info()["cost"]
    assert cost["drain_ns"] > 0
    rows = measured.all_events("--function", "tare:drain")
    assert {row["function"] for row in rows} == {"tare:drain"}
    assert len(rows) >= cost["drains"] > 0
    assert sum(row["bytes"] for row in rows) >= cost["drain_bytes"] > 0
    assert all(row["duration_ns"] > 0 for row in rows)


@both_families
def test_ranks_start_it_where_nobody_collects(
    mpi: MpiEnvironment, killed: Path, tare: Path, tmp_path: Path
) -> None:
    """The place is as another node of a job; segments lie in the run directory, as shared memory is full."""
    measured = measure(tare, mpi, RANKS, ["true"], tmp_path / "run", "--drain", "tared")
    meta = json.loads((measured.directory / "meta.json").read_text())
    library = tare.parent.parent / "lib"
    (preload,) = library.glob("python3*/site-packages/tare/lib/libtare.so")
    variables = {
        "LD_PRELOAD": str(preload),
        "TARE_RUN_DIR": str(measured.directory),
        "TARE_RUN_ID": meta["run_id"],
        "TARE_SEGMENT_DIR": str(measured.directory),
        "TARE_TRACE": "1",
        "TARE_BUFFER": str(BUFFER),
        "TARE_DRAIN": str(preload.with_name("tared")),
    }
    settings = [f"{name}={value}" for name, value in variables.items()]
    ended = run(mpi, RANKS, ["env", *settings, killed, *PROGRAM])
    assert ended.returncode == 0
    assert_drained(measured)
    assert measured.info()["cost"]["drains"] > 0


def assert_drained(measured: Measurement) -> None:
    """No event is missing, and nothing is left behind."""
    assert_tared_ends(measured.directory)
    assert measured.calls()["MPI_Send"] == RANKS * SENDS
    sends = [row for row in measured.all_events() if row["function"] == "MPI_Send"]
    assert len(sends) == RANKS * SENDS
    assert left_in_memory(measured.directory) == []
    assert sorted(path.suffix for path in measured.directory.iterdir()) == [".json", ".tare"]
