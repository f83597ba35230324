"""`tare weigh`: tools of known cost, on real programs; and what they see of calls that are led past them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c, compile_fortran, mpich4, openmpi4
from measured import PROGRAMS
from patience import wait_until

PLANTED_NS = 100
PROCESSES = 4  # in which a program tells itself what a tool costs it
SAID = re.compile(
    r"^(\w+): inits (\d+) calls (\d+) paid ([\d.]+) unknown (\d+) open (\d+) made (\d+) freed (\d+)$", re.M
)


def planted(mpi: MpiEnvironment, out: Path, name: str = "planted", *more: str) -> Path:
    flags = ("-O2", "-shared", "-fPIC", f'-DNAME="{name}"', *more)
    return compile_c(mpi, [PROGRAMS / "planted_tool.c"], out / f"lib{name}.so", *flags)


def weigh(
    tare: Path, mpi: MpiEnvironment, ranks: int, program: list[str], *options: str | Path, **variables: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    command = [tare, "weigh", "--json", *options, "--", *mpi.mpiexec, "-n", str(ranks), *program]
    done = subprocess.run(
        command, env=os.environ | mpi.env | variables, capture_output=True, text=True, timeout=300
    )
    return done, json.loads(done.stdout) if done.returncode == 0 else {}


@pytest.fixture(scope="module", params=[openmpi4, mpich4], ids=["openmpi", "mpich"])
def either(request: pytest.FixtureRequest) -> MpiEnvironment:
    mpi: MpiEnvironment = request.param()
    return mpi


def told(mpi: MpiEnvironment, command: list[str | Path]) -> float:
    """What a tool costs a process of weighed.c, by the times that it took itself."""
    words = [str(word) for word in command]
    done = subprocess.run(words, env=os.environ | mpi.env, capture_output=True, text=True, timeout=60)
    (bare_ns, through_ns) = map(float, re.findall(r"^bare ([\d.]+) through ([\d.]+)$", done.stdout, re.M)[0])
    return through_ns / bare_ns - 1


@pytest.mark.alone
@pytest.mark.flaky(reruns=2)
@pytest.mark.parametrize("cost_ns", [0, PLANTED_NS])
def test_the_interval_covers_a_planted_cost(
    either: MpiEnvironment, tare: Path, tmp_path: Path, cost_ns: int
) -> None:
    program = compile_c(either, [PROGRAMS / "weighed.c"], tmp_path / "weighed", "-O2")
    tool = planted(either, tmp_path)
    done, found = weigh(
        tare, either, 1, [str(program), "alone", "2"], "--runs", "2", "--tool", tool, PLANTED_NS=str(cost_ns)
    )
    assert done.returncode == 0, done.stderr
    (row,) = found["tools"]
    assert row["overhead"] is not None, row["why"]
    # The tool takes some ns beside what it pays: the program tells what calls take through it, and past it.
    # That differs from one process to another, with where their memory lies.
    alone: list[str | Path] = [
        *either.mpiexec,
        "-n",
        "1",
        "env",
        f"LD_PRELOAD={tool}",
        f"PLANTED_NS={cost_ns}",
        program,
    ]
    truths = [told(either, [*alone, "alone", "0.1"]) for _ in range(PROCESSES)]
    assert row["low"] - 0.003 <= max(truths), (row, truths)
    assert row["high"] + 0.003 >= min(truths), (row, truths)
    assert (row["high"] - row["low"]) / 2 < 0.02


@pytest.mark.flaky(reruns=2)
def test_tools_see_whole_requests_and_all_objects(either: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(either, [PROGRAMS / "weighed.c"], tmp_path / "weighed", "-O2")
    first, second = planted(either, tmp_path, "first"), planted(either, tmp_path, "second")
    options = ("--runs", "1", "--tool", first, "--tool", "tare", "--tool", second)
    program_words = [str(program), "requests", "4"]
    done, found = weigh(tare, either, 2, program_words, *options, PLANTED_HOOK_MS="100")
    assert done.returncode == 0, done.stderr
    said = SAID.findall(done.stderr)
    assert sorted(name for name, *_ in said) == ["first", "first", "second", "second"]
    for _, inits, calls, _, unknown, opened, made, freed in said:
        assert (inits, unknown, opened) == ("1", "0", "0")
        assert int(calls) > 100  # so it was given some of the requests
        assert int(made) > 0 and made == freed
    assert len({made for *_, made, _ in said}) == 1
    assert [row["tool"] for row in found["tools"]] == [str(first), "tare", str(second)]
    assert all(row["spells"] > 0 for row in found["tools"]), found
    # Each tool is told what it takes itself, and not what the next one does, or the MPI library.
    hooks = {row["tool"]: row["hook_s"] for row in found["tools"]}
    assert all(0.2 <= hooks[str(tool)] < 0.29 for tool in (first, second)), hooks
    assert hooks["tare"] is None  # it calls the MPI library itself


@pytest.mark.flaky(reruns=2)
def test_tools_with_functions_for_fortran(either: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_fortran(either, [PROGRAMS / "weighed.f90"], tmp_path / "weighed")
    tool, without = planted(either, tmp_path, "planted", "-DFORTRAN"), planted(either, tmp_path, "without")
    options = ("--runs", "1", "--tool", tool, "--tool", without)
    done, found = weigh(tare, either, 2, [str(program)], *options, PLANTED_NS="500")
    assert done.returncode == 0, done.stderr
    for name, _, calls, _, unknown, opened, _, _ in SAID.findall(done.stderr):
        assert (unknown, opened) == ("0", "0")
        assert name == "without" or int(calls) > 100
    with_functions, others = found["tools"]
    assert with_functions["overhead"] is not None, with_functions["why"]
    assert with_functions["low"] > 0.05
    # Only MPICH's functions for Fortran call those of C that a tool has.
    assert others["overhead"] is not None, others["why"]
    # What the first tool takes in its function mpi_finalize_ is not known.
    assert (with_functions["hook_s"], others["hook_s"] is None) == (None, False)
    assert others["low"] > 0.05 if either.family == "mpich" else abs(others["overhead"]) < 0.05


@pytest.mark.flaky(reruns=2)
def test_what_cannot_be_weighed_is_said(tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    program = compile_c(mpi, [PROGRAMS / "weighed.c"], tmp_path / "weighed", "-O2")
    done, found = weigh(
        tare, mpi, 2, [str(program), "held", "4"], "--runs", "1", "--tool", planted(mpi, tmp_path)
    )
    assert done.returncode == 0, done.stderr
    (row,) = found["tools"]
    assert row["overhead"] is None
    assert row["why"] == "requests are under way wherever a spell could begin"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--tool TOOL says what is to be weighed"),
        (("--tool", "./missing.so"), "neither a tool"),
        (("--tool", "tare", "--tool", "tare-trace"), "one way at a time"),
        (("--tool", "eztrace"), "put before the program"),
    ],
)
def test_wrong_options(tare: Path, tmp_path: Path, options: tuple[str, ...], said: str) -> None:
    done = subprocess.run(
        [tare, "weigh", *options, "--", "true"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert said in done.stderr


def test_no_mpi_and_no_tool(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [tare, "weigh", "--runs", "1", "--tool", planted(mpi, tmp_path), "--", "true"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, "no process of this command called MPI" in done.stderr) == (1, True)
    (tmp_path / "empty.c").write_text("int nothing;\n")
    empty = compile_c(mpi, [tmp_path / "empty.c"], tmp_path / "libempty.so", "-shared", "-fPIC")
    program = compile_c(mpi, [PROGRAMS / "weighed.c"], tmp_path / "weighed", "-O2")
    done, _ = weigh(tare, mpi, 1, [str(program), "alone", "0.1"], "--runs", "1", "--tool", empty)
    assert (done.returncode, "has no function of MPI" in done.stderr) == (1, True)


def test_a_failing_command_is_not_weighed(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "weighed.c"], tmp_path / "weighed", "-O2")
    done, _ = weigh(tare, mpi, 1, [str(program)], "--runs", "1", "--tool", planted(mpi, tmp_path))
    assert (done.returncode, "the command failed" in done.stderr) == (2, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_program(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path, number: signal.Signals
) -> None:
    program = compile_c(mpi, [PROGRAMS / "weighed.c"], tmp_path / "weighed-and-ended", "-O2")
    command = [
        tare,
        "weigh",
        "--tool",
        planted(mpi, tmp_path),
        "--",
        *mpi.mpiexec,
        "-n",
        "1",
        program,
        "alone",
    ]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = os.environ | mpi.env | {"TMPDIR": str(scratch)}
    with subprocess.Popen(
        [str(word) for word in (*command, "100")], env=environment, stderr=subprocess.PIPE
    ) as weighing:
        wait_until(lambda: any(scratch.glob("tare-weigh-*/*.spells")))
        weighing.send_signal(number)
        weighing.communicate(timeout=60)
    assert weighing.returncode != 0
    wait_until(lambda: not processes_of(program))
    assert not any(scratch.glob("tare-weigh-*"))


def processes_of(program: Path) -> list[Path]:
    found = []
    for link in Path("/proc").glob("[0-9]*/exe"):
        with suppress(OSError):
            if link.readlink() == program:
                found.append(link)
    return found
