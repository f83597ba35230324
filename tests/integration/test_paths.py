"""Call paths: which lines of the program asked for a call, whatever lies between."""

from __future__ import annotations

import csv
import io
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from environments import ROOT, MpiEnvironment, all_environments, compile_c, openmpi4
from measured import PROGRAMS, Measurement, measure

LINES = {
    line.split("/* ")[1].split(" */")[0]: number
    for number, line in enumerate((PROGRAMS / "layers.c").read_text().splitlines(), 1)
    if "; /* " in line
}
SOLVER_FRAMES = 1 + 1 + 7 + 1 + 1  # solver_MPI_Send, exchange, relax, cycle, solver_solve


@pytest.fixture
def one_mpi() -> MpiEnvironment:
    """An MPI for what does not depend on the MPI."""
    return next(env for env in all_environments() if not env.missing())


def build(mpi: MpiEnvironment, out: Path, *flags: str) -> Path:
    of_library = [flag for flag in flags if flag != "-no-pie"]
    solver = [PROGRAMS / "solver.c"]
    library = compile_c(mpi, solver, out / "libsolver.so", "-shared", "-fPIC", "-g", *of_library)
    link = [str(library), f"-Wl,-rpath,{out}"]
    return compile_c(mpi, [PROGRAMS / "layers.c"], out / "layers", "-g", *flags, *link)


def sends(measured: Measurement) -> list[dict[str, Any]]:
    assert measured.ended.returncode == 0, measured.ended.stderr
    return [row for row in measured.profile("site") if row["function"] == "MPI_Send"]


def test_two_lines_that_call_a_solver_are_two_sites(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    check_sites(measure(tare, mpi, 1, [build(mpi, tmp_path, "-O2")], tmp_path / "run", "--trace"))


@pytest.mark.parametrize("flags", [("-O0",), ("-O2", "-fno-omit-frame-pointer"), ("-O2", "-no-pie")])
def test_however_it_is_compiled(
    flags: tuple[str, ...], one_mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    program = build(one_mpi, tmp_path, *flags)
    check_sites(measure(tare, one_mpi, 1, [program], tmp_path / "run", "--trace"))


def check_sites(measured: Measurement) -> None:
    rows = sends(measured)
    calls = Counter({(row["line"], len(row["path"])): row["calls"] for row in rows})
    assert calls[LINES["first solve"], 5] == 5
    assert calls[LINES["second solve"], 5] == 7
    assert calls[LINES["setup"], 4] == 1  # and main() is the fourth
    assert sum(row["calls"] for row in rows if row["line"] == LINES["direct"]) == 2
    assert sum(row["calls"] for row in rows if row["line"] == LINES["called back"]) == 1

    (solve,) = [row for row in rows if row["line"] == LINES["first solve"]]
    assert [frame["caller"] for frame in solve["path"]] == [
        "solver_MPI_Send", "exchange", "relax", "relax", "twice",
    ]  # fmt: skip
    assert (solve["path_shown"], solve["path_gap"], solve["path_cut"]) == (4, True, False)
    assert Path(solve["object"]).name == "layers"
    assert Path(solve["path"][0]["object"]).name == "libsolver.so"

    direct = [[frame["line"] for frame in row["path"]] for row in rows if row["line"] == LINES["direct"]]
    assert sorted(direct) == [[LINES["direct"], LINES[f"{which} direct"]] for which in ("first", "second")]
    (back,) = [row for row in rows if row["line"] == LINES["called back"]]
    assert [frame["caller"] for frame in back["path"]] == ["called_back", "solver_call_back", "main"]

    events = [row for row in measured.events("--paths") if row["function"] == "MPI_Send"]
    assert Counter(row["line"] for row in events) == Counter(
        {LINES["direct"]: 2, LINES["setup"]: 1, LINES["first solve"]: 5, LINES["second solve"]: 7,
         LINES["called back"]: 1}
    )  # fmt: skip
    assert [row["path"] for row in events if row["line"] == LINES["first solve"]] == [solve["path"]] * 5


def test_a_function_that_the_c_library_calls(one_mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    measured = measure(tare, one_mpi, 1, [build(one_mpi, tmp_path, "-O2")], tmp_path / "run")
    (row,) = [row for row in measured.profile("site") if row["function"] == "MPI_Probe"]
    assert row["line"] == LINES["compare"]
    assert row["path"][-1]["line"] == LINES["sort"]


@pytest.mark.parametrize(("frames", "of_solve"), [(1, 1), (2, 3), (8, 9), (SOLVER_FRAMES, 12), (32, 13)])
def test_so_many_frames_as_wished(
    frames: int, of_solve: int, one_mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    program = build(one_mpi, tmp_path, "-O2")
    measured = measure(tare, one_mpi, 1, [program], tmp_path / "run", "--stack", str(frames))
    assert measured.info()["options"]["stack"] == frames
    rows = [row for row in sends(measured) if Path(row["path"][0]["object"]).name == "libsolver.so"]
    if frames == 1:  # one line of the library
        assert [(row["caller"], row["calls"]) for row in rows] == [("solver_MPI_Send", 13)]
        return
    solves = [row for row in rows if row["line"] in (LINES["first solve"], LINES["second solve"])]
    assert sorted(row["calls"] for row in solves) == [5, 7]
    assert [len(row["path"]) for row in solves] == [of_solve] * 2
    assert all(row["path_gap"] == (frames < SOLVER_FRAMES) for row in solves)


@pytest.mark.parametrize("frames", ["0", "33", "many"])
def test_no_other_number_of_frames(frames: str, tare: Path) -> None:
    done = subprocess.run([tare, "run", "--stack", frames, "--", "true"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "--stack" in done.stderr


def test_code_without_unwind_tables_has_its_return_address(
    one_mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    program = build(one_mpi, tmp_path, "-O2", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
    measured = measure(tare, one_mpi, 1, [program], tmp_path / "run")
    rows = sends(measured)
    assert sum(row["calls"] for row in rows) == 16
    assert {len(row["path"]) for row in rows} == {1}
    assert all(row["path_cut"] for row in rows)
    assert {row["line"] for row in rows} >= {LINES["direct"], LINES["called back"]}


def test_as_people_see_it(one_mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    measured = measure(tare, one_mpi, 1, [build(one_mpi, tmp_path, "-O2")], tmp_path / "run")

    def profile(*options: str, columns: str = "80") -> str:
        command: list[Path | str] = [tare, "profile", measured.directory, "--function", "MPI_Send", *options]
        environment = {"PATH": "/usr/bin:/bin", "COLUMNS": columns}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        assert all(len(line) <= int(columns) for line in done.stdout.splitlines())
        return done.stdout

    for line in ("first solve", "second solve"):
        assert f"layers.c:{LINES[line]}" in profile()
    with_paths = profile("--paths").splitlines()
    at = next(n for n, line in enumerate(with_paths) if f"layers.c:{LINES['first solve']}" in line)
    assert [line.split()[0] for line in with_paths[at + 1 : at + 7]] == [
        "solver_MPI_Send", "exchange", "relax", "relax", "…", "twice",
    ]  # fmt: skip
    cells = [row["path"] for row in csv.DictReader(io.StringIO(profile("--csv", columns="10000")))]
    assert any(
        cell.startswith("solver_MPI_Send solver.c:") and "… < twice layers.c:" in cell for cell in cells
    )


def test_a_solver_of_debian_between(tare: Path, tmp_path: Path) -> None:
    """libHYPRE, built by others without frame pointers: the lines of the program that asked it are known."""
    mpi = openmpi4()
    program = ROOT / "build" / "release" / "workloads" / "diffusion"
    measured = measure(tare, mpi, 2, [program, "-n", "8", "8", "8", "-s", "1"], tmp_path / "run")
    assert measured.ended.returncode == 0, measured.ended.stderr
    source = (ROOT / "workloads" / "diffusion.c").read_text().splitlines()
    asking = {number: line for number, line in enumerate(source, 1) if "HYPRE_Struct" in line and "(" in line}
    rows = [row for row in measured.profile("site") if row["function"] in ("MPI_Isend", "MPI_Waitall")]
    assert {row["line"] for row in rows} <= set(asking)
    for function in ("HYPRE_StructSMGSetup", "HYPRE_StructSMGSolve"):
        assert any(function in asking[row["line"]] for row in rows)
    for row in rows:
        *between, first = row["path"]
        assert Path(first["file"]).name == "diffusion.c"
        assert between, "calls come from within the library"
        assert all("libHYPRE" in frame["object"] for frame in between)
