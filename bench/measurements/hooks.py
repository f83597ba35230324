"""What a program pays that hardly calls MPI: hooks in MPI_Init and MPI_Finalize, and `tare run` itself."""

from __future__ import annotations

from collections.abc import Callable

import peers
from interleave import Rounds, interleave
from programs import NAMES, mpis, program
from report import Table, over_bare

from tools import PROFILE, TRACE, MpiEnvironment, Outcome, run_once, with_peers

HOOK_LIMIT_MS = 20.0
WHOLE_LIMIT_S = 0.1


def measure(rounds: int) -> list[Table]:
    return [table for mpi in mpis() for ranks in (1, 2) for table in _measure_on(mpi, ranks, rounds)]


def _measure_on(mpi: MpiEnvironment, ranks: int, rounds: int) -> list[Table]:
    argv = [program(mpi, "init_finalize")]
    measured = interleave(rounds, with_peers(), lambda tool: run_once(tool, mpi, ranks, argv, summary=True))
    where = f"{ranks} rank{'s' * (ranks > 1)}, {NAMES[mpi.name]}"
    return [
        hook_table(f"MPI_Init and MPI_Finalize, {where}", measured, _hook_ms),
        over_bare(
            f"The whole command, start to end, {where}",
            measured,
            _wall_s,
            "s",
            "s",
            {PROFILE: WHOLE_LIMIT_S, TRACE: WHOLE_LIMIT_S},
            {PROFILE: peers.WHOLE},
            digits=3,
        ),
    ]


def hook_table(title: str, measured: Rounds, hook_ms: Callable[[Outcome], float]) -> Table:
    """The table of programs that tell their time in MPI_Init and MPI_Finalize in their own ways."""
    return over_bare(
        title,
        measured,
        hook_ms,
        "ms",
        "ms",
        {PROFILE: HOOK_LIMIT_MS, TRACE: HOOK_LIMIT_MS},
        {PROFILE: peers.HOOK},
    )


def _hook_ms(outcome: Outcome) -> float:
    """The time of the slowest rank."""
    return 1e3 * max(float(line["init_s"] + line["finalize_s"]) for line in outcome.json_lines())


def _wall_s(outcome: Outcome) -> float:
    return outcome.wall_s
