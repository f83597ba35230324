"""Programs that change their root: the paths of the run lead nowhere there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, left_in_memory, measure
from on_mpi import both_families
from planted import what_is_said

RANKS, CALLS = 2, 20_000
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="changes the root")


@pytest.fixture
def program(mpi: MpiEnvironment, tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return compile_c(mpi, [PROGRAMS / "chroot.c"], tmp_path / "chroot")


@both_families
def test_the_trace_goes_on(mpi: MpiEnvironment, program: Path, tare: Path, tmp_path: Path) -> None:
    arguments: list[Path | str] = [program, tmp_path / "root", str(CALLS)]
    measured = measure(tare, mpi, RANKS, arguments, tmp_path / "run", "--trace", "--buffer", "64K")
    assert measured.ended.returncode == 0
    assert "tare: " not in measured.ended.stderr  # MPI itself may miss its files
    barriers = sum(row["function"] == "MPI_Barrier" for row in measured.events())
    assert barriers == measured.calls()["MPI_Barrier"] == RANKS * (CALLS + 1)
    for row in measured.info()["ranks"]:
        assert row["trace"]["dropped"] == 0
        assert row["cost"]["flushes"] > 0
    assert left_in_memory(measured.directory) == []


@both_families
def test_descriptors_belong_to_the_program(
    mpi: MpiEnvironment, program: Path, tare: Path, tmp_path: Path
) -> None:
    """It may close those of tare, and open its own with their numbers: nothing is written there."""
    arguments: list[Path | str] = [program, tmp_path / "root", str(CALLS), "close"]
    measured = measure(tare, mpi, RANKS, arguments, tmp_path / "run", "--trace", "--buffer", "64K")
    assert measured.ended.returncode == 0
    (said,) = (line for line in measured.ended.stderr.splitlines() if line.startswith("tare: "))
    assert "they could not be written to" in said  # MPI itself may miss its files
    assert list((tmp_path / "root").glob("own-*")), "it has found descriptors"
    assert all(path.stat().st_size == 0 for path in (tmp_path / "root").glob("own-*"))
    assert measured.calls()["MPI_Barrier"] == RANKS * (CALLS + 1)
    traces = [row["trace"] for row in measured.info()["ranks"]]
    assert all(trace["kept_newest"] and trace["overwritten_bytes"] for trace in traces)
    assert "newest events alone" not in " ".join(what_is_said(measured)["sentences"]), "it has the begin"
