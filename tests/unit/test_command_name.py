from __future__ import annotations

from pathlib import Path

import pytest
from tare.command_name import arguments, program_name


@pytest.fixture(autouse=True)
def applications(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("app", "2d_heat"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("./app", "app"),
        ("mpiexec -n 4 ./app 12", "app"),
        ("mpirun --hostfile hosts -np 2 --bind-to core -x PATH ./app", "app"),
        ("mpiexec.openmpi --mca btl self,vader -n 2 ./2d_heat", "2d_heat"),
        ("mpiexec -genv OMP_NUM_THREADS 2 -n 1 ./app : -n 1 ./2d_heat", "app"),
        ("mpiexec -launcher ssh -launcher-exec /bin/sh -n 2 ./app", "app"),
        ("srun -N 2 -n 8 --mpi=pmix -p short ./app", "app"),
        ("srun -n 8 ./not_built_yet --grid 3", "not_built_yet"),
        ("env OMP_NUM_THREADS=1 timeout 10s ./app", "app"),
        ("mpiexec -n 2 numactl -l ./app", "app"),
        ("mpiexec -n 2 python3 -u solve.py --steps 3", "solve"),
        ("python3.11 -m mpi4py.bench pingpong", "mpi4py.bench"),
        ("python -c pass", "python"),
        ("bash run-all.sh", "run-all"),
        ("mpiexec", "mpiexec"),
        ("./app/../../odd:name", "odd_name"),
        ("...", "run"),
    ],
)
def test_name_is_the_program_behind_launchers(command: str, name: str) -> None:
    assert program_name(command.split()) == name


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("mpiexec -n 4 ./app 12 --fast", "12 --fast"),
        ("./app", ""),
        ("mpiexec -n 2 python3 -u solve.py --steps 3", "--steps 3"),
        ("python3.11 -m mpi4py.bench pingpong", "pingpong"),
        ("python -c pass", "-c pass"),
        ("mpiexec", ""),
    ],
)
def test_arguments_are_the_words_behind_it(command: str, found: str) -> None:
    assert arguments(command.split()) == found.split()
