"""The true weight: how much slower programs are, what the account says of it, and what the trial does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from interleave import Rounds, interleave
from programs import built, program
from report import Row, Table, percent
from trials import NOT_DETERMINED, WEIGHED, trial_of

from tools import BARE, Outcome, Tool, openmpi4, run_once


@dataclass(frozen=True)
class _Program:
    title: str
    ranks: int
    argv: Callable[[], list[str | Path]]
    seconds: Callable[[Outcome], float]  # of what is repeated, all together


def _batches_s(outcome: Outcome, batches: int) -> float:
    """The time by the batches that neither other programs nor a drain disturbed; 50 iterations each."""
    return 1e-9 * 50 * batches * outcome.value("quarter_ns")


_PROGRAMS = (
    _Program(
        "messages to itself, cold caches, 1 rank",
        1,
        lambda: [program(openmpi4(), "cold_calls"), "-b", "20000"],
        lambda run: _batches_s(run, 20000),
    ),
    _Program(
        "messages to itself, warm caches, 1 rank",
        1,
        lambda: [program(openmpi4(), "cold_calls"), "-k", "0", "-b", "60000"],
        lambda run: _batches_s(run, 60000),
    ),
    _Program(
        "MPI_Bcast and MPI_Barrier, 2 ranks",
        2,
        lambda: [program(openmpi4(), "bcast_barrier"), "-i", "100000", "-r", "9"],
        lambda run: 1e-9 * 9.1 * 100000 * run.value("pair_ns"),  # with the loop that warms up
    ),
    _Program(
        "workloads/halo, 16 x 16 x 16 cells, 2 ranks",
        2,
        lambda: [program(openmpi4(), "halo"), "-n", "16", "16", "16", "-i", "60000"],
        lambda run: 1e-9 * 60000 * run.value("iteration_ns"),
    ),
    _Program(
        "hypre StructSMG, 2 ranks",
        2,
        lambda: [built("workloads/diffusion"), "-s", "24"],
        Outcome.solve_s,
    ),
)


def measure(rounds: int) -> list[Table]:
    return [_table(each, rounds) for each in _PROGRAMS]


def _table(of: _Program, rounds: int) -> Table:
    tools = (BARE, *WEIGHED, *WEIGHED.values())
    measured = interleave(rounds, tools, lambda tool: run_once(tool, openmpi4(), of.ranks, of.argv()))
    bare = measured.bare(of.seconds)
    rows = [
        Row(
            tool.label,
            100 * median(measured.samples(tool, _account_s)) / median(bare),
            percent(measured.samples(tool, of.seconds), bare),
            peers=_trials(measured, weighed),
        )
        for tool, weighed in WEIGHED.items()
    ]
    return Table(
        f"The true weight: {of.title}, Open MPI",
        "account, %",
        "%",
        rows,
        rounds,
        samples={tool.label: measured.samples(tool, of.seconds) for tool in tools},
        over="slower",
        last_column="trial of each round, % and 95 % interval",
    )


def _account_s(outcome: Outcome) -> float:
    """What the account says that a rank lost.

    It is put beside the time of the bare program: where other programs run, the time of a run says nothing.
    """
    assert outcome.info is not None
    costs = [rank["cost"] for rank in outcome.info["ranks"]]
    return 1e-9 * mean(float(cost["wrapper_ns"] + cost["flush_ns"]) for cost in costs)


def _trials(measured: Rounds, tool: Tool) -> str:
    return ", ".join(_trial(outcome) for outcome in measured.outcomes[tool])


def _trial(outcome: Outcome) -> str:
    found = trial_of(outcome)
    if found["overhead"] is None:
        return NOT_DETERMINED
    return f"{100 * found['overhead']:.1f} ({100 * found['low']:.1f} to {100 * found['high']:.1f})"
