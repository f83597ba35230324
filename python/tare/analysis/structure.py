"""The phases that a trace shows, with the loops in them: those of all ranks together (docs/analyses.md).

Times are nanoseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from tare.analysis.groups import grouped
from tare.analysis.rows import PLACE, Placed, fields, place_of

if TYPE_CHECKING:
    from tare._native import DetectedPhase, Loop, Site, SlowIteration
    from tare.runs.run import Run

# Of the iterations of a loop, so many of the slowest are listed.
MAX_SLOWEST = 5
# What a row has of its detected phase.
OF_DETECTED = (
    "world", "number", "phase", "start_ns", "mpi_share", "function", "outside_calls", "line_share",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Slow:
    """An iteration that takes more than twice the third quartile, on the rank on which it takes longest."""

    iteration: int  # from 0 on each rank: of those in the trace
    rank: int
    start_ns: int  # Unix time
    duration_ns: int
    mpi_ns: int  # part of the duration: in MPI
    cause_rank: int  # the rank on which most of the additional time is spent
    cause_function: str  # it is spent in calls of this function or before them
    cause_at: Placed  # where this function is called
    cause_in_call: bool  # True: in the calls; False: outside MPI before them
    cause_ns: int  # time that exceeds the usual time there


@dataclass(frozen=True, kw_only=True)
class LoopRow(Placed):
    """Iterations that begin with calls of one line, the place of the row; over all ranks that have them."""

    function: str  # the function that this line calls
    ranks: tuple[int, ...]  # ranks that have these iterations
    iterations: int  # the largest number of a rank
    median_ns: int  # the median over ranks of their median durations
    longest_ns: int  # the longest iteration of all ranks
    slow_iterations: int  # the largest number of a rank
    slowest: tuple[Slow, ...]  # the longest first


@dataclass(frozen=True, kw_only=True)
class PhaseRow(Placed):
    """A detected phase. Its place is the line with the most time: in its calls and before them."""

    world: int
    number: int  # in its world, in the order of time
    phase: str  # its name, which is equal for similar phases
    start_ns: int  # Unix time
    duration_ns: int
    mpi_share: float  # share of MPI in the time of the ranks
    function: str  # the function that the line calls
    outside_calls: bool  # all time of the line is outside MPI, before its calls
    line_share: float  # share of the line in the time of the ranks
    loops: tuple[LoopRow, ...]  # those of the most ranks first


def phases(run: Run) -> list[PhaseRow]:
    """The phases by world and time; reads the trace."""
    found = run.structure
    loops = grouped(found.loops, lambda loop: (loop.world, loop.number))
    return [_phase(each, loops.get((each.world, each.number), []), run.sites) for each in found.phases]


def _phase(of: DetectedPhase, loops: Sequence[Loop], sites: Sequence[Site]) -> PhaseRow:
    by_line = grouped(loops, lambda loop: (loop.function, loop.site))
    together = sorted(by_line.values(), key=lambda each: (-len(each), each[0].rank))
    return PhaseRow(
        **fields(of, OF_DETECTED),
        duration_ns=of.end_ns - of.start_ns,
        loops=tuple(_loop(each, sites) for each in together),
        **_place(of.site, sites),
    )


def _loop(of: Sequence[Loop], sites: Sequence[Site]) -> LoopRow:
    slow = [(loop, each) for loop in of for each in loop.slow]
    slowest: list[tuple[Loop, SlowIteration]] = []
    for loop, each in sorted(slow, key=lambda of_rank: -of_rank[1].duration_ns):
        if not any(_correspond(each, listed, by_number=not loop.has_gaps) for _, listed in slowest):
            slowest.append((loop, each))
    return LoopRow(
        function=of[0].function,
        ranks=tuple(loop.rank for loop in of),
        iterations=max(loop.iterations for loop in of),
        median_ns=round(median(loop.median_ns for loop in of)),
        longest_ns=max(loop.longest_ns for loop in of),
        slow_iterations=max(loop.slow_iterations for loop in of),
        slowest=tuple(_slow(loop.rank, each, sites) for loop, each in slowest[:MAX_SLOWEST]),
        **_place(of[0].site, sites),
    )


def _correspond(one: SlowIteration, longer: SlowIteration, *, by_number: bool) -> bool:
    """Whether they are the same iteration of several ranks; else one goes on in the middle of the other."""
    if by_number:
        return one.iteration == longer.iteration
    middle_ns = one.start_ns + one.duration_ns // 2
    return longer.start_ns <= middle_ns < longer.start_ns + longer.duration_ns


def _slow(rank: int, of: SlowIteration, sites: Sequence[Site]) -> Slow:
    names = (
        "iteration", "start_ns", "duration_ns", "mpi_ns", "cause_rank", "cause_function", "cause_in_call",
        "cause_ns",
    )  # fmt: skip
    return Slow(rank=rank, cause_at=place_of(of.cause_site, sites), **fields(of, names))


def _place(site: int, sites: Sequence[Site]) -> dict[str, Any]:
    return fields(place_of(site, sites), PLACE)
