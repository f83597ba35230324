"""Samples of stacks: those that a run has, what they do not show, and what a late rank computes longer.

A sample stands for the processor time since the one before it of the same thread (docs/stacks.md). The time
by function and line: code_times.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import PurePath
from typing import TYPE_CHECKING

from tare import units
from tare.analysis import profile
from tare.analysis.sampling_error import NORMAL_95, Sampled

if TYPE_CHECKING:
    from tare._native import Frame, Site
    from tare._tables import StackSamplesRow
    from tare.analysis.profile import Chosen
    from tare.analysis.rows import AtPlace
    from tare.runs.run import Run

# A share of the time that is worth mentioning.
MISSED = 0.05
UNKNOWN = "(unknown)"
# As src/stack/modules.cpp knows them. Most have no names of their own functions.
OPENMP_RUNTIMES = ("libgomp", "libomp.", "libomp-", "libomp5", "libiomp5")
IN_OPENMP = "(OpenMP: waiting, scheduling)"


def samples(recorded: Run, chosen: Chosen | None = None) -> Sequence[StackSamplesRow]:
    """The samples of stacks, of the ranks and worlds that are chosen; none if none were taken."""
    of = chosen or profile.Chosen()
    return [
        row
        for row in recorded.rows(recorded.stack_samples)
        if (not of.ranks or row.rank in of.ranks) and (not of.worlds or row.world in of.worlds)
    ]


def function_name(frame: AtPlace, *, is_innermost: bool = True) -> str:
    """The function of a frame; if it is not known, the file that has its code.

    Only what is innermost in a runtime of OpenMP waits or schedules.
    """
    if is_innermost and not frame.caller and is_in_openmp(frame):
        return IN_OPENMP
    return frame.caller or (f"({PurePath(frame.object).name})" if frame.object else UNKNOWN)


def frames(site: int | None, sites: Sequence[Site]) -> Sequence[Frame]:
    """The frames of a stack or call path, innermost first, without runtimes of OpenMP that called others.

    Call paths have no such frames, so that both begin at the same functions.
    """
    path = profile.call_path(site, sites).path
    own = next((at for at, frame in enumerate(path) if not is_in_openmp(frame)), len(path))
    return [frame for at, frame in enumerate(path) if at <= own or not is_in_openmp(frame)]


def is_in_openmp(frame: AtPlace) -> bool:
    """Whether it is in a runtime of OpenMP, where threads wait, or look for work."""
    return PurePath(frame.object or "").name.startswith(OPENMP_RUNTIMES)


def function_of(row: StackSamplesRow, sites: Sequence[Site]) -> str:
    """The function whose time a sample is, where ranks are compared: one of the program.

    Time in libraries counts to it, but for what threads do in a runtime of OpenMP. Of a program without
    symbols it is the innermost one of the library that it calls.
    """
    path = sites[row.site].path if row.site is not None else ()
    if path and is_in_openmp(path[0]):
        return function_name(path[0])
    if row.caller:
        return row.caller
    of_program = next((at for at, frame in enumerate(path) if frame.object == row.object), len(path))
    named = [frame for frame in path[:of_program] if frame.caller]
    return next((frame.caller for frame in named if frame.object == named[-1].object), None) or UNKNOWN


@dataclass(frozen=True)
class More:
    """A function in which a rank spends more processor time than the other ranks on average."""

    function: str
    time_ns: int  # how much more


CodeTimes = dict[int, dict[str, Sampled]]


def times_of_ranks(recorded: Run, world: int) -> CodeTimes:
    """The time in each function (function_of), of each rank of a world. A rank without samples is empty."""
    sites = recorded.sites
    of_rank: CodeTimes = {
        each.rank: {} for each in recorded.processes if each.world == world and each.rank >= 0
    }
    for row in samples(recorded):
        if row.world == world and row.activity == "program" and row.rank in of_rank:
            times, name = of_rank[row.rank], function_of(row, sites)
            times[name] = times.get(name, Sampled()).plus(Sampled(row.time_ns, row.samples))
    return of_rank


def more_than_others(times: CodeTimes, rank: int) -> More | None:
    """The function of the program that explains most of what the rank computes longer than the others.

    None if that is less than half of it, could be chance, or if no stacks were sampled.
    """
    if rank not in times or len(times) < 2:
        return None
    own = times[rank]
    others: dict[str, Sampled] = defaultdict(Sampled)
    for name, time in (each for other, of in times.items() if other != rank for each in of.items()):
        others[name] = others[name].plus(time)
    ranks = len(times)

    def of_own(name: str) -> Sampled:
        return own.get(name, Sampled())

    more_ns = {name: of_own(name).time_ns - others[name].time_ns / (ranks - 1) for name in {*own, *others}}
    name = max(more_ns, key=lambda each: more_ns[each], default=UNKNOWN)
    if name == UNKNOWN or more_ns[name] <= 0 or 2 * more_ns[name] < sum(more_ns.values()):
        return None
    number = of_own(name).samples + others[name].samples / (ranks - 1) ** 2
    deviation_ns = of_own(name).plus(others[name]).each_ns * sqrt(number)
    return More(name, round(more_ns[name])) if more_ns[name] > NORMAL_95 * deviation_ns else None


def limits(recorded: Run) -> Iterator[str]:
    """Sentences on what the samples do not show; none if they show all."""
    rows = recorded.rows(recorded.stack_sampling)
    taken = sum(row.samples for row in rows)
    missed_ns = sum(row.missed_ns for row in rows)
    if missed_ns > MISSED * sum(row.time_ns for row in recorded.rows(recorded.stack_samples)):
        yield (
            f"Of {units.duration(missed_ns)} there is no sample: threads had blocked the signal, or ended "
            "before the next one, or the program reads the signal by signalfd"
        )
    for what, sentence in (
        ("cut", "have a stack that could not be followed to its end"),
        ("lost", "found no room for their place"),
    ):
        number = sum(getattr(row, what) for row in rows)
        if number:
            yield f"{number:,} of {taken:,} samples {sentence}"
    if threads := sum(row.unsampled_threads for row in rows):
        were = units.number_of(threads, "thread was", "threads were")
        yield f"{were} not sampled: the system had no timer left (ulimit -i)"
