"""`tare explain` on programs with planted faults: what it says stands beside each of them (planted.c)."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import planted
import pytest
import tare as tare_package
from environments import MpiEnvironment, all_environments, compile_c
from measured import Measurement, measure
from planted import Planted

OPENMPI = next(env for env in all_environments() if env.name == "debian-openmpi")
MPICH = next(env for env in all_environments() if env.name == "debian-mpich")
PROGRAMS = {each.name: each for each in planted.programs()}
ON_BOTH = (
    "late sender",
    "chain",
    "alternating imbalance",
    "hot spot",
    "rendezvous",
    "eager",
    "slow worker",
    "file",
    "late post",
    "early wait",
    "late complete",
    "lock contention",
    "even epochs",
    "unexpected messages",
    "messages in order",
)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("planted")
    return {
        env.name: compile_c(env, [planted.SOURCE], directory / env.name, "-O2") for env in (OPENMPI, MPICH)
    }


def cases() -> list[Any]:
    chosen = [(OPENMPI, each) for each in PROGRAMS.values()]
    chosen += [(MPICH, PROGRAMS[name]) for name in ON_BOTH]
    return [pytest.param(mpi, each, id=f"{mpi.name}-{each.name}") for mpi, each in chosen]


@pytest.mark.alone
@pytest.mark.flaky(reruns=2)  # what comes first depends on times, which another program can spoil
@pytest.mark.parametrize(("mpi", "program"), cases())
def test_the_planted_fault_comes_first_and_no_other(
    mpi: MpiEnvironment, program: Planted, compiled: dict[str, Path], tare: Path, tmp_path: Path
) -> None:
    said = planted.explained(tare, mpi, compiled[mpi.name], program, tmp_path / "run")
    assert 1 <= len(said["sentences"]) <= 10
    found = planted.judge(program, said, exactly=False)
    assert not (found.wrong or found.missing or found.false or found.blamed), (found, said["sentences"])
    _adds_up(said)
    _is_borne_out(tmp_path / "run", said)
    _has_names_of_the_profile(tare, tmp_path / "run", said)


def _adds_up(said: dict[str, Any]) -> None:
    """Each second that a rank lost is in one finding, or is not explained."""
    findings = said["findings"]
    assert said["lost_ns"] == sum(each["lost_ns"] for each in findings) + said["unexplained_ns"]
    assert all(0 <= each["lost_ns"] <= max(each["time_ns"], 1) for each in findings)
    assert said["unexplained_ns"] >= -len(findings) - 1, "findings have more than was lost, beyond rounding"


def _is_borne_out(run: Path, said: dict[str, Any]) -> None:
    """No finding has more time than the waits of the table that its cause explains."""
    sql = tare_package.open(run).sql
    for each in said["findings"]:
        is_of_waits = each["kind"] in ("late sender", "late receiver", "slow rank") and each["cause_function"]
        if each["cause_rank"] is None or not is_of_waits:
            continue
        found = sql(f"SELECT sum(root_ns) FROM root_causes WHERE root_rank = {int(each['cause_rank'])}")
        assert found is not None
        ((waited_ns,),) = found.fetchall()
        assert each["time_ns"] * (each["cause_share"] or 1) <= 1.001 * (waited_ns or 0)


def _has_names_of_the_profile(tare: Path, run: Path, said: dict[str, Any]) -> None:
    """A place has the same name wherever it is shown, also where a frame was left by a tail call."""
    names = ("function", "file", "line", "caller", "object", "tail_call")
    rows = Measurement(tare, run, subprocess.CompletedProcess([], 0)).profile("line")
    known = {tuple(row[name] for name in names) for row in rows}
    for each in said["findings"]:
        for prefix in ("", "cause_"):
            # The profile has no calls that have not returned.
            if each[f"{prefix}function"] and each["kind"] not in ("deadlock", "ended early"):
                assert tuple(each[f"{prefix}{name}"] for name in names) in known


@pytest.mark.alone
@pytest.mark.flaky(reruns=2)
@pytest.mark.parametrize("name", ["balanced", "neighbours"])
def test_the_profile_alone_finds_nothing_where_nothing_is(
    name: str, compiled: dict[str, Path], tare: Path, tmp_path: Path
) -> None:
    measured = measure(tare, OPENMPI, PROGRAMS[name].ranks, [compiled[OPENMPI.name], name], tmp_path / "run")
    said = planted.what_is_said(measured)
    assert said["findings"] == [], said["sentences"]
    assert said["sentences"][0].startswith("Nothing in the ")
    assert len(said["sentences"]) == 2


@pytest.mark.alone
@pytest.mark.flaky(reruns=2)
@pytest.mark.parametrize("name", ["load imbalance", "slow rank", "tiny messages", "large collective"])
def test_the_profile_alone_tells_less(
    name: str, compiled: dict[str, Path], tare: Path, tmp_path: Path
) -> None:
    """But what it tells is the same."""
    program = PROGRAMS[name]
    measured = measure(tare, OPENMPI, program.ranks, [compiled[OPENMPI.name], name], tmp_path / "run")
    said = planted.what_is_said(measured)
    # Ranks that wait keep processors busy, so that others have none: that is told before.
    first = next(each for each in said["findings"] if each["kind"] not in ("oversubscription", "descheduled"))
    assert first["kind"] == program.answers[0].kind, said["sentences"]
    assert first["line"] in program.here
    assert not said["is_traced"]
    assert "no trace" in said["sentences"][-1]
    _adds_up(said)


def test_a_run_that_crashed_is_told_first(compiled: dict[str, Path], tare: Path, tmp_path: Path) -> None:
    said = planted.explained(tare, OPENMPI, compiled[OPENMPI.name], PROGRAMS["ended early"], tmp_path / "run")
    first = said["findings"][0]
    assert (first["kind"], first["ranks"]) == ("ended early", [1])
    assert "rank 1 was killed by SIGSEGV" in said["sentences"][0]


def test_a_deadlock_is_all_that_is_told(compiled: dict[str, Path], tare: Path, tmp_path: Path) -> None:
    said = planted.explained(tare, OPENMPI, compiled[OPENMPI.name], PROGRAMS["deadlock"], tmp_path / "run")
    (first,) = said["findings"]
    assert (first["kind"], first["ranks"]) == ("deadlock", [0, 1]), said["sentences"]
    assert first["line"] in PROGRAMS["deadlock"].here
