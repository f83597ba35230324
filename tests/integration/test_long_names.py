"""Paths as long as the system allows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from environments import MpiEnvironment, compile_c, mpich4, openmpi4
from measured import PROGRAMS, measure


# Package managers put a program below directories with long names.
@pytest.mark.parametrize("mpi", [openmpi4(), mpich4()], ids=["openmpi", "mpich"], indirect=True)
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
