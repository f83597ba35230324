"""Figures of ranks: the share of MPI, the cost account, how the ranks ended. Times are nanoseconds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.endings import STATES

if TYPE_CHECKING:
    from tare._native import Process, State, Trace


@dataclass(frozen=True, kw_only=True)
class TotalCost:
    """The cost account of all ranks: sums, if nothing else is said (docs/json.md)."""

    calls: int
    lookups: int
    call_ns: float  # mean cost of a timed call
    lookup_ns: float  # mean cost of a look-up
    event_ns: float  # largest cost of an event of the API
    events: int
    wrapper_ns: int
    wrapper_error_ns: float | None  # half of the 95 % confidence interval of `wrapper_ns`; None: unknown
    weighed: int  # calls whose cost was measured
    net_share: float  # share in the net time, weighted by net time
    wall_share: float  # including hooks, as a share of the time from the first MPI call to the end
    hook_init_ns: int
    hook_finalize_ns: int
    flushes: int
    flush_ns: int
    flush_bytes: int
    drains: int
    drain_ns: int
    drain_bytes: int
    offload_points: int = 0  # of monitored runs, and the next
    offloads: int = 0
    offloads_lost: int = 0
    offload_ns: int = 0
    offload_max_ns: int = 0  # the longest of all ranks
    offload_wait_ns: int = 0
    dropped: int


def mpi_share(process: Process) -> float:
    """Time inside MPI as a share of the net time, over all threads that call MPI; 0 to 1."""
    return process["mpi_ns"] / process["threads_ns"] if process["threads_ns"] > 0 else 0.0


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


def total_trace(processes: Sequence[Process]) -> Trace:
    return {
        "events": sum(process["trace"]["events"] for process in processes),
        "bytes": sum(process["trace"]["bytes"] for process in processes),
        "dropped": sum(process["trace"]["dropped"] for process in processes),
        "overwritten_bytes": sum(process["trace"]["overwritten_bytes"] for process in processes),
        "policy": next((process["trace"]["policy"] for process in processes), None),
        "kept_newest": any(process["trace"]["kept_newest"] for process in processes),
        "no_space": any(process["trace"]["no_space"] for process in processes),
        "written": all(process["trace"]["written"] for process in processes),
    }


def _per_call(sums: Sequence[float], calls: int) -> float:
    return sum(sums) / calls if calls else 0.0


def _error_of_sum(errors: Sequence[float | None]) -> float | None:
    """Of independent estimates: the squares of their half widths add up."""
    known = [error for error in errors if error is not None]
    return math.hypot(*known) if len(known) == len(errors) else None


def total_cost(processes: Sequence[Process]) -> TotalCost:
    costs = [process["cost"] for process in processes]
    net_ns = sum(process["net_ns"] for process in processes)
    spent_ns = sum(process["cost"]["net_share"] * process["net_ns"] for process in processes)
    wall_ns = sum(process["wall_ns"] for process in processes)
    hooks_ns = sum(cost["hook_init_ns"] + cost["hook_finalize_ns"] for cost in costs)
    ranks = max(len(processes), 1)
    calls = sum(process["calls"] for process in processes)
    return TotalCost(
        calls=calls,
        lookups=sum(process["lookups"] for process in processes),
        call_ns=_per_call([process["cost"]["call_ns"] * process["calls"] for process in processes], calls),
        lookup_ns=sum(cost["lookup_ns"] for cost in costs) / ranks,
        event_ns=max((cost["event_ns"] for cost in costs), default=0.0),
        events=sum(cost["events"] for cost in costs),
        wrapper_ns=sum(cost["wrapper_ns"] for cost in costs),
        wrapper_error_ns=_error_of_sum([cost["wrapper_error_ns"] for cost in costs]),
        weighed=sum(cost["weighed"] for cost in costs),
        net_share=spent_ns / net_ns if net_ns else 0.0,
        wall_share=(spent_ns + hooks_ns) / wall_ns if wall_ns else 0.0,
        hook_init_ns=sum(cost["hook_init_ns"] for cost in costs),
        hook_finalize_ns=sum(cost["hook_finalize_ns"] for cost in costs),
        flushes=sum(cost["flushes"] for cost in costs),
        flush_ns=sum(cost["flush_ns"] for cost in costs),
        flush_bytes=sum(cost["flush_bytes"] for cost in costs),
        drains=sum(cost["drains"] for cost in costs),
        drain_ns=sum(cost["drain_ns"] for cost in costs),
        drain_bytes=sum(cost["drain_bytes"] for cost in costs),
        offload_points=sum(cost["offload_points"] for cost in costs),
        offloads=sum(cost["offloads"] for cost in costs),
        offloads_lost=sum(cost["offloads_lost"] for cost in costs),
        offload_ns=sum(cost["offload_ns"] for cost in costs),
        offload_max_ns=max((cost["offload_max_ns"] for cost in costs), default=0),
        offload_wait_ns=sum(cost["offload_wait_ns"] for cost in costs),
        dropped=sum(cost["dropped"] for cost in costs),
    )
