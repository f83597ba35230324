"""tare with tools of MPI's profiling interface that wrap every function, below it and above it: the program
and the tool get what they get without tare, and tare sees every call, once."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from environments import MpiEnvironment, all_environments, compile_c, compile_fortran, mpich4, openmpi4, run
from expectations import symbols_of
from measured import PROGRAMS, Measurement
from on_mpi import both_debian
from other_tools import counted, functions_of, tool
from test_timing import library, records

RANKS = 2
BEGINS = {"MPI_Init", "MPI_Init_thread"}
TRIED = [openmpi4(), mpich4()]
# How often these are called depends on chance.
POLLS = {
    "MPI_Test",
    "MPI_Testall",
    "MPI_Testany",
    "MPI_Testsome",
    "MPI_Waitsome",
    "MPI_Iprobe",
    "MPI_Improbe",
}
OMITTED: dict[str, set[str]] = {
    "all": set(),
    "without MPI_Init": BEGINS,
    "with MPI_Init_thread alone": {"MPI_Init"},
}
# Which functions the tool has, how it is compiled, and where it is.
CASES = [
    *(("all", level, place) for level in ("-O2", "-O0") for place in ("linked", "behind", "before")),
    *(("without MPI_Init", "-O2", place) for place in ("linked", "behind", "before")),
    ("with MPI_Init_thread alone", "-O2", "linked"),
    ("with MPI_Init_thread alone", "-O2", "behind"),
    ("MPI_Comm_rank", "-O2", "linked"),
    ("MPI_Barrier", "-O2", "behind"),
]


@dataclass(frozen=True)
class Seen:
    """What a run printed, and what its tools have counted."""

    printed: str
    counted: Counter[str]


@pytest.fixture(scope="module")
def programs(mpi: MpiEnvironment, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    out = tmp_path_factory.mktemp(f"programs-{mpi.name}")
    return [compile_c(mpi, [PROGRAMS / f"{name}.c"], out / name) for name in ("c_calls", "nested_calls")]


def names(mpi: MpiEnvironment, subset: str) -> frozenset[str]:
    return functions_of(mpi.library) - OMITTED[subset] if subset in OMITTED else frozenset({subset})


def libtare(tare: Path) -> Path:
    return library(tare)[1].with_name("libtare.so")


def preloading(*libraries: Path) -> list[Path | str]:
    return ["env", f"LD_PRELOAD={os.pathsep.join(map(str, libraries))}"]


def seen(
    mpi: MpiEnvironment, program: Sequence[Path | str], out: Path, prefix: Sequence[Path | str] = ()
) -> Seen:
    """Runs the program; the tools in it write to `out`."""
    out.mkdir()
    ended = run(mpi, RANKS, program, prefix=prefix, TOOL_OUT=str(out))
    assert ended.returncode == 0, ended.stderr
    assert "tare:" not in ended.stderr
    return Seen(ended.stdout, counted(out))


def measured(
    tare: Path, mpi: MpiEnvironment, program: Sequence[Path | str], out: Path, *options: str
) -> tuple[Seen, Measurement]:
    """The same under tare."""
    prefix: list[Path | str] = [tare, "run", "--quiet", *options, "-o", out / "run", "--"]
    under = seen(mpi, program, out / "under", prefix)
    ended = subprocess.CompletedProcess(list(map(str, program)), 0, under.printed, "")
    return under, Measurement(tare, out / "run", ended)


def assert_agree(with_tare: Seen, run_of_tare: Measurement, program: Path) -> None:
    """What tools and tare have counted, of what the program calls. Libraries call functions by their public
    names, too: of those, tools see calls that are part of one that tare has recorded."""
    calls = run_of_tare.calls()
    made = symbols_of(program)
    seen_by_tools = {name: count for name, count in with_tare.counted.items() if name.lower() in made}
    assert {name: calls.get(name) for name in seen_by_tools} == seen_by_tools


def without_polls(calls: Counter[str]) -> Counter[str]:
    return Counter({name: count for name, count in calls.items() if name not in POLLS})


def relinked(mpi: MpiEnvironment, program: Path, tools: Sequence[Path], out: Path) -> Path:
    """The program, linked with tools before MPI."""
    flags = ["-Wl,--no-as-needed", *map(str, tools), f"-Wl,-rpath,{tools[0].parent}"]
    return compile_c(mpi, [PROGRAMS / f"{program.name}.c"], out, *flags)


@pytest.mark.parametrize(
    ("mpi", "subset", "level", "place"),
    [
        pytest.param(
            env, *case, id=f"{env.name}-{' '.join(case)}", marks=() if is_quick else pytest.mark.long
        )
        for env in all_environments()
        for case in CASES
        # All cases on one MPI; on the others, where tools come to lie.
        for is_quick in [env == TRIED[0] or case in CASES[: 3 if env in TRIED else 2]]
    ],
    indirect=["mpi"],
)
def test_every_function(
    mpi: MpiEnvironment, subset: str, level: str, place: str, programs: list[Path], tare: Path, tmp_path: Path
) -> None:
    other = tool(names(mpi, subset), tmp_path / "libother.so", level)
    for program in programs:
        out = tmp_path / program.name
        out.mkdir()
        if place == "linked":
            bare: list[Path | str] = [relinked(mpi, program, [other], out / program.name)]
            under = bare
        else:
            order = [libtare(tare), other] if place == "behind" else [other, libtare(tare)]
            bare = [*preloading(other), program]
            under = [*preloading(*order), program]
        alone = seen(mpi, bare, out / "bare")
        with_tare, run_of_tare = measured(tare, mpi, under, out)
        assert with_tare.printed == alone.printed == "ok\n"
        assert without_polls(with_tare.counted) == without_polls(alone.counted)
        assert_agree(with_tare, run_of_tare, program)


@both_debian
@pytest.mark.parametrize(
    "options",
    [
        ("--budget", "5%", "--trace"),
        ("--weigh",),
        ("--trace", "--sample", "random:0.5"),
        ("--trace", "--drain", "tared"),
        ("--time-lookups",),
    ],
    ids=lambda options: " ".join(options),
)
def test_in_each_mode(
    options: tuple[str, ...], mpi: MpiEnvironment, programs: list[Path], tare: Path, tmp_path: Path
) -> None:
    other = tool(functions_of(mpi.library), tmp_path / "libother.so")
    program = relinked(mpi, programs[1], [other], tmp_path / "nested_calls")
    alone = seen(mpi, [program], tmp_path / "bare")
    with_tare, run_of_tare = measured(tare, mpi, [program], tmp_path, *options)
    assert with_tare == alone
    if "--budget" not in options and "--weigh" not in options:
        assert_agree(with_tare, run_of_tare, program)
    else:
        run_of_tare.info()


@both_debian
def test_two_tools(mpi: MpiEnvironment, programs: list[Path], tare: Path, tmp_path: Path) -> None:
    """Two below, of which the first hides the other; then one above and one below."""
    all_of_them = functions_of(mpi.library)
    first = tool(all_of_them, tmp_path / "libfirst.so")
    second = tool(all_of_them, tmp_path / "libsecond.so", "-O2", "SECOND_OUT")
    (tmp_path / "second").mkdir()
    program = relinked(mpi, programs[0], [first, second], tmp_path / "c_calls")
    behind: list[Path | str] = ["env", f"SECOND_OUT={tmp_path / 'second'}"]
    alone = seen(mpi, [*behind, program], tmp_path / "bare")
    with_tare, run_of_tare = measured(tare, mpi, [*behind, program], tmp_path)
    assert without_polls(with_tare.counted) == without_polls(alone.counted)
    assert_agree(with_tare, run_of_tare, program)
    assert not counted(tmp_path / "second")

    (tmp_path / "around").mkdir()
    around: list[Path | str] = [*behind, *preloading(first, libtare(tare), second), programs[0]]
    both, run_of_tare = measured(tare, mpi, around, tmp_path / "around")
    assert without_polls(both.counted) == without_polls(alone.counted)
    assert_agree(both, run_of_tare, programs[0])
    assert not counted(tmp_path / "second")


@both_debian
def test_fortran(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """Open MPI's functions for Fortran call PMPI_X, which no tool in C sees; MPICH's call MPI_X."""
    other = tool(functions_of(mpi.library), tmp_path / "libother.so")
    flags = ["-DUSE_MPI", "-ffree-line-length-none", "-fallow-argument-mismatch"]
    linking = ["-Wl,--no-as-needed", str(other), f"-Wl,-rpath,{tmp_path}"]
    program = compile_fortran(mpi, [PROGRAMS / "fortran_calls.F90"], tmp_path / "calls", *flags, *linking)
    alone = seen(mpi, [program], tmp_path / "bare")
    with_tare, run_of_tare = measured(tare, mpi, [program], tmp_path)
    assert with_tare.printed == alone.printed == "ok\n"
    assert without_polls(with_tare.counted) == without_polls(alone.counted)
    assert alone.counted["MPI_Send"] == (0 if mpi.family == "openmpi" else run_of_tare.calls()["MPI_Send"])


@both_debian
def test_libraries_that_measure_nothing(
    mpi: MpiEnvironment, programs: list[Path], tare: Path, tmp_path: Path
) -> None:
    """The twin that only forwards; the one that times MPI_Init and MPI_Finalize, alone and above tare."""
    other = tool(functions_of(mpi.library), tmp_path / "libother.so")
    program = relinked(mpi, programs[1], [other], tmp_path / "nested_calls")
    alone = seen(mpi, [program], tmp_path / "bare")
    forward = libtare(tare).with_name("libtare-forward.so")
    assert seen(mpi, [*preloading(forward), program], tmp_path / "forwarded") == alone
    under_tare: list[Path | str] = [tare, "run", "--quiet", "-o", tmp_path / "run", "--"]
    for prefix in ([], under_tare):
        out = tmp_path / f"timed-{len(prefix)}"
        out.mkdir()
        times: list[Path | str] = ["env", f"TARE_TIMING={out / 'timing'}", *library(tare), program]
        assert seen(mpi, times, out / "seen", prefix) == alone
        assert [(each["inits"], each["finalizes"]) for each in records(out)] == [(1, 1)] * RANKS


WITHOUT_END = """
/* The same function, but the compiler does not know. */
int again(void *) __asm__("MPI_Barrier");
int MPI_Barrier(void *comm)
{
    int failed = again(comm);
    %s
    return failed;
}
"""


@pytest.mark.parametrize("kept", ['__asm__ volatile("");', ""], ids=["call", "jump"])
def test_recursion_is_ended(kept: str, tare: Path, tmp_path: Path) -> None:
    """A tool that calls itself by its public name. Bare, this ends in a full stack or not at all."""
    mpi = openmpi4()
    (tmp_path / "again.c").write_text(WITHOUT_END % kept)
    compiled: list[Path | str] = [
        "gcc",
        "-O2",
        "-shared",
        "-fPIC",
        tmp_path / "again.c",
        "-o",
        tmp_path / "libagain.so",
    ]
    subprocess.run(compiled, check=True)
    program = compile_c(mpi, [PROGRAMS / "chained.c"], tmp_path / "chained")
    prefix: list[Path | str] = [tare, "run", "--quiet", "-o", tmp_path / "run", "--"]
    command: list[Path | str] = [*preloading(libtare(tare), tmp_path / "libagain.so"), program]
    ended = run(mpi, 1, command, prefix=prefix)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("MPI_Barrier of another tool in this program leads to MPI_Barrier again") == 1
    calls = Measurement(tare, tmp_path / "run", ended).calls()
    assert (calls["MPI_Barrier"], calls["MPI_Send"]) == (3, 5)
