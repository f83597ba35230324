"""`tare where` on ranks that hang outside MPI, in files and in OpenMP (programs/hang_outside.c)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS
from on_mpi import both_families, on_mpich
from unfinished import hanging
from verbs import ask

SOURCE = PROGRAMS / "hang_outside.c"
SOURCES = ("--with", "files,openmp")
GNU, LLVM = ("-fopenmp",), ("-fopenmp=libomp",)


def line_of(text: str) -> int:
    [line] = [number for number, each in enumerate(SOURCE.read_text().splitlines(), 1) if text in each]
    return line


def text_of(tare: Path, run_dir: Path) -> str:
    done = ask(tare, "where", run_dir, check=True)
    return done.stdout


def of_rank(found: dict[str, Any], rank: int) -> list[dict[str, Any]]:
    """What the threads of a rank are in."""
    return [row for row in found["rows"] if row["rank"] == rank and row["inside"]]


@both_families
def test_a_rank_is_in_a_read(tare: Path, mpi: MpiEnvironment, tmp_path: Path) -> None:
    """Threads of the MPI library, of which Open MPI's read files, are not shown."""
    run_dir = tmp_path / "run"
    program = compile_c(mpi, [SOURCE], tmp_path / "hang_outside", "-g", "-fopenmp")
    with hanging(tare, mpi, [str(program), "read"], run_dir, *SOURCES) as found:
        [read] = [row for row in of_rank(found, 0) if row["thread"] == 0]
        assert (read["function"], read["caller"]) == ("read", "wait_for_a_byte (inlined in main)")
        assert read["line"] == line_of("read(ends[0]")
        assert read["used_file"].startswith("pipe:[")
        assert found["waited_for"] == [{"world": 0, "rank": 0}]
        text = text_of(tare, run_dir)
        assert f"rank 0  read of {read['used_file']}, for" in text
        assert "No deadlock: rank 1 waits for rank 0" in text


@pytest.mark.parametrize("openmp", [GNU, LLVM], ids=["gnu", "llvm"])
@on_mpich
def test_a_rank_is_in_a_barrier_of_its_threads(
    openmp: tuple[str, ...], tare: Path, mpi: MpiEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_dir = tmp_path / "run"
    if openmp == LLVM:
        monkeypatch.setenv("MPICH_CC", "clang-14")
    program = compile_c(mpi, [SOURCE], tmp_path / "hang_outside", "-g", *openmp)
    with hanging(tare, mpi, [str(program), "openmp"], run_dir, *SOURCES) as found:
        waiting, other = of_rank(found, 0)
        assert (waiting["thread"], waiting["function"]) == (0, "omp_barrier")
        assert waiting["line"] in (line_of("omp barrier"), line_of("pause()"))
        assert other["function"] == "omp_implicit_task"
        assert found["waited_for"] == [{"world": 0, "rank": 0}]
        text = text_of(tare, run_dir)
        assert "rank 0 thread 0  omp_barrier, for" in text
        assert f"rank 0 thread {other['thread']}  in omp_implicit_task, for" in text


@both_families
def test_idle_threads_hide_no_deadlock(tare: Path, mpi: MpiEnvironment, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    program = compile_c(mpi, [SOURCE], tmp_path / "hang_outside", "-g", "-fopenmp")
    with hanging(tare, mpi, [str(program), "deadlock"], run_dir, *SOURCES) as found:
        assert [[each["rank"] for each in cycle] for cycle in found["deadlock"]["cycles"]] == [[0, 1]]
        assert {row["thread"] for row in found["rows"]} > {0}
        text = text_of(tare, run_dir)
        assert "Deadlock: ranks 0-1 wait for each other" in text
        assert "not in MPI" not in text
