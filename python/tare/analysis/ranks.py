"""Figures of ranks: the share of MPI, the cost account, how the ranks ended. Times are nanoseconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tare import command_name
from tare.analysis.endings import STATES
from tare.runs import missing

if TYPE_CHECKING:
    from tare._native import Process, State
    from tare.runs.run import Run


def all_net_ns(process: Process) -> int:
    """The net time of all threads that call MPI, with that in which calls were only counted."""
    return process.threads_ns + process.counted_ns


def mpi_share(process: Process) -> float | None:
    """Time inside MPI as a share of the net time, over all threads that call MPI; 0 to 1.

    An estimate of time, of calls timed by sample, can be more than all of it. Of calls that were only
    counted, the reader has estimated what they took (`whole_mpi_ns`); None if it could not.
    """
    if process.counted_ns and process.whole_mpi_ns is None:
        return None
    mpi_ns = process.whole_mpi_ns if process.counted_ns else process.mpi_ns
    all_ns = all_net_ns(process)
    return min((mpi_ns or 0) / all_ns, 1.0) if all_ns > 0 else 0.0


def are_mpi_shares_known(processes: Sequence[Process]) -> bool:
    """Whether the share of MPI is known of each."""
    return all(mpi_share(process) is not None for process in processes)


# Ranks with less than this share of the longest net time ended early: they computed less because of that.
ENDED_EARLY = 0.95


def end_together(processes: Sequence[Process]) -> bool:
    """Whether nothing is missing of ranks that a keeper saved while others went on for long."""
    longest_ns = max((process.net_ns for process in processes), default=0)
    return not any(each.saved and each.net_ns < ENDED_EARLY * longest_ns for each in processes)


def use_mpi(processes: Sequence[Process]) -> bool:
    """Whether one of them has called MPI, or has loaded it; others only use the API, or other sources.

    Of imported traces, it is only known that there are ranks.
    """
    return any(process.rank >= 0 or process.mpi or process.abi != "none" for process in processes)


def has_ranks(processes: Sequence[Process]) -> bool:
    """Whether one of them has a rank."""
    return any(process.rank >= 0 for process in processes)


def of_ranks(processes: Sequence[Process]) -> list[Process]:
    """Those that have a rank; all of them if none has. What starts ranks (`env`, `taskset`) is none."""
    found = [process for process in processes if process.rank >= 0]
    return found or list(processes)


def largest_world(processes: Sequence[Process]) -> int:
    """The world that is shown where there is room for one; -1 if no process has a rank.

    Its ranks have the most net time together; if none has any, it has the most ranks with results.
    """
    sums: dict[int, tuple[int, int]] = {}
    for process in processes:
        if process.rank >= 0:
            net_ns, ranks = sums.get(process.world, (0, 0))
            sums[process.world] = net_ns + process.net_ns, ranks + process.has_results
    return max(sums, key=lambda world: sums[world], default=-1)


def of_largest_world(processes: Sequence[Process]) -> list[Process]:
    """The ranks of the largest world, in their order."""
    world = largest_world(processes)
    return [process for process in processes if process.world == world and process.rank >= 0]


def mpi_versions(processes: Sequence[Process]) -> list[str]:
    """The versions of MPI, each once and on one line, without the package that Open MPI tells."""
    told = (" ".join(process.mpi.split(", package:")[0].split()) for process in processes)
    return [version for version in dict.fromkeys(told) if version]


def apart(run: Run) -> int:
    """The number of jobs of one rank each that a launcher has started together; 0: it is as it should be.

    So they are if the program's MPI library is not the one that the launcher belongs to.
    """
    own = [process for process in run.processes if process.rank == 0 and process.size == 1 and process.mpi]
    is_launched = bool(run.meta.command) and command_name.is_launcher(run.meta.command[0])
    if len(own) < 2 or len(own) < len(run.processes) or not is_launched:
        return 0
    last_start = max(process.start_ns for process in own)
    return len(own) if last_start < min(process.start_ns + process.wall_ns for process in own) else 0


def summed(run: Run) -> str:
    """The processes that sums are over: "all ranks", or "2 of 4 ranks" if results of some are missing."""
    lacking = missing.count(run.missing)
    if not lacking:
        return "all ranks" if use_mpi(run.processes) else "all processes"
    present = sum(process.rank >= 0 and process.has_results for process in run.processes)
    return f"{present:,} of {present + lacking:,} ranks"


def total_mpi_ns(processes: Sequence[Process]) -> int:
    """Net time in MPI, summed over all ranks: the base of the shares of functions and call sites."""
    return sum(process.mpi_ns for process in processes)


def total_unreturned_ns(processes: Sequence[Process]) -> int:
    """The part of `total_mpi_ns` in calls that have not returned, which are in no row of the profile."""
    return sum(process.unreturned_ns for process in processes)


def count_states(processes: Sequence[Process]) -> dict[State, int]:
    """Number of ranks in each state, in the order of `STATES`, without states that do not occur."""
    found = Counter(process.state for process in processes)
    return {state: found[state] for state in STATES if found[state]}


# What processes have less of for want of memory (`reduced` in docs/json.md).
_REDUCED = {
    "buffer": "a smaller event buffer than asked for",
    "events": "no events, only the profile",
    "events of threads": "no events of some threads, only their profile",
    "profile": "a small profile table",
}


def reductions(processes: Sequence[Process]) -> list[str]:
    """What was recorded less of because there was no room for it, in words."""
    counts = Counter(name for process in processes for name in process.reduced)
    return [
        f"{counts[name]:,} of {len(processes):,} processes have {text}: there was no room for more in shared "
        "memory and in the run directory"
        for name, text in _REDUCED.items()
        if counts[name]
    ]
