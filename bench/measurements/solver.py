"""A real program that calls MPI more than half a million times a second: hypre's StructSMG on 2 ranks."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import peers
import trials
from account import Account, account_of
from interleave import Rounds, interleave
from programs import built
from report import Row, Table, over_bare
from tare.analysis.intervals import median_interval

from tools import EZTRACE, PROFILE, TRACE, Outcome, Tool, openmpi4, run_once, with_peers

RANKS = 2
# Seconds of it, so that a trial is narrow enough for the limits.
SOLVES_OF_A_TRIAL = 24
LIMITS = {PROFILE: 2.5, TRACE: 6.0}
DRAIN_LIMIT_NS = 15.0


def measure(rounds: int) -> tuple[list[Table], list[Account]]:
    mpi = openmpi4()
    argv: list[Path | str] = [built("workloads/diffusion")]
    measured = interleave(rounds, with_peers(), lambda tool: run_once(tool, mpi, RANKS, argv))
    table = over_bare(
        "hypre StructSMG, 2 ranks, Open MPI: time of the solves",
        measured,
        Outcome.solve_s,
        "s",
        "%",
        LIMITS,
        {PROFILE: peers.SOLVER_PROFILE, TRACE: peers.SOLVER_TRACE},
        digits=2,
    )
    longer = [*argv, "-s", str(SOLVES_OF_A_TRIAL)]
    weighed = trials.trials(rounds, lambda tool: run_once(tool, mpi, RANKS, longer))
    trials.add(table, weighed, LIMITS)
    table.notes.extend(_notes(measured))
    return [table, _drains(measured)], account_of(
        "hypre StructSMG",
        measured,
        lambda run: sum(run.seconds(phase) for phase in ("interface", "setup", "solve")),
    )


def _drains(measured: Rounds) -> Table:
    """What draining took, the first drain and interruptions included."""
    values = measured.samples(TRACE, _drain_ns)
    return Table(
        "hypre StructSMG, traced: draining the event buffers",
        "ns",
        "ns a record",
        [Row("a record", min(values), median_interval(values), DRAIN_LIMIT_NS)],
        measured.count,
        over="of a round",
        samples={"a record": values},
    )


def _drain_ns(outcome: Outcome) -> float:
    assert outcome.info is not None
    return float(outcome.info["cost"]["flush_ns"]) / float(outcome.info["trace"]["records"])


def _notes(measured: Rounds) -> list[str]:
    info = measured.outcomes[TRACE][-1].info
    assert info is not None
    calls = info["cost"]["calls"]
    rate = median(
        rank["calls"] / (rank["net_ns"] * 1e-9)
        for outcome in measured.outcomes[PROFILE]
        if outcome.info
        for rank in outcome.info["ranks"]
    )
    lines = [f"{calls / 1e6:.2f} million calls timed, {rate / 1e6:.2f} million a second and rank"]
    sizes = [
        (tool, median(measured.samples(tool, lambda run: run.trace_bytes))) for tool in _tracing(measured)
    ]
    text = ", ".join(f"{tool.label} {size / calls:.1f} ({size / 1e6:.1f} MB)" for tool, size in sizes)
    lines.append(f"bytes of trace a call: {text}; on another machine: {peers.SOLVER_BYTES}")
    fastest = [f"{tool.label} {min(measured.samples(tool, Outcome.solve_s)):.3f}" for tool in measured.tools]
    lines.append(f"fastest run, s: {', '.join(fastest)}")
    if info["trace"]["dropped"]:
        lines.append(f"dropped: {info['trace']['dropped']} records")
    return lines


def _tracing(measured: Rounds) -> list[Tool]:
    return [tool for tool in (TRACE, EZTRACE) if tool in measured.outcomes]
