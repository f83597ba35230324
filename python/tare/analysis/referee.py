"""What tools cost a program, from spells of its runs that were led to a tool, or past all of them.

The time of a spell is that from its last begin on a rank to its last end: a rank that was late had the
others wait. A spell counts if all its ranks had a processor throughout: on a machine that does other
things, the others tell what these did. A longer spell is left out more often, so those that are left count
for these (inverse probability weighting; Horvitz, Thompson 1952), as if interruptions came at random. With
more ranks than processors, all spells count.

Spells at the same place of the program's own repetition are a stratum, in which they do the same work.
Their times are taken relative to the middle of both kinds there, so that phases of the program do not blur
the difference. Means are compared, not medians: what a tool does seldom counts as well.

The spells, in order of time, are cut into blocks with some of both kinds. The overhead is the ratio of the
sums over blocks, its interval that of a ratio of means of blocks (Cochran: Sampling Techniques, 1977), so
that what changes slowly on the machine does not make it too narrow. Chance alone decides which spells go
to a tool, so a systematic difference is what the tool costs.

A tool costs one process more than another, by where their memory and their ranks lie. Of several runs, what
their overheads differ beyond their own errors is estimated (DerSimonian, Laird: Meta-analysis in clinical
trials, 1986) and added to the variance of their mean, with as many degrees of freedom as both have together
(Satterthwaite 1946). Of one run, the interval is of what the tool costs this run.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from tare import units
from tare.analysis.groups import grouped

FEWEST = 3  # spells of each kind in a stratum
SPELLS_NEEDED = 20  # of each kind, in all strata that are compared
IN_BLOCK = 4  # spells of each kind, at least
FEWEST_BLOCKS = 5  # with fewer, intervals hold less often than they should
SHARE_NEEDED = 0.5  # of the time of all spells that is compared
WAITED = 0.02  # of the time of a spell, without a processor: the spell was interrupted
QUIET_NEEDED = 0.2  # of all spells; with fewer, those that were interrupted count as well
MOST_LEFT_OUT = 3.0  # a spell counts for at most e to this power
WIDEST = 0.05  # half the width of an interval that is still a result

BARE = 0  # the route past all tools


class PlacedSpell(NamedTuple):
    """A spell of one rank, as the referee leaves it."""

    begin_ns: int
    end_ns: int
    waited_ns: int  # of this time, without a processor, but ready to run
    anchor: int
    number: int
    ticks: int
    site: int
    route: int
    place: int  # in the program's repetition


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
class Spell:
    """A spell of all ranks together."""

    run: int
    begin_ns: int
    route: int
    ticks: int
    ns: int
    interrupted: bool
    keys: tuple[tuple[int, ...], ...]  # strata that it may be in, finest first


@dataclass(frozen=True)
class _Relative:
    spell: Spell
    time: float  # relative to the centre of the stratum
    weight: float  # ns

    @property
    def is_bare(self) -> bool:
        return self.spell.route == BARE


Rank = Sequence[PlacedSpell]


def weighed(runs: Sequence[Sequence[Rank]], tool: int, processors: int) -> Weighed:
    """What the tool of this route costs, from the spells of each rank of each run."""
    spells = [spell for run, ranks in enumerate(runs) for spell in joined(run, ranks)]
    if len(spells) < sum(max(map(len, ranks), default=0) for ranks in runs) / 2:
        return Weighed(0, 0, 0.0, why="the ranks do not pass the same places together")
    both = [spell for spell in spells if spell.route in (BARE, tool)]
    quiet = [spell for spell in both if not spell.interrupted]
    if any(len(ranks) > processors for ranks in runs) or len(quiet) < QUIET_NEEDED * len(both):
        quiet = both
    time_ns = sum(spell.ns for spell in quiet)
    rate = (len(both) - len(quiet)) / time_ns if time_ns else 0.0
    outcomes = []
    for level in range(len(spells[0].keys) if quiet else 0):
        outcomes.append(_compared(list(_relative(quiet, level, rate)), time_ns))
    if not outcomes:
        return Weighed(0, 0, 0.0, why="no spell can be compared")
    return min(outcomes, key=_rank_of)


def joined(run: int, ranks: Sequence[Rank]) -> Iterator[Spell]:
    """The spells that all ranks have gone through together, and with the same tool."""
    by_name = [{(spell.anchor, spell.number): spell for spell in rank} for rank in ranks]
    between: dict[int, int] = defaultdict(int)
    for spell in ranks[0] if ranks else ():
        between[spell.anchor] += spell.ticks
    for name, first in by_name[0].items() if by_name else ():
        each = [spells[name] for spells in by_name if name in spells]
        begin, end = max(spell.begin_ns for spell in each), max(spell.end_ns for spell in each)
        together = begin < min(spell.end_ns for spell in each)
        if len(each) < len(ranks) or not together or len({spell.route for spell in each}) > 1:
            continue
        waited = sum(spell.waited_ns for spell in each)
        like = (first.site, _about(first.ticks))
        keys = ((*like, first.number, _about(between[first.anchor])), (*like, first.place), like)
        yield Spell(run, begin, first.route, first.ticks, end - begin, waited > WAITED * (end - begin), keys)


def _about(number: int) -> int:
    """The same for numbers within about 9 %."""
    return round(8 * math.log2(1 + number))


def _relative(spells: Sequence[Spell], level: int, rate: float) -> Iterator[_Relative]:
    """The spells of strata that have enough of both kinds, in their order. `rate`: of interruptions."""
    from statistics import median

    strata: dict[tuple[int, ...], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for spell in spells:
        strata[spell.run, *spell.keys[level]][spell.route == BARE].append(spell.ns)
    centres = {
        place: (median(with_tool) + median(without)) / 2
        for place, (with_tool, without) in strata.items()
        if min(len(with_tool), len(without)) >= FEWEST
    }
    for spell in sorted(spells, key=lambda each: (each.run, each.begin_ns)):
        centre = centres.get((spell.run, *spell.keys[level]))
        if centre is not None:
            weight = centre * math.exp(min(rate * spell.ns, MOST_LEFT_OUT))
            yield _Relative(spell, spell.ns / centre, weight)


@dataclass(frozen=True)
class _Block:
    """The times of a block with the tool, and without it, each for all its work."""

    run: int
    with_tool: float
    without: float


@dataclass(frozen=True)
class _Ratio:
    """The time with the tool as a multiple of that without it, of several blocks."""

    ratio: float
    variance: float  # of the ratio
    freedom: float
    without: float

    @classmethod
    def of(cls, blocks: Sequence[_Block]) -> _Ratio:
        without = sum(each.without for each in blocks)
        ratio = sum(each.with_tool for each in blocks) / without
        squares = sum((each.with_tool - ratio * each.without) ** 2 for each in blocks)
        return cls(ratio, squares * len(blocks) / (len(blocks) - 1) / without**2, len(blocks) - 1, without)


def _of_runs(blocks: Sequence[_Block]) -> _Ratio:
    """The ratio over all runs; its variance contains what these differ beyond their own errors."""
    all_of = _Ratio.of(blocks)
    of_runs = [_Ratio.of(of) for of in grouped(blocks, lambda each: each.run).values() if len(of) > 1]
    weights = [1 / each.variance for each in of_runs if each.variance]
    if len(of_runs) < 2 or len(weights) < len(of_runs):
        return all_of
    mean = sum(weight * each.ratio for weight, each in zip(weights, of_runs, strict=True)) / sum(weights)
    heterogeneity = sum(
        weight * (each.ratio - mean) ** 2 for weight, each in zip(weights, of_runs, strict=True)
    )
    scale = sum(weights) - sum(weight**2 for weight in weights) / sum(weights)
    of_one = max(heterogeneity - (len(of_runs) - 1), 0.0) / scale
    total = sum(each.without for each in of_runs)
    between = of_one * sum((each.without / total) ** 2 for each in of_runs)
    variance = all_of.variance + between
    parts = all_of.variance**2 / all_of.freedom + between**2 / (len(of_runs) - 1)
    return replace(all_of, variance=variance, freedom=variance**2 / parts if parts else all_of.freedom)


def _blocks(spells: Sequence[_Relative]) -> Iterator[_Block]:
    block: list[_Relative] = []
    for spell in spells:
        if block and block[0].spell.run != spell.spell.run:
            block = []
        block.append(spell)
        bare = sum(each.is_bare for each in block)
        if min(bare, len(block) - bare) < IN_BLOCK:
            continue
        total = sum(each.weight for each in block)
        times = []
        for kind in (False, True):
            chosen = [each for each in block if each.is_bare == kind]
            times.append(
                total * sum(each.time * each.weight for each in chosen) / sum(each.weight for each in chosen)
            )
        yield _Block(block[0].spell.run, times[0], times[1])
        block = []


def _compared(spells: Sequence[_Relative], all_ns: float) -> Weighed:
    from tare import _native

    bare = sum(spell.is_bare for spell in spells)
    compared = sum(each.spell.ns for each in spells) / all_ns
    outcome = Weighed(len(spells) - bare, bare, compared)
    blocks = list(_blocks(spells))
    few = min(outcome.spells, bare)
    if few < SPELLS_NEEDED or len(blocks) < FEWEST_BLOCKS or outcome.compared < SHARE_NEEDED:
        share = units.percent(outcome.compared)
        return replace(outcome, why=f"only {few} spells can be compared, {share} of the time; run it longer")

    def half_of(ratio: _Ratio) -> float:
        return _native.student_95(ratio.freedom) * math.sqrt(ratio.variance)

    found = _of_runs(blocks)
    half, overhead = half_of(found), found.ratio - 1
    if half > WIDEST:
        what, remedy = "spells", "more or longer runs"
        if half_of(_Ratio.of(blocks)) <= WIDEST:
            what, remedy = "runs", "more of them"
        why = f"the {what} differ too much: ± {100 * half:.1f} points; {remedy} narrow that (--runs)"
        return replace(outcome, why=why)
    return replace(outcome, overhead=overhead, low=overhead - half, high=overhead + half)


def _rank_of(outcome: Weighed) -> tuple[bool, float]:
    """Results before what is none; narrow intervals before wide ones; else what compares most."""
    if outcome.low is None or outcome.high is None:
        return True, -outcome.compared
    return False, outcome.high - outcome.low
