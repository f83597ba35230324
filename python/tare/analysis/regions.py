"""Parallel regions of OpenMP by source line (`tare run --with openmp`): time, and work of their threads.

A row of the table `regions` is a thread in a region; these sum them up. Times are nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.groups import grouped
from tare.analysis.rows import PLACE, Placed, fields

if TYPE_CHECKING:
    from tare._tables import RegionsRow

KEYS = ("rank", "thread")


@dataclass(frozen=True, kw_only=True)
class Region(Placed):
    """What threads did in a region: those of all ranks, of one rank, or one thread, as the keys say."""

    world: int
    rank: int | None = None  # None: of several
    thread: int | None = None
    pid: int | None = None  # of one process without a rank
    calls: int  # how often the region was encountered; of a thread: how often it was in its team
    time_ns: int  # of these, from begin to end
    threads: int  # that were in its team
    team_ns: int  # the time of the regions, times the threads of their teams
    work_ns: int  # the part of it in the program's code
    idle_ns: int  # the rest: threads waited for others, or had not come to the region
    work_mean_ns: float  # of a thread
    work_max_ns: int  # of the thread with the most
    work_max_rank: int
    work_max_thread: int
    idle_share: float  # idle_ns / team_ns


def summed(rows: Iterable[RegionsRow], keys: Sequence[str] = ()) -> list[Region]:
    """The regions by source line and by "rank" and "thread", if `keys` has them; most idle time first."""
    by_rank, by_thread = "rank" in keys, "thread" in keys
    rows = [row for row in rows if not is_lost(row)]

    def key(row: RegionsRow) -> tuple[object, ...]:
        line = (row.caller, row.file, row.line) if row.line else (row.object, row.offset)
        of_rank = (row.rank, row.pid) if by_rank or by_thread else ()
        return (row.world, *line, *of_rank, *((row.thread,) if by_thread else ()))

    found = [
        _sum(of, by_rank=by_rank or by_thread, by_thread=by_thread) for of in grouped(rows, key).values()
    ]
    return sorted(found, key=lambda region: -region.idle_ns)


def is_lost(row: RegionsRow) -> bool:
    """Whether it is of regions for which the profile of the thread had no room: only how many is known."""
    has_place = row.line is not None or row.object is not None
    return not (has_place or row.team_ns) and (row.calls > 0 or row.regions > 0)


def limits(found: Iterable[Region], rows: Iterable[RegionsRow]) -> list[str]:
    """Sentences about what the table does not tell. `rows`: those of the table `regions`."""
    if any(map(is_lost, rows)):
        return [
            "The profile table had no room for all regions: what threads did in the others is not known, "
            "neither here nor in the efficiencies"
        ]
    if not any(region.calls == 0 and (region.team_ns or region.thread is None) for region in found):
        return []
    return [
        "Regions of 0 calls have not ended: what threads wait at their ends is not known, neither here nor "
        "in the efficiencies; `tare where` shows who is there"
    ]


def _sum(rows: Sequence[RegionsRow], *, by_rank: bool, by_thread: bool) -> Region:
    work: dict[tuple[int, int, int], int] = {}  # by rank, process and thread: a region may have several sites
    for row in rows:
        if row.calls:
            thread = (row.rank, row.pid, row.thread)
            work[thread] = work.get(thread, 0) + row.work_ns
    team_ns, work_ns = sum(row.team_ns for row in rows), sum(work.values())
    most = max(work, key=lambda thread: work[thread], default=(rows[0].rank, rows[0].pid, rows[0].thread))
    return Region(
        world=rows[0].world,
        rank=rows[0].rank if by_rank else None,
        thread=rows[0].thread if by_thread else None,
        pid=rows[0].pid if by_rank and rows[0].rank < 0 else None,
        **fields(rows[0], PLACE),
        calls=sum(row.calls if by_thread else row.regions for row in rows),
        time_ns=sum(row.team_ns if by_thread else row.regions_ns for row in rows),
        threads=len(work),
        team_ns=team_ns,
        work_ns=work_ns,
        idle_ns=team_ns - work_ns,
        work_mean_ns=work_ns / len(work) if work else 0.0,
        work_max_ns=work.get(most, 0),
        work_max_rank=most[0],
        work_max_thread=most[2],
        idle_share=1 - work_ns / team_ns if team_ns else 0.0,
    )
