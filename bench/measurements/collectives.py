"""The shortest collectives: MPI_Bcast of 1024 bytes and MPI_Barrier in turn, on 2 ranks."""

from __future__ import annotations

from pathlib import Path

import peers
from account import Account, account_of
from interleave import interleave
from programs import NAMES, mpis, program
from report import Table, over_bare

from tools import PROFILE, TRACE, MpiEnvironment, Outcome, run_once, with_peers

RANKS = 2
PAIRS = 20_000
LOOPS = 9


def measure(rounds: int) -> tuple[list[Table], list[Account]]:
    tables = []
    accounts = []
    for mpi in mpis():
        table, own = _measure_on(mpi, rounds)
        tables.append(table)
        accounts += own
    return tables, accounts


def _measure_on(mpi: MpiEnvironment, rounds: int) -> tuple[Table, list[Account]]:
    argv: list[str | Path] = [program(mpi, "bcast_barrier"), "-i", str(PAIRS), "-r", str(LOOPS)]
    measured = interleave(rounds, with_peers(), lambda tool: run_once(tool, mpi, RANKS, argv))
    table = over_bare(
        f"MPI_Bcast and MPI_Barrier, 2 ranks, {NAMES[mpi.name]}",
        measured,
        _pair_ns,
        "ns a pair",
        "ns",
        {},
        {PROFILE: peers.PAIR_PROFILE, TRACE: peers.PAIR_TRACE},
        digits=0,
    )
    return table, account_of(f"bcast_barrier, {NAMES[mpi.name]}", measured, _total_s)


def _pair_ns(outcome: Outcome) -> float:
    return outcome.value("pair_ns")


def _total_s(outcome: Outcome) -> float:
    return 1e-9 * _pair_ns(outcome) * PAIRS * (LOOPS + 0.1)
