"""Memory of a rank: the most that it ever had in use, shared memory and libraries included."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interleave import interleave
from programs import NAMES, built, mpis, program
from report import Table, over_bare

from tools import PROFILE, TRACE, MpiEnvironment, Outcome, openmpi4, run_once, with_peers

LIMIT_MIB = 16.0


def measure(rounds: int) -> list[Table]:
    tables = [_measure(openmpi4(), "hypre StructSMG", [built("workloads/diffusion"), "-s", "1"], rounds)]
    for mpi in mpis():
        # Enough calls to fill any buffer several times.
        argv: list[str | Path] = [program(mpi, "bcast_barrier"), "-i", "50000", "-r", "2"]
        tables.append(_measure(mpi, "bcast_barrier", argv, rounds))
    return tables


def _measure(mpi: MpiEnvironment, name: str, argv: Sequence[Path | str], rounds: int) -> Table:
    prefix = [built("bench/peak_rss")]
    measured = interleave(rounds, with_peers(), lambda tool: run_once(tool, mpi, 2, argv, rank_prefix=prefix))
    return over_bare(
        f"Peak memory of a rank, {name}, 2 ranks, {NAMES[mpi.name]}",
        measured,
        _peak_mib,
        "MiB",
        "MiB",
        {PROFILE: LIMIT_MIB, TRACE: LIMIT_MIB},
    )


def _peak_mib(outcome: Outcome) -> float:
    """The peak of the largest rank."""
    return outcome.value("peak_rss_kib") / 1024
