"""Programs that reach MPI through dlopen and dlsym are seen, and learn what they would learn without tare."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from environments import GCC, PYTHON, MpiEnvironment, all_environments, compile_c, run
from measured import PROGRAMS, Measurement, measure
from on_mpi import both_debian

RANKS = 2
BARRIERS, ASKED = 5, 3  # as in dlopened.c
ROUNDS = 7  # as in ctypes_calls.py
# The last is the library of MPI's own binary interface.
with_pypi = pytest.mark.parametrize(
    "mpi",
    [env for env in all_environments() if env.name.startswith("debian-") or env.name == "pypi-mpich-abi"],
    ids=lambda env: env.name,
    indirect=True,
)


def shared(mpi: MpiEnvironment, name: str, out: Path) -> Path:
    return compile_c(mpi, [PROGRAMS / f"{name}.c"], out / f"lib{name}.so", "-shared", "-fPIC")


def without_tare(mpi: MpiEnvironment, argv: list[Path | str]) -> None:
    ended = run(mpi, 1, argv)
    assert ended.returncode == 0, f"the program itself is wrong: {ended.stderr}"


@both_debian
@pytest.mark.parametrize("mode", ["handle", "default", "plugin", "other"])
def test_c(mode: str, mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "dlopened.c"], tmp_path / "dlopened", "-Wl,--as-needed")
    argv: list[Path | str] = [program, mode, mpi.library]
    if mode == "plugin":
        argv.append(shared(mpi, "dlopened_plugin", tmp_path))
    if mode == "other":
        argv.append(tmp_path / "libother.so")
        source, library = PROGRAMS / "dlopened_other.c", tmp_path / "libother.so"
        subprocess.run([GCC, "-shared", "-fPIC", "-o", library, source], check=True)
    without_tare(mpi, argv)
    measured = measure(tare, mpi, RANKS, argv, tmp_path / "run")
    assert measured.ended.returncode == 0, measured.ended.stderr
    # MPI_Initialized may be called before it is known that this is the library that is used.
    calls = measured.calls()
    assert calls.pop("MPI_Initialized") >= RANKS
    assert calls == {
        "MPI_Init": RANKS,
        "MPI_Comm_rank": RANKS * ASKED,
        "MPI_Barrier": RANKS * BARRIERS,
        "MPI_Finalize": RANKS,
    }
    assert [(row["rank"], row["state"]) for row in measured.info()["ranks"]] == [
        (rank, "finished") for rank in range(RANKS)
    ]


@with_pypi
def test_ctypes(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    argv: list[Path | str] = [PYTHON, PROGRAMS / "ctypes_calls.py", mpi.library]
    measured = measure(tare, mpi, RANKS, argv, tmp_path / "run", "--trace")
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert measured.calls() == {
        "MPI_Init": RANKS,
        "MPI_Comm_rank": RANKS,
        "MPI_Comm_size": RANKS,
        "MPI_Barrier": RANKS * BARRIERS,
        "MPI_Sendrecv": RANKS * ROUNDS,
        "MPI_Finalize": RANKS,
    }
    sent = [row for row in measured.events() if row["function"] == "MPI_Sendrecv"]
    assert [row["bytes"] for row in sent] == [5] * (RANKS * ROUNDS)


@both_debian
@pytest.mark.parametrize("place", ["above", "in the program", "below"])
def test_tool_that_asks_for_the_next(place: str, mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """The calls that a tool passes on by RTLD_NEXT are seen, once, wherever it stands."""
    sources = [PROGRAMS / "chained.c"] + ([PROGRAMS / "next_tool.c"] if place == "in the program" else [])
    flags: list[str] = []
    prefix: list[Path | str] = [tare, "run", "--quiet", "-o", tmp_path / "run", "--"]
    if place != "in the program":
        tool = shared(mpi, "next_tool", tmp_path)
        (library,) = tare.parent.parent.glob("lib/python3.*/site-packages/tare/lib/libtare.so")
        if place == "above":
            prefix += ["env", f"LD_PRELOAD={tool}{os.pathsep}{library}"]
        else:
            flags = ["-Wl,--no-as-needed", str(tool), f"-Wl,-rpath,{tool.parent}"]
    program = compile_c(mpi, sources, tmp_path / "chained", *flags)
    ended = run(mpi, 1, [program], prefix=prefix)
    assert ended.returncode == 0, ended.stderr
    assert "next tool: 3 barriers" in ended.stdout
    calls = Measurement(tare, tmp_path / "run", ended).calls()
    expected = {"MPI_Send": 5, "MPI_Barrier": 3, "MPI_Comm_rank": 7, "MPI_Init": 1, "MPI_Finalize": 1}
    assert {name: calls.get(name) for name in expected} == expected
