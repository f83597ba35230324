"""POP's efficiencies of programs that use MPI and OpenMP, or OpenMP alone.

The definitions are those of the POP project's multiplicative model for hybrid programs
(https://co-design.pop-coe.eu/metrics/hm/parallel_efficiency.html and the pages beside it): the
efficiencies of all threads, and those of MPI, for which the time in OpenMP is as useful as computing.
OpenMP has their quotients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tare.analysis.efficiency import Efficiency, by_world, efficiencies, useful_ns
from tare.analysis.groups import grouped
from tare.analysis.regions import is_lost, summed

if TYPE_CHECKING:
    from tare._native import Process
    from tare._tables import RegionsRow
    from tare.runs.run import Run

# Why there are no efficiencies.
MORE_THREADS = "several threads of a process call MPI"
NO_TIME = "no thread has net time"
NOT_ALL = "not all of the time is known: calls were only counted, recording paused, or a process did not end"
NO_ROOM = "the profile table had no room for all parallel regions"
NOT_ENDED = "a parallel region had not ended when its process did"


@dataclass(frozen=True, kw_only=True)
class HybridEfficiency:
    """The efficiencies of the threads of one world, or of a process without MPI; 0 to 1.

    All are None if `why_none` says why.
    """

    world: int | None  # None: a process without MPI
    pid: int | None  # of that process
    threads: int  # of all processes, that were in teams; at least one of each process
    parallel_efficiency: float | None = (
        None  # mean useful time of a thread / net time: product of the next two
    )
    load_balance: float | None = None  # mean useful time of a thread / largest
    communication_efficiency: float | None = None  # largest useful time of a thread / net time
    openmp_parallel_efficiency: float | None = None  # the same divided by those of MPI
    openmp_load_balance: float | None = None
    openmp_communication_efficiency: float | None = None
    why_none: str | None = None


def of_run(recording: Run) -> list[HybridEfficiency]:
    """The efficiencies of a run; none if constructs of OpenMP were not recorded."""
    if "openmp" not in recording.meta.options.sources:
        return []
    processes = recording.processes
    return hybrid_efficiencies(efficiencies(processes), processes, recording.rows(recording.regions))


def hybrid_efficiencies(
    found: Sequence[Efficiency], processes: Sequence[Process], rows: Sequence[RegionsRow]
) -> list[HybridEfficiency]:
    """The efficiencies of each world that uses OpenMP, and of each process without MPI that does.

    `found`: those of MPI. `rows`: of the table `regions`.
    """
    of_process = grouped(rows, lambda row: (row.world, row.rank, row.pid, row.start_ns))
    of_mpi = {each.world: each for each in found}
    result = []
    for world, ranks in sorted(by_world(processes).items()):
        if any(_key(process) in of_process for process in ranks):
            result.append(_efficiency(ranks, of_process, of_mpi[world]))
    alone = [process for process in processes if process.rank < 0 and _key(process) in of_process]
    return result + [_efficiency([process], of_process, None) for process in alone]


def _key(process: Process) -> tuple[int, int, int, int]:
    return process.world, process.rank, process.pid, process.start_ns


def _efficiency(
    processes: Sequence[Process],
    of_process: dict[tuple[int, int, int, int], list[RegionsRow]],
    of_mpi: Efficiency | None,
) -> HybridEfficiency:
    useful = [ns for each in processes for ns in useful_of_threads(each, of_process.get(_key(each), ()))]
    world, pid = (of_mpi.world, None) if of_mpi else (None, processes[0].pid)
    unknown = HybridEfficiency(world=world, pid=pid, threads=len(useful))
    if any(process.threads_ns > process.net_ns for process in processes):
        return replace(unknown, why_none=MORE_THREADS)
    if not all(map(is_recorded_throughout, processes)):
        return replace(unknown, why_none=NOT_ALL)
    of_ranks = [of_process.get(_key(process), []) for process in processes]
    if any(is_lost(row) for rows in of_ranks for row in rows):
        return replace(unknown, why_none=NO_ROOM)
    if any(region.calls == 0 for rows in of_ranks for region in summed(rows)):
        return replace(unknown, why_none=NOT_ENDED)
    net_ns = max(process.net_ns for process in processes)
    mean, most = sum(useful) / len(useful), max(useful)
    if net_ns <= 0 or most <= 0:
        return replace(unknown, why_none=NO_TIME)
    of_all = (mean / net_ns, mean / most, most / net_ns)
    base = (
        (of_mpi.parallel_efficiency, of_mpi.load_balance, of_mpi.communication_efficiency)
        if of_mpi
        else (1.0, 1.0, 1.0)
    )
    of_openmp = [whole / part if part else None for whole, part in zip(of_all, base, strict=True)]
    return replace(
        unknown,
        parallel_efficiency=of_all[0],
        load_balance=of_all[1],
        communication_efficiency=of_all[2],
        openmp_parallel_efficiency=of_openmp[0],
        openmp_load_balance=of_openmp[1],
        openmp_communication_efficiency=of_openmp[2],
    )


def is_recorded_throughout(process: Process) -> bool:
    """Whether all of the time of a process was recorded, and has ended: regions may be in the rest."""
    return not (process.counted_ns or process.pauses) and process.state in ("finished", "exited")


def useful_of_threads(process: Process, rows: Sequence[RegionsRow]) -> list[int]:
    """The useful time of each thread of a process: in the program's code, outside MPI and OpenMP, in ns.

    The first thread computes outside of regions, too. Another one that encounters regions and is in no team
    of others counts as long as it is in its own.
    """
    of_thread = grouped(rows, lambda row: row.thread)
    result = []
    for thread in sorted({0, *of_thread}):
        own = of_thread.get(thread, [])
        encountered_ns = sum(row.regions_ns for row in own)
        is_alone = sum(row.calls for row in own) == sum(row.regions for row in own)
        outside_ns = useful_ns(process) if thread == 0 else encountered_ns if is_alone else 0
        result.append(max(outside_ns - encountered_ns + sum(row.work_ns for row in own), 0))
    return result
