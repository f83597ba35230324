"""`tare run --weigh`: spells that measure and spells that only count, the same on all ranks."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import tare as package
from environments import ROOT, MpiEnvironment, compile_c, openmpi4
from measured import PROGRAMS, Measurement, measure
from on_mpi import both_debian
from tare.analysis.rows import record

ROUNDS = 400
RANKS = 3
EARLY = (ROUNDS - 1) // 7  # messages whose receive is posted in the round before
# Of each rank. Those that make or free something are always measured.
CALLS = {
    "MPI_Isend": ROUNDS,
    "MPI_Irecv": 2 * ROUNDS + EARLY,
    "MPI_Send": ROUNDS + EARLY,
    "MPI_Wait": EARLY,
    "MPI_Waitall": 2 * ROUNDS,
    "MPI_Startall": ROUNDS,
    "MPI_Sendrecv": ROUNDS,
    "MPI_Comm_split": 1,
    "MPI_Comm_dup": ROUNDS // 10,
    "MPI_Comm_free": ROUNDS // 10 + 1,
    "MPI_Send_init": 1,
    "MPI_Recv_init": 1,
    "MPI_Request_free": 2,
}


def counts(measured: Measurement) -> dict[str, tuple[int, int]]:
    """Calls of each function on all ranks: timed, and only counted."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in measured.profile("function"):
        sums[row["function"]][0] += row["calls"] - row["counted"]
        sums[row["function"]][1] += row["counted"]
    return {name: (timed, counted) for name, (timed, counted) in sums.items()}


def spells(run: Path) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in package.open(run).spells:
        found[row.spell].append(record(row))
    return found


def check(measured: Measurement, run: Path) -> dict[int, list[dict[str, Any]]]:
    """What holds for every such run."""
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert measured.ended.stdout.count("ok") == RANKS
    found = counts(measured)
    for function, each in CALLS.items():
        assert sum(found[function]) == RANKS * each, (function, found[function])
    of_spells = spells(run)
    for rows in of_spells.values():
        assert len(rows) == RANKS
        assert len({(row["measured"], row["sync_points"]) for row in rows}) == 1
        assert all(row["counted_calls"] == 0 for row in rows if row["measured"])
    kinds = [rows[0]["measured"] for rows in of_spells.values()]
    assert 0.3 * len(kinds) < sum(kinds) < 0.7 * len(kinds)
    for function in ("MPI_Isend", "MPI_Sendrecv", "MPI_Startall"):
        timed, counted = found[function]
        assert timed > 0 and counted > 0
    for function in ("MPI_Comm_dup", "MPI_Comm_free", "MPI_Comm_split", "MPI_Send_init"):
        assert found[function][1] == 0
    return of_spells


@pytest.mark.parametrize("trace", [(), ("--trace",)], ids=["profile", "trace"])
@both_debian
def test_every_call_is_timed_or_counted(
    mpi: MpiEnvironment, trace: tuple[str, ...], tare: Path, tmp_path: Path
) -> None:
    program = compile_c(mpi, [PROGRAMS / "rounds.c"], tmp_path / "rounds")
    measured = measure(tare, mpi, RANKS, [program, str(ROUNDS)], tmp_path / "run", "--weigh", *trace)
    of_spells = check(measured, tmp_path / "run")
    assert len(of_spells) == ROUNDS - 1
    # A request that was under way when a spell began is completed as it was started.
    assert any(row["has_requests"] for rows in of_spells.values() for row in rows)
    if trace:
        # Of spells that only count, not even those are in the trace that were measured for their requests.
        marks = measured.events("--function", "MPI_Isend")
        assert 0 < len(marks) <= counts(measured)["MPI_Isend"][0]
    info = measured.info()
    assert info["trial"]["measured"] + info["trial"]["unmeasured"] <= ROUNDS - 1
    assert info["options"]["weigh"] == 0.5


@both_debian
def test_counted_calls_bypass_the_wrapper(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "bypass.c"], tmp_path / "bypass", "-rdynamic", "-ldl")
    measured = measure(tare, mpi, 2, [program, str(ROUNDS)], tmp_path / "run", "--weigh")
    assert measured.ended.returncode == 0, measured.ended.stderr
    (line,) = [line for line in measured.ended.stdout.splitlines() if line.startswith("{")]
    found = json.loads(line)
    timed, counted = counts(measured)["MPI_Send"]
    assert found["through"] + found["bypassed"] == ROUNDS
    assert timed + counted == 2 * ROUNDS
    # One counted call in 1024 takes the wrapper, which checks the budget.
    assert 2 * found["bypassed"] <= counted <= 2 * found["bypassed"] + 4


def test_the_program_names_its_progress(tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    (library,) = tare.parent.parent.glob("lib/python3.*/site-packages/tare/lib/libtare_record.so")
    (tmp_path / "libtare_record.so.0").symlink_to(library)
    link = [str(tmp_path / "libtare_record.so.0"), f"-Wl,-rpath,{tmp_path}"]
    program = compile_c(
        mpi, [PROGRAMS / "rounds.c"], tmp_path / "rounds", "-DPROGRESS", f"-I{ROOT}/include", *link
    )
    argv: list[Path | str] = [program, str(ROUNDS), "progress"]
    measured = measure(tare, mpi, RANKS, argv, tmp_path / "run", "--weigh=0.4")
    assert len(check(measured, tmp_path / "run")) == ROUNDS - 1


@pytest.mark.alone  # else it makes few calls in its time
@both_debian
@pytest.mark.parametrize("barriers", ["0", "300"], ids=["none", "at first"])
def test_a_program_without_synchronisation_points(
    mpi: MpiEnvironment, barriers: str, tare: Path, tmp_path: Path
) -> None:
    """Also one that has them at first, and is in a spell without an end then."""
    program = compile_c(mpi, [PROGRAMS / "neighbours.c"], tmp_path / "neighbours")
    measured = measure(tare, mpi, 2, [program, "3", barriers], tmp_path / "run", "--weigh")
    assert measured.ended.returncode == 0, measured.ended.stderr
    run = package.open(tmp_path / "run")
    timed = [spell for spell in run.spells if spell.timed]
    assert len({spell.rank for spell in timed}) == 2
    assert {spell.sync_points for spell in timed} == {0}
    assert {spell.measured for spell in timed} == {True, False}
    # Whole iterations, each of 13 calls.
    shares = [(spell.measured_calls + spell.counted_calls) % 13 == 0 for spell in timed]
    assert sum(shares) > 0.9 * len(shares)
    # Every call is timed or counted.
    found = counts(measured)
    sends, receives = (sum(found[name]) for name in ("MPI_Send", "MPI_Irecv"))
    assert sum(found["MPI_Wait"]) == receives and receives <= sends


@pytest.mark.alone
@pytest.mark.flaky(reruns=2)  # the spells may differ too much
def test_what_a_program_without_synchronisation_points_loses(tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    program = compile_c(mpi, [PROGRAMS / "neighbours.c"], tmp_path / "neighbours")
    measured = measure(tare, mpi, 2, [program, "6"], tmp_path / "run", "--weigh")
    trial = measured.info()["trial"]
    assert trial["blocks"] >= 20
    assert trial["low"] < trial["overhead"] < trial["high"] < 0.1


@pytest.mark.alone  # else it makes few calls in its time
def test_a_trace_is_not_lost_to_a_control_without_an_end(tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    program = compile_c(mpi, [PROGRAMS / "neighbours.c"], tmp_path / "neighbours")
    argv: list[Path | str] = [program, "4", "40"]
    measured = measure(tare, mpi, 2, argv, tmp_path / "run", "--trace", "--weigh=0.95")
    assert measured.ended.returncode == 0, measured.ended.stderr
    timed, counted = counts(measured)["MPI_Send"]
    assert timed > counted
    assert not any(spell.timed for spell in package.open(tmp_path / "run").spells)


def refused(tare: Path, *options: str) -> str:
    ended = subprocess.run([tare, "run", *options, "--", "true"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    return ended.stderr


@pytest.mark.parametrize("share", ["0", "1", "half", "-1", "200%", ""])
def test_a_share_that_leaves_nothing_to_compare(share: str, tare: Path) -> None:
    assert "is no share of the spells" in refused(tare, f"--weigh={share}")


def test_not_with_samples(tare: Path) -> None:
    assert "--sample numbers every message" in refused(tare, "--weigh", "--sample", "random:0.1")


def test_a_command_may_follow_without_a_separator(tare: Path, tmp_path: Path) -> None:
    run: list[Path | str] = [tare, "run", "-o", tmp_path / "run", "--weigh", "true"]
    assert subprocess.run(run, capture_output=True, timeout=60).returncode == 0
