"""What threads of OpenMP lose: idle ones in regions, waits for critical sections, regions that are too short.

The time of a finding is that of ranks: what they would take less if all threads of their teams had as much to
do, which is what the threads idle, divided by their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tare.analysis import regions
from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.finding import (
    MIN_MPI_SHARE,
    MIN_SHARE,
    NAMED,
    OFTEN_PER_S,
    SHORT_CALL_NS,
    UNEVEN,
    Finding,
)
from tare.analysis.explain.outside import REGION
from tare.analysis.groups import added, grouped
from tare.analysis.hybrid import is_recorded_throughout
from tare.analysis.rows import Placed, line_of, placed, row_place
from tare.functions import meaning
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare._native import Process
    from tare._tables import ProfileRow, RegionsRow
    from tare.analysis.regions import Region


# Waits at the end of a region that are due to its section are at most so many times those for it once.
AS_LONG = 1.25


def idle_threads(basis: Basis, _: Told) -> list[Finding]:
    """The findings of regions, the most severe first."""
    rows = basis.outside_mpi.regions
    if not rows or any(map(regions.is_lost, rows)):
        return []
    by_rank = _of_whole_run(basis, regions.summed(rows, ["rank"]))
    teams = {who: max(1, *(of.threads for of in found)) for who, found in _by_process(by_rank).items()}
    contended = _contention(basis, by_rank, teams)
    found = []
    for at, of_line in grouped(by_rank, lambda of: line_of(placed(of))).items():
        cost_ns = sum(map(_cost_ns, of_line))
        told_ns = sum(each.take(at, cost_ns) for each in contended)
        if basis.share(cost_ns) < MIN_SHARE:
            continue
        left_ns = cost_ns - told_ns
        if told_ns:  # the others wait at the end, too, for who enters a section last
            left_ns = min(left_ns, sum(map(_uneven_ns, of_line)))
        of_region = _of_region(basis, of_line, max(left_ns / cost_ns, 0))
        reason = next((each for each in contended if _is_due_to(of_region, each)), None)
        if reason is not None:
            reason.finding = _with_end(basis, reason.finding, of_region)
        elif basis.share(left_ns) >= MIN_SHARE:
            found.append(of_region)
    is_tiny = any(each.kind == "tiny regions" for each in found)
    serial = [] if is_tiny else _serial(basis, by_rank, teams)
    told = [each.finding for each in contended if basis.share(each.finding.time_ns) >= MIN_SHARE]
    return sorted([*told, *found, *serial], key=lambda each: -each.time_ns)


def _of_whole_run(basis: Basis, found: Sequence[Region]) -> list[Region]:
    """The regions; where some were only counted, estimated from those that were measured, or left out."""
    if not basis.is_estimated:
        return list(found)
    weights = basis.outside_mpi.region_weights
    known = [(of, weights[line_of(placed(of))]) for of in found if line_of(placed(of)) in weights]
    return [
        replace(
            of,
            calls=round(weight * of.calls),
            **{
                name: round(weight * getattr(of, name))
                for name in ("time_ns", "team_ns", "work_ns", "idle_ns")
            },
            work_mean_ns=weight * of.work_mean_ns,
            work_max_ns=round(weight * of.work_max_ns),
        )
        for of, weight in known
    ]


@dataclass
class _Contended:
    """The waits for a critical section or a lock."""

    finding: Finding
    regions: frozenset[Placed]  # which threads enter it in; none: not known, so it may be any
    longest_ns: int  # of one wait
    untaken_ns: float  # what has been taken for the idle time of no region

    def take(self, region: Placed, idle_ns: float) -> float:
        """The part of a region's idle time that is in these waits, which no other region gets."""
        if self.regions and region not in self.regions:
            return 0.0
        taken_ns = min(idle_ns, self.untaken_ns)
        self.untaken_ns -= taken_ns
        return taken_ns


def _cost_ns(of: Region) -> float:
    return of.idle_ns / of.threads if of.threads else 0.0


def _uneven_ns(of: Region) -> float:
    """What threads cost because one has more to do; if all work for as long, they may take turns in that."""
    is_even = of.work_max_ns < UNEVEN * _others_ns(of)
    return _cost_ns(of) if is_even else of.work_max_ns - of.work_mean_ns


def _others_ns(of: Region) -> float:
    """The mean work of the threads but for the one with the most."""
    return (of.work_mean_ns * of.threads - of.work_max_ns) / max(of.threads - 1, 1)


def _who(of: Region | ProfileRow | RegionsRow | Process) -> int:
    """The rank; of a process without MPI a negative number, by its process ID."""
    return of.rank if of.rank is not None and of.rank >= 0 else -(of.pid or 1)


def _by_process(found: Sequence[Region]) -> dict[int, list[Region]]:
    return grouped(found, _who)


def _of_region(basis: Basis, of_line: Sequence[Region], untold: float) -> Finding:
    """Too short, or uneven: on the ranks that lose much, with threads of the one that loses most.

    `untold`: the share of what it costs that no other finding has.
    """
    worst = max(of_line, key=_cost_ns)
    ranks = _named({_who(of): _cost_ns(of) for of in of_line})
    of_line = [of for of in of_line if of.rank in ranks] if ranks else of_line
    cost_ns = untold * sum(map(_cost_ns, of_line))
    team_ns = sum(of.team_ns for of in of_line)
    calls, time_ns = sum(of.calls for of in of_line), sum(of.time_ns for of in of_line)
    rate = worst.calls / basis.profiled_ns * NS_PER_S if basis.profiled_ns else 0.0
    is_tiny = rate >= OFTEN_PER_S and time_ns <= SHORT_CALL_NS * calls
    return Finding(
        kind="tiny regions" if is_tiny else "idle threads",
        share=basis.share(cost_ns),
        time_ns=round(cost_ns),
        gain_ns=round(cost_ns) if basis.ranks == 1 else None,
        function=REGION,
        at=line_of(placed(worst)),
        ranks=ranks,
        calls=calls,
        per_second=rate if is_tiny else None,
        here_share=sum(of.idle_ns for of in of_line) / team_ns if team_ns else None,
        most_ns=time_ns / calls if is_tiny else worst.work_max_ns,
        mean_ns=_others_ns(worst),
        threads=worst.threads,
        detail=f"{worst.work_max_thread}{f' of rank {worst.rank}' if len(ranks) > 1 else ''}",
    )


def _is_due_to(region: Finding, contended: _Contended) -> bool:
    """Whether threads with even work idle at the end of a region because they enter its section in turn.

    Who enters it last then leaves it last: the others wait there as long as they waited for the section once.
    That may be the whole wait: a thread that gives a lock back often gets it again before the others.
    """
    found = contended.finding
    is_even = (region.most_ns or 0.0) < UNEVEN * (region.mean_ns or 0.0)
    once_ns = min(found.time_ns, contended.longest_ns * region.calls)
    return (
        region.kind == "idle threads"
        and is_even
        and region.at in contended.regions
        and set(region.ranks) <= set(found.ranks)
        and region.time_ns <= AS_LONG * once_ns
    )


def _with_end(basis: Basis, contended: Finding, region: Finding) -> Finding:
    time_ns = contended.time_ns + region.time_ns
    return replace(
        contended, time_ns=time_ns, share=basis.share(time_ns), here_share=contended.time_ns / time_ns
    )


def _contention(basis: Basis, by_rank: Sequence[Region], teams: dict[int, int]) -> list[_Contended]:
    """Lines where threads wait for one another to leave a critical section or to give back a lock."""
    rows = [row for row in basis.outside_mpi.lines if meaning(row.function).waits == "locks"]
    found = []
    for (function, at), of_line in grouped(rows, lambda row: (row.function, row_place(row))).items():
        inside = _regions_of(basis, function, at, by_rank)
        of_regions = [of for of in by_rank if line_of(placed(of)) in inside]
        sizes = teams | {
            who: max(of.threads for of in found) or 1 for who, found in _by_process(of_regions).items()
        }
        costs = added((_who(row), row.time_ns / sizes.get(_who(row), 1)) for row in of_line)
        ranks = _named(costs)
        of_line = [row for row in of_line if row.rank in ranks] if ranks else of_line
        cost_ns = sum(costs[rank] for rank in ranks) if ranks else sum(costs.values())
        calls = sum(row.calls for row in of_line)
        finding = Finding(
            kind="contention",
            share=basis.share(cost_ns),
            time_ns=round(cost_ns),
            function=function,
            at=at,
            ranks=ranks,
            calls=calls,
            mean_ns=sum(row.time_ns for row in of_line) / max(calls, 1),
        )
        longest_ns = max(row.max_ns or 0 for row in of_line)
        found.append(_Contended(finding, inside, longest_ns, cost_ns))
    return found


def _regions_of(basis: Basis, function: str, at: Placed, by_rank: Sequence[Region]) -> frozenset[Placed]:
    """The regions that waits are in: those of the innermost function on a call path that has any.

    The code of a region has the name of its function.
    """
    of_code = grouped(by_rank, lambda of: (of.file, of.caller))
    paths = basis.outside_mpi.lock_paths.get((function, at)) or [[(at.file, at.caller)]]
    found: set[Placed] = set()
    for path in paths:
        code = next((each for each in path if each in of_code and each != (None, None)), None)
        found |= {line_of(placed(of)) for of in of_code.get(code, ())} if code else set()
    return frozenset(found)


def _serial(basis: Basis, by_rank: Sequence[Region], teams: dict[int, int]) -> list[Finding]:
    """What one thread of each rank computes outside of regions while the others have nothing to do."""
    # What was not measured, or has not ended, may have been in regions.
    if basis.has_threads or not all(map(is_recorded_throughout, basis.processes)):
        return []
    in_regions = added((_who(of), of.time_ns) for of in by_rank)
    blocked = _blocked_outside(basis)
    # One process may run several programs, one after another.
    useful_ns = added((_who(process), basis.useful_ns_of(process)) for process in basis.processes)
    serial_ns = {
        who: max(ns - in_regions.get(who, 0) - blocked.get(who, 0), 0) for who, ns in useful_ns.items()
    }
    costs = {who: ns * (1 - 1 / teams.get(who, 1)) for who, ns in serial_ns.items()}
    if basis.share(sum(costs.values())) < MIN_MPI_SHARE:
        return []
    ranks = _named(costs)
    cost_ns = sum(costs[rank] for rank in ranks) if ranks else sum(costs.values())
    worst = max(costs, key=lambda who: costs[who])
    return [
        Finding(
            kind="serial computing",
            share=basis.share(cost_ns),
            time_ns=round(cost_ns),
            gain_ns=round(cost_ns) if basis.ranks == 1 else None,
            ranks=ranks,
            most_ns=serial_ns[worst],
            calls=teams.get(worst, 1),
        )
    ]


def _blocked_outside(basis: Basis) -> dict[int, int]:
    """How long the first thread of each process slept outside of MPI and of regions, ns.

    What it idles in regions, it may have slept.
    """
    own = [row for row in basis.outside_mpi.regions if row.regions]
    idle = added((_who(row), row.team_ns - row.work_ns) for row in own)
    slept = added((_who(each), each.scheduling.blocked_outside_ns) for each in basis.processes)
    return {who: max(ns - idle.get(who, 0), 0) for who, ns in slept.items()}


def _named(costs: dict[int, float]) -> tuple[int, ...]:
    """The ranks that lose much; none in a program without MPI."""
    most_ns = max(costs.values(), default=0.0)
    return tuple(sorted(rank for rank, ns in costs.items() if rank >= 0 and ns >= NAMED * most_ns))
