"""The processor time of a program by function, from samples of its stacks, and beside it the time in calls.

A sample stands for the processor time since the one before it of the same thread (docs/stacks.md). The
interval of a time by samples is that of a binomial share: n of N samples are in the function, with a standard
deviation of sqrt(n (1 - n / N)).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import sqrt
from pathlib import PurePath
from typing import TYPE_CHECKING

from tare import functions, units
from tare.analysis import profile

if TYPE_CHECKING:
    from tare._native import Frame
    from tare._tables import StackSamplesRow
    from tare.analysis.profile import Chosen
    from tare.runs.run import Run

NORMAL_95 = 1.96
# A share of the time that is worth mentioning.
MISSED = 0.05
UNKNOWN = "(unknown)"
INLINED = re.compile(r" \(inlined in (.+)\)$")

Rank = tuple[int, int]  # world, rank


@dataclass(frozen=True, kw_only=True)
class FunctionTime:
    """The time of all threads in a function.

    Of a function of the program: processor time by samples. Of one of MPI or of another source of events:
    time in its calls.
    """

    function: str
    source: str  # "program", or the source of events, like "MPI"
    time_ns: int  # in the function itself
    error_ns: int | None  # half the width of the 95 % confidence interval of it; 0: exact; None: not known
    with_callees_ns: int  # and in the functions that it calls
    calls: int | None  # None: they are not counted
    rank_mean_ns: float  # of the ranks that the run has
    rank_max_ns: int
    rank_max: int | None  # the rank with the longest time; None: it has no rank
    file: str | None = None
    object: str | None = None


@dataclass
class _Sums:
    samples: int = 0
    time_ns: int = 0
    with_callees_ns: int = 0
    of_rank: dict[Rank, int] = field(default_factory=lambda: defaultdict(int))


def samples(recorded: Run, chosen: Chosen | None = None) -> Sequence[StackSamplesRow]:
    """The samples of stacks, of the ranks and worlds that are chosen; none if none were taken."""
    of = chosen or profile.Chosen()
    return [
        row
        for row in recorded.rows(recorded.stack_samples)
        if (not of.ranks or row.rank in of.ranks) and (not of.worlds or row.world in of.worlds)
    ]


def by_function(recorded: Run, chosen: Chosen | None = None) -> list[FunctionTime]:
    """The functions of the program and those of the sources of events, the longest time first."""
    found = [*_of_program(recorded, samples(recorded, chosen)), *_of_calls(recorded, chosen)]
    return sorted(found, key=lambda each: each.time_ns, reverse=True)


@dataclass(frozen=True)
class More:
    """A function in which a rank spends more processor time than the other ranks on average."""

    function: str
    time_ns: int  # how much more


def more_than_others(recorded: Run, world: int, rank: int) -> More | None:
    """The function of the program that explains most of what the rank computes longer than the others.

    None if that is less than half of it, could be chance, or if no stacks were sampled. Time in libraries
    counts to the function of the program that calls them.
    """
    ranks = {process.rank for process in recorded.processes if process.world == world and process.rank >= 0}
    if rank not in ranks or len(ranks) < 2:
        return None
    own: dict[str, _Sums] = defaultdict(_Sums)
    others: dict[str, _Sums] = defaultdict(_Sums)
    for row in samples(recorded):
        if row.world == world and row.activity == "program" and row.rank in ranks:
            of = (own if row.rank == rank else others)[row.caller or UNKNOWN]
            of.samples += row.samples
            of.time_ns += row.time_ns
    more_ns = {name: own[name].time_ns - others[name].time_ns / (len(ranks) - 1) for name in {*own, *others}}
    name = max(more_ns, key=lambda each: more_ns[each], default=UNKNOWN)
    if name == UNKNOWN or more_ns[name] <= 0 or 2 * more_ns[name] < sum(more_ns.values()):
        return None
    number = own[name].samples + others[name].samples
    each_ns = (own[name].time_ns + others[name].time_ns) / number
    deviation_ns = each_ns * sqrt(own[name].samples + others[name].samples / (len(ranks) - 1) ** 2)
    return More(name, round(more_ns[name])) if more_ns[name] > NORMAL_95 * deviation_ns else None


def function_name(frame: Frame) -> str:
    """The function of a frame; if it is not known, the file that has its code."""
    return frame.caller or (f"({PurePath(frame.object).name})" if frame.object else UNKNOWN)


def _functions_of(frame: Frame) -> Iterator[tuple[str, str | None, str | None]]:
    """The function of a frame, by its name, file and object, and the one that it is inlined in."""
    name = function_name(frame)
    yield name, frame.file or None, frame.object or None
    if outer := INLINED.search(name):
        yield outer[1], frame.file or None, frame.object or None


def _of_program(recorded: Run, rows: Sequence[StackSamplesRow]) -> Iterator[FunctionTime]:
    sites = recorded.sites
    of_program = [row for row in rows if row.activity == "program"]
    in_all = sum(row.samples for row in rows)
    sums: dict[tuple[str, str | None, str | None], _Sums] = defaultdict(_Sums)
    for row in of_program:
        path = sites[row.site].path if row.site is not None else ()
        keys = [key for frame in path for key in _functions_of(frame)]
        innermost = sums[keys[0] if keys else (UNKNOWN, None, None)]
        innermost.samples += row.samples
        innermost.time_ns += row.time_ns
        innermost.of_rank[row.world, row.rank] += row.time_ns
        for key in dict.fromkeys(keys):
            sums[key].with_callees_ns += row.time_ns
    ranks = max(1, len({(row.world, row.rank) for row in rows}))
    for (name, file, object_), of in sums.items():
        share = of.samples / in_all if in_all else 0.0
        each_ns = of.time_ns / of.samples if of.samples else 0.0
        (_, rank), longest_ns = max(of.of_rank.items(), key=lambda each: each[1], default=((0, -1), 0))
        yield FunctionTime(
            function=name,
            source="program",
            time_ns=of.time_ns,
            error_ns=round(NORMAL_95 * sqrt(of.samples * (1 - share)) * each_ns),
            with_callees_ns=max(of.with_callees_ns, of.time_ns),
            calls=None,
            rank_mean_ns=of.time_ns / ranks,
            rank_max_ns=longest_ns,
            rank_max=rank if rank >= 0 else None,
            file=file,
            object=object_,
        )


def _of_calls(recorded: Run, chosen: Chosen | None) -> Iterator[FunctionTime]:
    ranks = max(1, len([process for process in recorded.processes if process.has_results]))
    of_ranks: dict[str, dict[Rank, int]] = defaultdict(dict)
    for row in profile.summed(recorded, ["function", "rank"], chosen):
        of_ranks[row.function][row.world, row.rank] = row.time_ns
    for row in profile.summed(recorded, ["function"], chosen):
        if not row.timed:
            continue
        (_, rank), longest_ns = max(of_ranks[row.function].items(), key=lambda each: each[1])
        yield FunctionTime(
            function=row.function,
            source=functions.meaning(row.function).source,
            time_ns=row.time_ns,
            error_ns=row.time_error_ns if row.estimated_calls else 0,
            with_callees_ns=row.time_ns,
            calls=row.calls,
            rank_mean_ns=row.time_ns / ranks,
            rank_max_ns=longest_ns,
            rank_max=rank if rank >= 0 else None,
        )


def limits(recorded: Run) -> Iterator[str]:
    """Sentences on what the samples do not show; none if they show all."""
    rows = recorded.rows(recorded.stack_sampling)
    taken = sum(row.samples for row in rows)
    missed_ns = sum(row.missed_ns for row in rows)
    if missed_ns > MISSED * sum(row.time_ns for row in recorded.rows(recorded.stack_samples)):
        yield (
            f"Of {units.duration(missed_ns)} there is no sample: threads had blocked the signal, or ended "
            "before the next one"
        )
    for what, sentence in (
        ("cut", "have a stack that could not be followed to its end"),
        ("lost", "found no room for their place"),
    ):
        number = sum(getattr(row, what) for row in rows)
        if number:
            yield f"{number:,} of {taken:,} samples {sentence}"
    if threads := sum(row.unsampled_threads for row in rows):
        yield f"{threads:,} threads were not sampled: the system had no timer for them (ulimit -i)"
