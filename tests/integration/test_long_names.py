"""Paths as long as the system allows."""

from __future__ import annotations

import os
from pathlib import Path

from environments import MpiEnvironment, compile_c, openmpi4
from measured import PROGRAMS, measure
from on_mpi import both_debian


# Package managers put a program below directories with long names.
@both_debian
def test_an_executable_below_long_directories(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    place = tmp_path.joinpath(*("d" * 200 for _ in range(8)))
    place.mkdir(parents=True)
    program = compile_c(mpi, [PROGRAMS / "come_and_go.c"], place / "program", "-g")
    assert len(os.fspath(program)) > 1600
    measured = measure(tare, mpi, 2, [program, "1"], tmp_path / "run")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    (reduction,) = (row for row in measured.profile("site") if row["function"] == "MPI_Allreduce")
    assert (reduction["caller"], Path(reduction["file"]).name) == ("afterwards", "come_and_go.c")
    assert {rank["executable"] for rank in measured.info()["ranks"]} == {os.fspath(program)}


def test_a_run_directory_below_long_directories(tare: Path, tmp_path: Path) -> None:
    place = tmp_path.joinpath(*("r" * 200 for _ in range(16)))
    place.mkdir(parents=True)
    mpi = openmpi4()
    program = compile_c(mpi, [PROGRAMS / "come_and_go.c"], tmp_path / "program", "-g")
    rounds = 2000
    # The buffer is written several times.
    options = ["--trace", "--buffer", "64K"]
    measured = measure(tare, mpi, 2, [program, str(rounds)], place / "run", *options)
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    assert len(measured.events("--function", "MPI_Barrier")) == 2 * rounds


def test_a_path_that_is_too_long(tare: Path, tmp_path: Path) -> None:
    place = tmp_path.joinpath(*("r" * 200 for _ in range(18)))
    place.mkdir(parents=True)
    program = compile_c(openmpi4(), [PROGRAMS / "come_and_go.c"], tmp_path / "program")
    measured = measure(tare, openmpi4(), 1, [program, "1"], place / ("r" * 200))
    assert measured.ended.returncode == 2
    assert "the path of the run directory is too long (3,700 bytes at most)" in measured.ended.stderr
    assert not (place / ("r" * 200)).exists()
