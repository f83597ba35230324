"""Phases and iterations found in traces of programs that are made of known ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tare as package
from environments import MpiEnvironment, all_environments, compile_c
from measured import PROGRAMS, measure
from verbs import ask

OPENMPI = next(env for env in all_environments() if env.name == "debian-openmpi")
MPICH = next(env for env in all_environments() if env.name == "debian-mpich")
SOURCE = PROGRAMS / "known_phases.c"
RANKS = 3


def line(mark: str) -> int:
    """The one that has the mark, else that has the text."""
    lines = SOURCE.read_text().splitlines()
    marked = [number for number, text in enumerate(lines, start=1) if f"/* {mark} */" in text]
    return (marked or [number for number, text in enumerate(lines, start=1) if mark in text])[0]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("known")
    return {env.name: compile_c(env, [SOURCE], directory / env.name) for env in (OPENMPI, MPICH)}


def found(
    tare: Path, mpi: MpiEnvironment, program: Path, kind: str, directory: Path, *options: str
) -> tuple[list[dict[str, Any]], str]:
    """The phases, and what the program printed."""
    measured = measure(tare, mpi, RANKS, [program, kind], directory, *options)
    assert measured.ended.returncode == 0, measured.ended.stderr
    done = ask(tare, "phases", directory, "--json", check=True)
    content = json.loads(done.stdout)
    assert content["schema"] == "tare.phases/1"
    return content["phases"], measured.ended.stdout


@pytest.mark.alone
@pytest.mark.flaky(reruns=2)  # on a loaded machine a part may take many times as long as another
@pytest.mark.parametrize("mpi", [OPENMPI, MPICH], ids=lambda env: env.name)
def test_phases_are_those_of_the_program(
    mpi: MpiEnvironment, programs: dict[str, Path], tare: Path, tmp_path: Path
) -> None:
    phases, printed = found(tare, mpi, programs[mpi.name], "phases", tmp_path / "run", "--trace")
    assert "".join(each["phase"] for each in phases) == "ABCB"
    began = [int(text.split()[1]) for text in printed.splitlines()]
    length_ns = phases[-1]["start_ns"] + phases[-1]["duration_ns"] - phases[0]["start_ns"]
    for phase, began_ns in zip(phases, began, strict=True):
        assert phase["start_ns"] == pytest.approx(began_ns, abs=length_ns / 50)
    loops = [phase["loops"] for phase in phases]
    assert [len(each) for each in loops] == [1, 1, 1, 1], "all ranks have the same"
    assert [each[0]["ranks"] for each in loops] == [[0, 1, 2]] * 4
    assert [each[0]["iterations"] for each in loops] == [20, 150, 12, 150]
    solver = line("MPI_Sendrecv")
    assert [each[0]["line"] for each in loops] == [line("setup"), solver, line("output"), solver]


def test_iterations_are_those_of_the_outermost_loop(
    programs: dict[str, Path], tare: Path, tmp_path: Path
) -> None:
    directory = tmp_path / "run"
    phases, _ = found(tare, OPENMPI, programs[OPENMPI.name], "nested", directory, "--trace")
    # What it does before and behind the loop may be phases, too, on a loaded machine.
    ((phase, loop),) = [(phase, loop) for phase in phases for loop in phase["loops"]]
    assert (loop["iterations"], loop["line"], loop["ranks"]) == (12, line("outer"), [0, 1, 2])
    rows = package.open(directory).sql(
        "SELECT rank, count(*), min(iteration), max(iteration), sum(duration_ns), sum(mpi_ns), sum(calls) "
        "FROM iterations GROUP BY rank ORDER BY rank"
    )
    assert rows is not None
    for rank, (number, count, first, last, duration_ns, mpi_ns, calls) in enumerate(rows.fetchall()):
        assert (number, count, first, last, calls) == (rank, 12, 0, 11, 12 * 41)
        assert 0 < mpi_ns < duration_ns <= phase["duration_ns"]


@pytest.mark.alone
@pytest.mark.flaky(reruns=2)  # on a loaded machine more iterations are slow
def test_a_slow_iteration_has_its_cause(programs: dict[str, Path], tare: Path, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    phases, _ = found(tare, OPENMPI, programs[OPENMPI.name], "slow", directory, "--trace")
    assert [each["phase"] for each in phases] == ["A"]
    (loop,) = phases[0]["loops"]
    assert loop["iterations"] == 100
    slowest = loop["slowest"][0]
    assert slowest["iteration"] == 60
    assert slowest["duration_ns"] >= 400_000_000
    assert (slowest["cause_rank"], slowest["cause_line"]) == (1, line("slow"))
    assert slowest["cause_function"] == "MPI_Allreduce" and not slowest["cause_in_call"]
    assert 300_000_000 <= slowest["cause_ns"] <= slowest["duration_ns"]
    done = ask(tare, "explain", directory, "--json", check=True)
    told = [each for each in json.loads(done.stdout)["findings"] if each["kind"] == "slow iterations"]
    assert [(each["cause_rank"], each["cause_line"], each["phase"]) for each in told] == [
        (1, line("slow"), "")
    ]


@pytest.mark.alone
@pytest.mark.flaky(reruns=2)  # what it does before and behind the loop may take long there, too
def test_a_program_that_does_one_thing_has_one_phase(
    programs: dict[str, Path], tare: Path, tmp_path: Path
) -> None:
    phases, _ = found(tare, OPENMPI, programs[OPENMPI.name], "single", tmp_path / "run", "--trace")
    assert [each["phase"] for each in phases] == ["A"]
    assert [each["iterations"] for each in phases[0]["loops"]] == [300]


def test_a_program_without_a_loop_has_no_iterations(
    programs: dict[str, Path], tare: Path, tmp_path: Path
) -> None:
    phases, _ = found(tare, OPENMPI, programs[OPENMPI.name], "straight", tmp_path / "run", "--trace")
    assert [each["loops"] for each in phases] == [[]] * len(phases)


def test_iterations_with_gaps_of_the_trace_are_left_out(tare: Path, tmp_path: Path) -> None:
    """Half of the spells are controls, and leave gaps."""
    rounds = 1500
    program = compile_c(OPENMPI, [PROGRAMS / "iterations.c"], tmp_path / "iterations")
    measured = measure(
        tare, OPENMPI, 2, [program, str(rounds)], tmp_path / "run", "--budget", "50%", "--weigh"
    )
    assert measured.ended.returncode == 0, measured.ended.stderr
    run = package.open(tmp_path / "run")
    traced = {(each.rank, each.spell): each for each in run.spells if each.traced}
    assert len(traced) < len(run.spells)
    found = run.structure
    assert found.loops
    for rank in range(2):
        loops = [loop for loop in found.loops if loop.rank == rank]
        assert sum(loop.iterations for loop in loops) < rounds
    rows = run.sql(
        "SELECT count(*) FROM iterations AS i, flushes AS f "
        "WHERE f.rank = i.rank AND f.function = 'tare:loss' "
        "AND f.start_ns > i.start_ns AND f.start_ns < i.start_ns + i.duration_ns"
    )
    assert rows is not None and rows.fetchall() == [(0,)]


def test_without_a_trace_nothing_is_claimed(programs: dict[str, Path], tare: Path, tmp_path: Path) -> None:
    phases, _ = found(tare, OPENMPI, programs[OPENMPI.name], "single", tmp_path / "run")
    assert phases == []
    done = ask(tare, "phases", tmp_path / "run", check=True)
    assert done.stdout == "No phases: this run has no trace. tare run --trace records one.\n"
