"""How much longer a rank is in some code of the program than the mean of the ranks of its world.

Only differences that are no chance are told: sampling_error.py, corrected for all ranks and all code that
are compared (docs/stacks.md).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, TypeVar

from tare.analysis import sampling_error
from tare.analysis.ranks import of_ranks
from tare.analysis.sampling_error import Difference, Sampled
from tare.analysis.stacks import UNKNOWN, function_of

if TYPE_CHECKING:
    from tare._native import Site
    from tare._tables import StackSamplesRow
    from tare.runs.run import Run

Code = TypeVar("Code", bound=Hashable)
Rank = tuple[int, int]  # world, rank
MANY = 200


@dataclass(frozen=True)
class More:
    """A function of the program in which a rank is longer than the mean of the ranks, or shorter."""

    world: int
    rank: int
    function: str  # stacks.function_of
    file: str | None
    more_ns: int  # negative: less
    error_ns: int  # half of its 95 % confidence interval


def ranks_of(recorded: Run) -> dict[int, int]:
    """The number of ranks of each world that the run has.

    Processes without a rank count as one where there are no ranks; else they are none, as what starts ranks.
    """
    found: dict[int, set[int]] = defaultdict(set)
    for process in of_ranks([each for each in recorded.processes if each.has_results]):
        found[process.world].add(process.rank)
    return {world: len(ranks) for world, ranks in found.items()}


def totals(rows: Iterable[StackSamplesRow]) -> dict[Rank, Sampled]:
    """All samples of each rank."""
    found: dict[Rank, Sampled] = defaultdict(Sampled)
    for row in rows:
        key = row.world, row.rank
        found[key] = found[key].plus(Sampled(row.time_ns, row.samples))
    return found


def from_mean(
    times: Mapping[tuple[Code, Rank], Sampled],
    of_rank: Mapping[Rank, Sampled],
    ranks: Mapping[int, int],
    *,
    only_certain: bool = False,
) -> dict[tuple[Code, Rank], tuple[Difference, bool]]:
    """The differences of these times, and whether each is no chance; only of worlds with several ranks.

    With `only_certain`, without those that are chance at first sight.
    """
    together: dict[tuple[Code, int], Sampled] = defaultdict(Sampled)
    for (code, (world, _)), time in times.items():
        together[code, world] = together[code, world].plus(time)
    of_world: dict[int, Sampled] = defaultdict(Sampled)
    for (world, _), time in of_rank.items():
        of_world[world] = of_world[world].plus(time)
    found = {
        (code, (world, rank)): sampling_error.from_mean(
            time, together[code, world], of_rank[world, rank], of_world[world], ranks[world]
        )
        for (code, (world, rank)), time in times.items()
        if rank >= 0
        and ranks.get(world, 0) > 1
        and not (only_certain and _is_chance(time, together[code, world], ranks[world]))
    }
    compared = sum(ranks.get(world, 0) for _, world in together)
    certain = sampling_error.certain(list(found.values()), compared)
    return {key: (of, is_certain) for (key, of), is_certain in zip(found.items(), certain, strict=True)}


def _is_chance(own: Sampled, every: Sampled, ranks: int) -> bool:
    """Whether a difference from the mean is of so few deviations that no test takes it for real.

    There are millions of differences on 100,000 ranks, and testing one takes ten microseconds. Among 200
    ranks or more, p has to be below 0.00025: with two samples, that takes 1.4 deviations, with five, two.
    """
    least = 1.0 if ranks < MANY else 1.4 if own.samples < 5 else 2.0
    return abs(own.time_ns - every.time_ns / ranks) < least * own.each_ns * sqrt(own.samples)


def of_functions(
    rows: Sequence[StackSamplesRow], ranks: Mapping[int, int], sites: Sequence[Site]
) -> list[More]:
    """The functions of the program in which ranks differ from the mean, the most significant first.

    Of ranks that were found in the function: all others would differ alike.
    """
    times: dict[tuple[tuple[str, str | None], Rank], Sampled] = defaultdict(Sampled)
    for row in rows:
        function = function_of(row, sites) if row.activity == "program" else UNKNOWN
        if function != UNKNOWN:
            file = row.file if function == row.caller else None
            key = (function, file or None), (row.world, row.rank)
            times[key] = times[key].plus(Sampled(row.time_ns, row.samples))
    found = from_mean(times, totals(rows), ranks, only_certain=True)
    certain = [(key, of) for key, (of, is_certain) in found.items() if is_certain]
    certain.sort(key=lambda each: (each[1].p, -abs(each[1].more_ns)))
    return [
        More(world, rank, function, file, round(of.more_ns), round(of.error_ns))
        for ((function, file), (world, rank)), of in certain
    ]
