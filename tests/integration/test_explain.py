"""`tare explain` on programs with one planted fault each, and on two without."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, all_environments, compile_c
from measured import PROGRAMS, measure

OPENMPI = next(env for env in all_environments() if env.name == "debian-openmpi")
MPICH = next(env for env in all_environments() if env.name == "debian-mpich")


@dataclass(frozen=True)
class Fault:
    """What is said first of the program that has it."""

    kind: str
    ranks: int  # of the program
    cause: int | None = None  # the rank that is late
    named: tuple[int, ...] | None = None  # ranks that wait, or that compute longer


FAULTS = [
    Fault("late sender", 2, cause=0, named=(1,)),
    Fault("late receiver", 2, cause=0, named=(1,)),
    Fault("load imbalance", 4, named=(2, 3)),
    Fault("slow rank", 4, cause=1, named=(1,)),
    Fault("late broadcast", 3, cause=2, named=(0, 1)),
    Fault("early reduce", 3, named=(0,)),
    Fault("wait at NxN", 3, named=(0, 1, 2)),
    Fault("serialised", 4, named=(0, 1, 2, 3)),
    Fault("hot spot", 4, cause=0, named=(1, 2, 3)),
    Fault("needless barrier", 3),
    Fault("tiny messages", 2),
    Fault("unsuccessful polling", 2),
    Fault("large collective", 2),
    Fault("slow iterations", 2),
]
ON_MPICH = ("late sender", "wait at NxN", "hot spot")
WITHOUT_FAULT = {"balanced": 2, "neighbours": 3}


def marked(kind: str, mark: str) -> set[int]:
    """The lines of the program of this kind that have the mark."""
    lines = (PROGRAMS / "planted.c").read_text().splitlines()
    function = next(line for line in lines if f'{{"{kind}",' in line).split(",")[1].strip(" }")
    begin = lines.index(f"static void {function}(void) {{")
    end = lines.index("}", begin)
    return {
        number + 1
        for number in range(begin, end)
        if "/*" in lines[number] and mark in lines[number].split("/*")[1].split()
    }


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("planted")
    return {
        env.name: compile_c(env, [PROGRAMS / "planted.c"], directory / env.name) for env in (OPENMPI, MPICH)
    }


def explained(
    tare: Path, mpi: MpiEnvironment, program: Path, kind: str, ranks: int, directory: Path, *options: str
) -> dict[str, Any]:
    measured = measure(tare, mpi, ranks, [program, kind], directory, *options)
    if kind not in ("ended early", "deadlock"):
        assert measured.ended.returncode == 0, measured.ended.stderr
    command: list[str | Path] = [tare, "explain", directory, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["schema"] == "tare.explain/1"
    assert 1 <= len(found["sentences"]) <= 10
    return found


@pytest.mark.alone
@pytest.mark.flaky(reruns=2)  # what comes first depends on times, which another program can spoil
@pytest.mark.parametrize(
    ("mpi", "fault"),
    [(OPENMPI, fault) for fault in FAULTS] + [(MPICH, fault) for fault in FAULTS if fault.kind in ON_MPICH],
    ids=lambda each: getattr(each, "kind", None) or each.name,
)
def test_the_planted_fault_comes_first(
    mpi: MpiEnvironment, fault: Fault, programs: dict[str, Path], tare: Path, tmp_path: Path
) -> None:
    found = explained(tare, mpi, programs[mpi.name], fault.kind, fault.ranks, tmp_path / "run", "--trace")
    first, sentence = found["findings"][0], found["sentences"][0]
    assert first["kind"] == fault.kind, found["sentences"]
    assert first["share"] >= 0.05
    assert {first["line"]} == marked(fault.kind, "here")
    assert f"planted.c:{first['line']} " in sentence
    if causes := marked(fault.kind, "cause"):
        assert {first["cause_line"]} <= causes | {None}
        # A pipeline is delayed by all ranks.
        assert first["cause_line"] is not None or fault.kind == "serialised"
    if fault.cause is not None:
        assert first["cause_rank"] == fault.cause
        assert f"ank {fault.cause}" in sentence
    if fault.named is not None:
        assert tuple(first["ranks"]) == fault.named


@pytest.mark.alone
@pytest.mark.flaky(reruns=2)
@pytest.mark.parametrize("options", [("--trace",), ()], ids=["trace", "profile"])
@pytest.mark.parametrize("kind", WITHOUT_FAULT)
def test_nothing_is_said_of_programs_without_fault(
    kind: str, options: tuple[str, ...], programs: dict[str, Path], tare: Path, tmp_path: Path
) -> None:
    program = programs[OPENMPI.name]
    found = explained(tare, OPENMPI, program, kind, WITHOUT_FAULT[kind], tmp_path / "run", *options)
    assert found["findings"] == [], found["sentences"]
    assert found["sentences"][0].startswith("Nothing in the ")
    assert len(found["sentences"]) == (1 if options else 2)


@pytest.mark.alone
@pytest.mark.flaky(reruns=2)
@pytest.mark.parametrize("kind", ["load imbalance", "slow rank", "tiny messages", "large collective"])
def test_the_profile_alone_tells_less(
    kind: str, programs: dict[str, Path], tare: Path, tmp_path: Path
) -> None:
    """But what it tells is the same."""
    fault = next(each for each in FAULTS if each.kind == kind)
    found = explained(tare, OPENMPI, programs[OPENMPI.name], kind, fault.ranks, tmp_path / "run")
    first = found["findings"][0]
    assert first["kind"] == kind, found["sentences"]
    assert {first["line"]} == marked(kind, "here")
    assert not found["is_traced"]
    assert "no trace" in found["sentences"][-1]


def test_a_run_that_crashed_is_told_first(programs: dict[str, Path], tare: Path, tmp_path: Path) -> None:
    found = explained(tare, OPENMPI, programs[OPENMPI.name], "ended early", 2, tmp_path / "run", "--trace")
    first = found["findings"][0]
    assert (first["kind"], first["ranks"]) == ("ended early", [1])
    assert "rank 1 was killed by SIGSEGV" in found["sentences"][0]


def test_a_deadlock_is_all_that_is_told(programs: dict[str, Path], tare: Path, tmp_path: Path) -> None:
    found = explained(tare, OPENMPI, programs[OPENMPI.name], "deadlock", 3, tmp_path / "run", "--trace")
    (first,) = found["findings"]
    assert (first["kind"], first["ranks"]) == ("deadlock", [0, 1]), found["sentences"]
    assert {first["line"]} == marked("deadlock", "here")
