"""Who drains, threads or tared: where ranks need every processor, and where one is to spare."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from interleave import Rounds, interleave
from programs import built, program
from report import Table, over_bare

from tools import BARE, Outcome, Tool, openmpi4, run_once

INLINE = Tool("trace, drained inline", tare=("--trace", "--drain", "inline"))
TARED = Tool("trace, drained by tared", tare=("--trace", "--drain", "tared"))


@dataclass(frozen=True)
class Case:
    title: str
    unit: str
    digits: int
    argv: Callable[[], Sequence[str]]
    value: Callable[[Outcome], float]


def _iteration_us(outcome: Outcome) -> float:
    return outcome.value("iteration_ns") / 1000


HALO = ("-n", "4", "4", "4", "-i", "60000", "-c", "10")
CASES = (
    Case("hypre StructSMG: the solves", "s", 2, lambda: [str(built("workloads/diffusion"))], Outcome.solve_s),
    Case(
        "a halo of 4x4x4 cells: an iteration",
        "us",
        2,
        lambda: [str(program(openmpi4(), "halo")), *HALO],
        _iteration_us,
    ),
)


def measure(rounds: int) -> list[Table]:
    """Measures with as many ranks as processors, and with one less."""
    processors = len(os.sched_getaffinity(0))
    return [
        _table(case, ranks, processors, rounds)
        for case in CASES
        for ranks in dict.fromkeys((processors, max(1, processors - 1)))
    ]


def _table(case: Case, ranks: int, processors: int, rounds: int) -> Table:
    mpi, argv = openmpi4(), case.argv()
    measured = interleave(rounds, (BARE, INLINE, TARED), lambda tool: run_once(tool, mpi, ranks, argv))
    table = over_bare(
        f"{case.title}, {ranks} ranks on {processors} processors",
        measured,
        case.value,
        case.unit,
        "%",
        digits=case.digits,
    )
    table.notes.extend(_notes(case, measured))
    return table


def _notes(case: Case, measured: Rounds) -> list[str]:
    fastest = [f"{tool.label} {min(measured.samples(tool, case.value)):.3f}" for tool in measured.tools]
    info = measured.outcomes[TARED][-1].info
    assert info is not None
    cost = info["cost"]
    return [
        f"fastest run, {case.unit}: {', '.join(fastest)}",
        f"with tared: {cost['drains']} drains by it, {cost['drain_ns'] * 1e-9:.3f} s; "
        f"{cost['flushes']} by threads or waits, {cost['flush_ns'] * 1e-9:.3f} s",
    ]
