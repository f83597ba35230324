"""Programs with known faults for mpi4py: planted_mpi4py.py NAME. Answers are written as in planted.c."""

from __future__ import annotations

import sys
import time

from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RANK, SIZE = WORLD.rank, WORLD.size


def compute(ms: int) -> None:
    """Sleeps."""
    time.sleep(ms / 1000)


# @python chain: ranks=3 late-sender cause=0 named=1,2 seconds=0.4
def chain() -> None:
    """Rank 1 passes on at once what it gets."""
    for step in range(10):
        if RANK == 0:
            compute(20)
        if RANK > 0:
            WORLD.recv(source=RANK - 1)  # here
        if RANK + 1 < SIZE:
            WORLD.send(step, RANK + 1)  # cause


# @python imbalance: ranks=4 slow-rank cause=1 named=1 seconds=0.9
def imbalance() -> None:
    """One rank computes longer than the others."""
    for _ in range(10):
        compute(40 if RANK == 1 else 10)
        WORLD.barrier()  # here cause


if __name__ == "__main__":
    {"python chain": chain, "python imbalance": imbalance}[sys.argv[1]]()
