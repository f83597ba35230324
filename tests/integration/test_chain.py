"""tare and another tool of MPI's profiling interface, one above the other: both see every call, once."""

from __future__ import annotations

import os
from pathlib import Path

from environments import MpiEnvironment, compile_c, run
from measured import PROGRAMS, Measurement

SEEN = "other tool: 5 sends, 3 barriers, 7 ranks"
CALLS = {"MPI_Send": 5, "MPI_Barrier": 3, "MPI_Comm_rank": 7, "MPI_Init": 1, "MPI_Finalize": 1}


def measure_both(
    mpi: MpiEnvironment, tare: Path, out: Path, *flags: str, preload: Path | None = None
) -> None:
    program = compile_c(mpi, [PROGRAMS / "chained.c"], out / "chained", *flags)
    directory = out / "run"
    prefix: list[Path | str] = [tare, "run", "--quiet", "-o", directory, "--"]
    if preload is not None:
        prefix += ["env", f"LD_PRELOAD={preload}"]
    ended = run(mpi, 1, [program], prefix=prefix)
    assert ended.returncode == 0, ended.stderr
    assert SEEN in ended.stdout
    calls = Measurement(tare, directory, ended).calls()
    assert {name: calls.get(name) for name in CALLS} == CALLS


def other_tool(mpi: MpiEnvironment, out: Path) -> Path:
    return compile_c(mpi, [PROGRAMS / "other_tool.c"], out / "libother.so", "-shared", "-fPIC")


def test_tool_linked_below(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    tool = other_tool(mpi, tmp_path)
    measure_both(mpi, tare, tmp_path, "-Wl,--no-as-needed", str(tool), f"-Wl,-rpath,{tool.parent}")


def test_tool_preloaded_above(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    tool = other_tool(mpi, tmp_path)
    (library,) = tare.parent.parent.glob("lib/python3.*/site-packages/tare/lib/libtare.so")
    measure_both(mpi, tare, tmp_path, preload=Path(os.pathsep.join([str(tool), str(library)])))
