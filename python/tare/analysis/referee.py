"""What tools cost a program, from spells of its runs that were led to a tool, or past all of them.

Spells at the same place of the program's own repetition are a stratum: of the same run, with the same site of
the anchor from which on they are numbered, the same number, and like numbers of ticks of the spell and of
what lies between its anchors. In a stratum the spells do the same work, so their times are compared. On a
machine that does other things, the longer times are those of spells that were interrupted. So the time of a
kind of spells is the mean of the shorter half of them, without the shortest twentieth.

The overhead is the ratio of the sums over strata, each weighted by its number of spells. Its interval is that
of a bootstrap within strata (Efron, Tibshirani: An Introduction to the Bootstrap, 1993). Chance alone
decides which spells go to a tool, so a systematic difference is what the tool costs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tare import units

LOW, HIGH = 0.05, 0.5  # quantiles between which the times of a stratum count
FEWEST = 3  # spells of each kind in a stratum
SPELLS_NEEDED = 20  # of each kind, in all strata that are compared
SHARE_NEEDED = 0.5  # of the time of all spells that is compared; with less, strata are coarser
WIDEST = 0.05  # half the width of an interval that is still a result
RESAMPLES = 400
MOST_DRAWS = 4_000_000  # of spells, for all resamples together

BARE = 0  # the route past all tools


@dataclass(frozen=True)
class PlacedSpell:
    """A spell of one rank, as the referee leaves it."""

    begin_ns: int
    end_ns: int
    anchor: int
    number: int
    ticks: int
    site: int
    route: int


@dataclass(frozen=True)
class Weighed:
    """What a tool costs: shares of the time without it; 0.03 is 3 %."""

    spells: int  # of the tool that were compared
    bare_spells: int  # with so many others
    compared: float  # share of the time of these spells in that of all spells of both kinds
    overhead: float | None = None  # None: not determined
    low: float | None = None  # its 95 % confidence interval
    high: float | None = None
    why: str = ""  # why it is not determined


@dataclass(frozen=True)
class _Spell:
    """A spell of all ranks together."""

    route: int
    place: tuple[int, ...]
    likeness: tuple[int, ...]
    ns: float


Rank = Sequence[PlacedSpell]
Stratum = tuple[list[float], list[float]]  # times with the tool, and without it


def weighed(runs: Sequence[Sequence[Rank]], tool: int) -> Weighed:
    """What the tool of this route costs, from the spells of each rank of each run."""
    spells: list[_Spell] = []
    of_one_rank = 0
    for run, ranks in enumerate(runs):
        spells.extend(_joined(run, ranks))
        of_one_rank += max(map(len, ranks), default=0)
    if len(spells) < of_one_rank / 2:
        return Weighed(0, 0, 0.0, why="the ranks do not pass the same places together")
    both = [spell for spell in spells if spell.route in (BARE, tool)]
    total_ns = sum(spell.ns for spell in both)
    strata = _strata(both, tool, lambda spell: spell.place)
    if _time_of(strata) < SHARE_NEEDED * total_ns:
        strata = _strata(both, tool, lambda spell: spell.likeness)
    counts = [sum(len(stratum[kind]) for stratum in strata) for kind in (0, 1)]
    outcome = Weighed(counts[0], counts[1], _time_of(strata) / total_ns if total_ns else 0.0)
    return _with_interval(outcome, strata)


def _time_of(strata: Sequence[Stratum]) -> float:
    return sum(sum(times) for stratum in strata for times in stratum)


def _with_interval(outcome: Weighed, strata: Sequence[Stratum]) -> Weighed:
    if min(outcome.spells, outcome.bare_spells) < SPELLS_NEEDED or outcome.compared < SHARE_NEEDED:
        few = min(outcome.spells, outcome.bare_spells)
        why = f"only {few} spells can be compared, {units.percent(outcome.compared)} of the time"
        return replace(outcome, why=why)
    overhead, low, high = _interval(strata)
    if (high - low) / 2 > WIDEST:
        why = f"the spells differ too much: ± {50 * (high - low):.1f} points; more runs narrow that (--runs)"
        return replace(outcome, why=why)
    return replace(outcome, overhead=overhead, low=low, high=high)


def _joined(run: int, ranks: Sequence[Rank]) -> list[_Spell]:
    """The spells that all ranks have gone through together, and with the same tool."""
    by_name: list[Mapping[tuple[int, int], PlacedSpell]] = [
        {(spell.anchor, spell.number): spell for spell in rank} for rank in ranks
    ]
    between: dict[int, int] = defaultdict(int)
    for spell in ranks[0] if ranks else ():
        between[spell.anchor] += spell.ticks
    result = []
    for name, first in by_name[0].items() if by_name else ():
        each = [spells[name] for spells in by_name if name in spells]
        together = max(spell.begin_ns for spell in each) < min(spell.end_ns for spell in each)
        if len(each) < len(ranks) or not together or len({spell.route for spell in each}) > 1:
            continue
        ns = sum(spell.end_ns - spell.begin_ns for spell in each) / len(each)
        alike = (run, first.site, _about(first.ticks))
        place = (*alike, first.number, _about(between[first.anchor]))
        result.append(_Spell(first.route, place, alike, ns))
    return result


def _about(number: int) -> int:
    """The same for numbers within about 9 %."""
    return round(8 * math.log2(1 + number))


def _strata(spells: Iterable[_Spell], tool: int, key: Callable[[_Spell], tuple[int, ...]]) -> list[Stratum]:
    """The strata that have enough spells of both kinds."""
    found: dict[tuple[int, ...], Stratum] = defaultdict(lambda: ([], []))
    for spell in spells:
        found[key(spell)][0 if spell.route == tool else 1].append(spell.ns)
    return [stratum for stratum in found.values() if min(map(len, stratum)) >= FEWEST]


def _time(times: Sequence[float]) -> float:
    ordered = sorted(times)
    first = int(LOW * len(ordered))
    chosen = ordered[first : max(first + 1, round(HIGH * len(ordered)))]
    return sum(chosen) / len(chosen)


def _ratio(strata: Sequence[Stratum]) -> float:
    sums = [0.0, 0.0]
    for stratum in strata:
        weight = len(stratum[0]) + len(stratum[1])
        for kind, times in enumerate(stratum):
            sums[kind] += weight * _time(times)
    return sums[0] / sums[1] - 1


def _interval(strata: Sequence[Stratum]) -> tuple[float, float, float]:
    import random  # takes longer to load than the rest

    spells = sum(len(with_tool) + len(without) for with_tool, without in strata)
    resamples = max(100, min(RESAMPLES, MOST_DRAWS // spells))
    chance = random.Random(spells)  # the same runs give the same interval
    ratios = sorted(
        _ratio([
            (chance.choices(with_tool, k=len(with_tool)), chance.choices(without, k=len(without)))
            for with_tool, without in strata
        ])
        for _ in range(resamples)
    )  # fmt: skip
    return _ratio(strata), ratios[round(0.025 * resamples)], ratios[round(0.975 * resamples) - 1]
