"""Figures of ranks: the share of MPI, the cost account, how the ranks ended. Times are nanoseconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.endings import STATES

if TYPE_CHECKING:
    from tare._native import Process, State
    from tare.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class TotalCost:
    """The cost account of all ranks: sums over ranks if nothing else is said (docs/json.md)."""

    calls: int = 0
    counted: int = 0  # part of `calls` that was only counted
    call_ns: float = 0.0  # mean cost of a call
    timed_call_ns: float = 0.0  # mean cost of a timed call
    lookup_ns: float = 0.0  # mean cost of a look-up
    event_ns: float = 0.0  # largest cost of an event of the API
    events: int = 0  # events of the API
    wrapper_ns: int = 0  # time in wrappers and in functions of the API, estimated from weighed calls
    wrapper_error_ns: float | None = 0.0  # half the 95 % confidence interval of it; None: unknown
    weighed: int = 0  # calls whose cost was measured
    net_share: float = 0.0  # share of wrappers, flushes and offloads in the net time
    wall_share: float = 0.0  # including hooks, as a share of the time from the first MPI call to the end
    hook_init_ns: int = 0  # time of tare inside MPI_Init
    hook_finalize_ns: int = 0  # and inside MPI_Finalize
    flushes: int = 0  # event buffers that threads wrote themselves
    flush_ns: int = 0
    flush_bytes: int = 0
    drains: int = 0  # event buffers that tared wrote
    drain_ns: int = 0
    drain_bytes: int = 0
    offload_points: int = 0  # with --monitor: points at which ranks could hand over a snapshot
    offloads: int = 0  # snapshots that were handed over
    offloads_lost: int = 0  # snapshots for which there was no room
    offload_ns: int = 0  # time of offloads, waiting included
    offload_max_ns: int = 0  # the longest of all ranks
    offload_wait_ns: int = 0  # part of `offload_ns`: waiting for room
    dropped: int = 0  # records of the trace for which there was no room


def mpi_share(process: Process) -> float:
    """Time inside MPI as a share of the net time, over all threads that call MPI; 0 to 1.

    An estimate of time, of calls timed by sample, can be more than all of it.
    """
    return min(process["mpi_ns"] / process["threads_ns"], 1.0) if process["threads_ns"] > 0 else 0.0


def use_mpi(processes: Sequence[Process]) -> bool:
    """Whether one of them has called MPI, or has loaded it; others only use the API."""
    return any(process["mpi"] or process["calls"] for process in processes)


def total_mpi_ns(processes: Sequence[Process]) -> int:
    """Net time in MPI, summed over all ranks: the base of the shares of functions and call sites."""
    return sum(process["mpi_ns"] for process in processes)


def total_unreturned_ns(processes: Sequence[Process]) -> int:
    """The part of `total_mpi_ns` in calls that have not returned, which are in no row of the profile."""
    return sum(process["unreturned_ns"] for process in processes)


def count_states(processes: Sequence[Process]) -> dict[State, int]:
    """Number of ranks in each state, in the order of `STATES`, without states that do not occur."""
    found = Counter(process["state"] for process in processes)
    return {state: found[state] for state in STATES if found[state]}


def total_cost(run: Run, world: int | None = None) -> TotalCost:
    """The cost of all processes, or of the ranks of a world."""
    return TotalCost(**run.total_cost(world))


# What processes have less of for want of memory (`reduced` in docs/json.md).
_REDUCED = {
    "buffer": "a smaller event buffer than asked for",
    "events": "no events, only the profile",
    "events of threads": "no events of some threads, only their profile",
    "profile": "a small profile table",
}


def reductions(processes: Sequence[Process]) -> list[str]:
    """What was recorded less of because there was no room for it, in words."""
    counts = Counter(name for process in processes for name in process["reduced"])
    return [
        f"{counts[name]:,} of {len(processes):,} processes have {text}: there was no room for more in shared "
        "memory and in the run directory"
        for name, text in _REDUCED.items()
        if counts[name]
    ]
