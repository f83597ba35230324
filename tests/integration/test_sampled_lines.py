"""Messages that come by a line of compiled code: exactly its own are sampled."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c
from measured import measure
from on_mpi import both_debian, on_openmpi

COUNT = 10

# Every line that sends has a length of its own; those of one message need no buffer of the library's.
PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
void in_library(void* buffer, int rank);
static char buffer[64];
static inline __attribute__((always_inline)) void inlined(int bytes, int rank) {
  if (rank == 0) MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD); // inlined
  else MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static __attribute__((noinline)) void exchange(int rank) {
  if (rank == 0) MPI_Send(buffer, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD); // first
  if (rank == 0) MPI_Send(buffer, 2, MPI_BYTE, 1, 0, MPI_COMM_WORLD); // second
  for (int i = 0; i < 2 && rank == 1; ++i)
    MPI_Recv(buffer, 2, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  inlined(3, rank); // outer
  inlined(4, rank);
  in_library(buffer, rank); // library call
  __asm__ volatile(""); /* a last call may become a jump, which leaves no frame */
}
int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < atoi(argv[1]); ++i) exchange(rank); // main
  MPI_Finalize();
  return 0;
}
"""

LIBRARY = """
#include <mpi.h>
void in_library(void* buffer, int rank) {
  if (rank == 0) MPI_Send(buffer, 5, MPI_BYTE, 1, 0, MPI_COMM_WORLD); // in library
  else MPI_Recv(buffer, 5, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) MPI_Send(buffer, 6, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  else MPI_Recv(buffer, 6, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  __asm__ volatile("");
}
"""


def line_of(text: str, word: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.endswith(f"// {word}"))


@pytest.fixture
def program(mpi: MpiEnvironment, tmp_path: Path) -> Path:
    """lines.c of two folders, and libsent.so of sent.c; optimised."""
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "lines.c").write_text(PROGRAM)
    (folder / "sent.c").write_text(LIBRARY)
    compile_c(mpi, [folder / "sent.c"], tmp_path / "libsent.so", "-O2", "-shared", "-fPIC")
    found = [f"-L{tmp_path}", f"-Wl,-rpath,{tmp_path}", "-lsent"]
    return compile_c(mpi, [folder / "lines.c"], tmp_path / "lines", "-O2", *found)


def sampled(
    mpi: MpiEnvironment, tare: Path, program: Path, name: str, spec: str
) -> tuple[Any, dict[int, int]]:
    """What was sampled, and how many messages of each length."""
    measured = measure(tare, mpi, 2, [program, str(COUNT)], program.parent / name, "--sample", spec)
    assert measured.ended.returncode == 0, measured.ended.stderr
    found = measured._read("samples", "tare.samples/1", "--limit", "0")
    assert found["messages"]["sent"] == 6 * COUNT
    return found, {row["bytes"]: row["count"] for row in found["rows"]}


@both_debian
def test_exactly_the_messages_of_a_line(mpi: MpiEnvironment, tare: Path, program: Path) -> None:
    line = line_of(PROGRAM, "inlined")
    found, lengths = sampled(mpi, tare, program, "inlined", f"random:1,site=lines.c:{line}")
    assert lengths == {3: COUNT, 4: COUNT}
    assert found["messages"]["chosen"] == found["messages"]["paired"] == 2 * COUNT
    assert {row["send_line"] for row in found["rows"]} == {line}
    second, outer, in_library = (
        line_of(PROGRAM, "second"),
        line_of(PROGRAM, "outer"),
        line_of(LIBRARY, "in library"),
    )
    sites = f"site=src/lines.c:{second},site=lines.c:{outer},site=sent.c:{in_library}"
    _, lengths = sampled(mpi, tare, program, "three", f"random:1,stat,{sites}")
    assert lengths == {2: COUNT, 3: COUNT, 5: COUNT}


def printed(tare: Path, spec: str, *command: Path | str) -> subprocess.CompletedProcess[str]:
    words = [tare, "run", "--sample", spec, "--print-sample", "--", *command]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


@on_openmpi
def test_addresses_are_printed_and_do_the_same(mpi: MpiEnvironment, tare: Path, program: Path) -> None:
    spec = f"random:1,site=lines.c:{line_of(PROGRAM, 'library call')},stat,site=a.py:3"
    done = printed(tare, spec, "mpiexec", program)
    assert (done.returncode, done.stderr) == (0, "")
    addresses = done.stdout.strip()
    assert "lines.c" not in addresses and "site=lines+0x" in addresses
    assert addresses.startswith("random:1,") and addresses.endswith(",stat,site=a.py:3")
    found, lengths = sampled(mpi, tare, program, "again", addresses)
    assert found["spec"] == addresses
    assert lengths == {5: COUNT, 6: COUNT}


@on_openmpi
def test_what_has_no_code_is_said_in_one_line(mpi: MpiEnvironment, tare: Path, program: Path) -> None:
    for spec, command, message in (
        ("site=lines.c:2", [program], "no code of that line is in lines; the nearest lines with code: "),
        (
            "site=other.c:2",
            [program],
            "no debug information of such a file is in lines, libsent.so: compile with -g",
        ),
        ("site=ines.c:8", [program], "no debug information of such a file"),
        ("site=lines.c:8", ["no-such-program"], "no word of the command is a compiled program"),
    ):
        done = printed(tare, f"random:1,{spec}", *command)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert message in done.stderr
