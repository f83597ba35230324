"""Which ranks and threads share processors, and how much of their time ranks were on none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.groups import grouped
from tare.analysis.ranks import all_net_ns

if TYPE_CHECKING:
    from tare._native import Process
    from tare._tables import RegionsRow
    from tare.runs.metadata import Metadata

Rank = tuple[int, int]  # world, rank
# Threads of a team that work less than this, as a share of the one that works longest, are not busy.
BUSY = 0.1
# Regions that take less of the time of a rank do not count.
MIN_SHARE = 0.05


@dataclass(frozen=True)
class Crowd:
    """Ranks whose busy threads are more than the processors that they may use."""

    ranks: tuple[int, ...]
    processors: int
    threads: int  # of these ranks that are busy at the same time; at least one of each


def busy_threads(rows: Iterable[RegionsRow], processes: Iterable[Process]) -> dict[Rank, int]:
    """How many threads of a rank are busy at the same time, in regions of OpenMP that take some of its time.

    A rank that is not here has one.
    """
    net_ns = {(each.world, each.rank): each.net_ns - each.counted_ns for each in processes if each.rank >= 0}
    found: dict[Rank, int] = {}
    for rank, of_rank in grouped(rows, lambda row: (row.world, row.rank)).items():
        teams = [_team(of) for of in grouped(of_rank, lambda row: (row.pid, row.site)).values()]
        for size in sorted({size for size, _ in teams}):
            time_ns = sum(ns for of, ns in teams if of >= size)
            if rank in net_ns and time_ns >= MIN_SHARE * net_ns[rank]:
                found[rank] = max(size, 1)
    return found


def _team(rows: Sequence[RegionsRow]) -> tuple[int, int]:
    """The busy threads in a region, and its time. A runtime may take other threads each time."""
    regions_ns = sum(row.regions_ns for row in rows)
    threads = sum(row.team_ns for row in rows) / regions_ns if regions_ns else 0.0
    most_ns = max(row.work_ns for row in rows)
    busy = sum(row.work_ns >= BUSY * most_ns for row in rows if row.work_ns)
    return min(busy, round(threads)), regions_ns


def crowd_of(
    meta: Metadata, processes: Iterable[Process], busy: Mapping[Rank, int] | None = None
) -> Crowd | None:
    """The ranks of a world and host that have fewest processors for each; None if all have enough.

    Ranks are counted with those that may use the same processors, or some of them only. Where a process
    has not told which ones it may use, those of `tare run` count. `busy`: see busy_threads.
    """
    threads_of = busy or {}
    hosts: dict[tuple[int, str], list[tuple[int, frozenset[int]]]] = {}
    untold: list[Rank] = []
    for process in processes:
        if process.rank < 0:
            continue
        allowed = frozenset(process.scheduling.processors)
        if allowed:
            hosts.setdefault((process.world, process.host), []).append((process.rank, allowed))
        elif process.host == meta.host:
            untold.append((process.world, process.rank))

    def crowd(ranks: Sequence[Rank], processors: int) -> Crowd:
        threads = sum(threads_of.get(each, 1) for each in ranks)
        return Crowd(tuple(rank for _, rank in ranks), processors, threads)

    found = [crowd(untold, meta.processors)] if meta.processors is not None else []
    for (world, _), ranks in hosts.items():
        for allowed in {each for _, each in ranks}:
            found.append(crowd([(world, rank) for rank, each in ranks if each <= allowed], len(allowed)))
    crowded = [each for each in found if each.threads > each.processors]
    return max(crowded, key=lambda each: (each.threads / each.processors, each.threads), default=None)


@dataclass(frozen=True)
class OffProcessor:
    """Time of ranks on no processor, as shares of the net time of their threads: what is known of it."""

    descheduled: float  # they could have run
    blocked: float  # known to be outside MPI: they slept, waited in the kernel, or were stopped


def off_processor(processes: Sequence[Process]) -> OffProcessor | None:
    """The shares over some ranks; None if nothing is known.

    They are lower bounds: of a call that has not returned, as where ranks hang, nothing is known.
    """
    ranks = [process for process in processes if process.rank >= 0]
    if not any(each.scheduling.observed_ns for each in ranks):
        return None
    net_ns = sum(max(all_net_ns(each), each.scheduling.observed_ns) for each in ranks)
    return OffProcessor(
        sum(each.scheduling.descheduled_ns for each in ranks) / net_ns,
        sum(each.scheduling.blocked_outside_ns for each in ranks) / net_ns,
    )
