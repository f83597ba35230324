"""What measuring costs, found by the run itself: `tare run --weigh` and `--budget` (src/recorder/spells.h).

A share of the spells, chosen at random, are controls, which only count calls. The others, in which tare
does what it does in any run (with --budget: what the budget allows), are compared with controls that are
neighbours. Spells between synchronisation points of the same call sites, of like length and with like
numbers of calls, are a stratum. Timed spells, of programs without such points, are all of one stratum; their
time is that of a call. The time of a spell is taken relative to the centre of its stratum, the
middle of the medians of both kinds, so that phases of the program do not blur the difference. The
spells, in order of time, are then cut into blocks: a block ends as soon as it has spells of both kinds.
A block says how much longer a synchronisation point, or a call, takes with measuring, as the logarithm of a
ratio. The estimate is the mean of the blocks, weighted by time, without the lowest and the highest tenth:
one interruption by the machine may be longer than all that measuring costs. Its interval is that of a
bootstrap over blocks (Efron, Tibshirani: An Introduction to the Bootstrap, 1993), widened by Student's
factor. Spells are chosen at random, so nothing but measuring differs between the two kinds.

The time that flushes took is known, and seldom: it is taken out first, and added to the estimate.

A run with a budget but without controls is compared in the same way: chance decides which of its spells
only count. The result is then scaled to the run, because these spells cost next to nothing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tare.analysis.groups import grouped
from tare.analysis.intervals import NORMAL_QUANTILE
from tare.analysis.rows import changed

if TYPE_CHECKING:
    from tare._native import Spell
    from tare.runs.run import Run

BLOCKS_NEEDED = 20
TRIM = 0.1  # of the weight, at each end
RESAMPLES = 1000
MAX_BLOCKS = 500  # that are resampled; of more, neighbours are joined
SITES_MATTER = 8  # synchronisation points; in longer spells it does not matter where they begin
WIDEST = 0.05  # half the width of an interval that is still a result
LEAK_ALLOWED = 0.1  # of the calls of an unmeasured spell
SEVERAL_NODES = "ranks of several nodes, which seldom meet"


@dataclass(frozen=True)
class Trial:
    """The result of a trial. Shares are of the time that the program takes without measuring: 0.03 is 3 %."""

    measured: int  # number of spells that are not controls
    unmeasured: int  # number of controls; of a run with a budget alone: of spells that only count
    unmeasured_share: float  # share of controls in the time of all spells
    blocks: int  # number of blocks of neighbouring spells that were compared
    drains: float  # part of `overhead` that is due to flushes
    overhead: float | None = None  # None: not determined
    low: float | None = None  # its 95 % confidence interval
    high: float | None = None
    why: str | None = None  # why it is not determined


@dataclass(frozen=True)
class _Spell:
    """A spell of all ranks together."""

    measured: bool  # no control
    key: tuple[object, ...]
    begin_ns: int
    progress: float  # of the program in the spell: synchronisation points; in a timed spell, calls
    ns: float  # without flushes
    flush_ns: int


@dataclass(frozen=True)
class _Relative:
    """A spell beside others of its stratum."""

    measured: bool
    begin_ns: int
    log: float  # of the time for the same progress, relative to the centre of the stratum
    weight: float  # ns, as the centre has it


@dataclass(frozen=True)
class _Block:
    log_ratio: float
    weight: float  # ns


def of_run(recording: Run) -> Trial | None:
    """The outcome of the trial of a run; None if there was none. A run with a budget is a trial only if some
    of its spells only counted calls."""
    options = recording.meta.options
    if options.weigh is None and options.budget is None:
        return None
    spells = recording.spells
    is_timed = any(spell.timed for spell in spells)
    if is_timed and len({process.host for process in recording.processes if process.rank >= 0}) > 1:
        # Those of other nodes are others, although they have the same numbers.
        found = trial([spell for spell in spells if not spell.timed]) or Trial(0, 0, 0.0, 0, 0.0)
        return replace(found, overhead=None, low=None, high=None, why=SEVERAL_NODES)
    if options.weigh is not None:
        return _if_narrow(trial(spells), WIDEST)
    return of_budget(spells, options.budget) if options.budget is not None else None


def of_budget(spells: Sequence[Spell], share: float) -> Trial | None:
    """The trial of a run with a budget of `share`, with spells that only count as controls. There is no
    result if its interval says nothing of the budget, because it is wider than ± `share`."""
    kinds: dict[tuple[int, int], set[bool]] = defaultdict(set)
    for spell in spells:
        kinds[spell.world, spell.spell].add(spell.measured)
    compared: list[Spell] = [
        changed(spell, control=not spell.measured)
        for spell in spells
        if len(kinds[spell.world, spell.spell]) == 1
    ]
    if all(spell.measured for spell in spells):
        return None
    found = trial(compared)
    if found is None or found.overhead is None or found.low is None or found.high is None:
        return found
    measured_ns = sum(spell.ns for spell in spells if spell.measured) / (1 + found.overhead)
    counted_ns = sum(spell.ns for spell in spells if not spell.measured)
    part = measured_ns / (measured_ns + counted_ns)
    of_the_run = replace(
        found,
        drains=part * found.drains,
        overhead=part * found.overhead,
        low=part * found.low,
        high=part * found.high,
    )
    return _if_narrow(of_the_run, share)


def _if_narrow(found: Trial | None, widest: float) -> Trial | None:
    """No result where half the interval is wider than that: it would say nothing."""
    if found is None or found.low is None or found.high is None or found.high - found.low <= 2 * widest:
        return found
    why = f"the spells differ too much: ± {50 * (found.high - found.low):.1f} points"
    return replace(found, overhead=None, low=None, high=None, why=why)


def trial(spells: Sequence[Spell]) -> Trial | None:
    """The outcome of the trial that `spells` are of: `run.spells`. None if there was none."""
    if not spells:
        return None
    joined = list(_joined(spells))
    usable = [spell for spell in joined if spell.ns > 0]
    blocks = list(_blocks(usable))
    of_kind = [[spell for spell in joined if spell.measured == measured] for measured in (True, False)]
    times = [sum(spell.ns + spell.flush_ns for spell in kind) for kind in of_kind]
    net_ns = sum(spell.ns for spell in of_kind[0])
    flushes = sum(spell.flush_ns for spell in of_kind[0]) / net_ns if net_ns else 0.0
    outcome = Trial(
        measured=len(of_kind[0]),
        unmeasured=len(of_kind[1]),
        unmeasured_share=times[1] / sum(times) if sum(times) else 0.0,
        blocks=len(blocks),
        drains=flushes,
    )
    if len(blocks) < BLOCKS_NEEDED:
        return replace(outcome, why=_what_is_missing(spells, len(blocks), sum(times)))
    mean, low, high = (math.expm1(log) + flushes for log in _interval(_few(blocks)))
    return replace(outcome, overhead=mean, low=low, high=high)


def _what_is_missing(spells: Sequence[Spell], blocks: int, spent_ns: float) -> str:
    if any(spell.timed for spell in spells) and any(spell.counted_polls for spell in spells):
        return "the program polls, and its ranks seldom meet"
    controls = [spell for spell in spells if spell.control]
    if controls and all(spell.has_requests for spell in controls):
        return "requests are under way wherever all ranks pass together"
    more_s = (BLOCKS_NEEDED / max(blocks, 1) - 1) * spent_ns / 1e9
    return f"{blocks} of {BLOCKS_NEEDED} comparisons; at least {more_s:.2g} s more needed"


def _joined(spells: Sequence[Spell]) -> Iterator[_Spell]:
    """The spells that all ranks of the first world have gone through, in order. Those that were cut are left
    out: chance did not end them, but what they cost, or how long they lasted."""
    world = min(spell.world for spell in spells)
    of_world = [spell for spell in spells if spell.world == world]
    by_number = grouped(of_world, lambda spell: spell.spell)
    ranks = len({spell.rank for spell in of_world})
    has_polls = any(spell.counted_polls for spell in spells)
    for _, rows in sorted(by_number.items()):
        if len(rows) != ranks or _leaks(rows) or any(row.cut for row in rows):
            continue
        if not rows[0].timed:
            yield _joined_spell(rows, by_calls=not has_polls)
        elif not has_polls:  # their number is not that of the program's work
            yield _joined_timed(rows)


def _leaks(rows: Sequence[Spell]) -> bool:
    """Whether a control measured too many calls: requests were under way at its start."""
    if not any(row.control and row.has_requests for row in rows):
        return False
    measured = sum(row.measured_calls for row in rows)
    counted = sum(row.counted_calls for row in rows)
    return measured > LEAK_ALLOWED * (measured + counted)


def _joined_spell(rows: Sequence[Spell], *, by_calls: bool) -> _Spell:
    first = min(rows, key=lambda row: row.rank)
    sync_points = first.sync_points
    flush_ns = max(row.flush_ns for row in rows)  # the others wait for the rank that flushes longest
    ns = sum(row.ns for row in rows) / len(rows) - flush_ns
    sites = (first.first_site, first.last_site) if sync_points <= SITES_MATTER else ()
    calls = sum(row.measured_calls + row.counted_calls for row in rows) / sync_points
    like = round(8 * math.log2(1 + calls)) if by_calls else 0  # within about 9 %
    key = (sites, sync_points.bit_length(), like)
    return _Spell(not first.control, key, first.begin_ns, sync_points, ns, flush_ns)


def _joined_timed(rows: Sequence[Spell]) -> _Spell:
    first = min(rows, key=lambda row: row.rank)
    flush_ns = max(row.flush_ns for row in rows)
    calls = sum(row.measured_calls + row.counted_calls for row in rows) / len(rows)
    ns = sum(row.ns for row in rows) / len(rows) - flush_ns
    return _Spell(not first.control, ("timed",), first.begin_ns, calls, ns if calls else 0, flush_ns)


def _blocks(spells: Iterable[_Spell]) -> Iterator[_Block]:
    block: list[_Relative] = []
    for spell in sorted(_relative(spells), key=lambda each: each.begin_ns):
        block.append(spell)
        if len({each.measured for each in block}) == 2:
            logs = [_mean_log([each for each in block if each.measured == kind]) for kind in (True, False)]
            yield _Block(logs[0] - logs[1], sum(each.weight for each in block))
            block = []


def _mean_log(spells: Sequence[_Relative]) -> float:
    return sum(each.log * each.weight for each in spells) / sum(each.weight for each in spells)


def _relative(spells: Iterable[_Spell]) -> Iterator[_Relative]:
    for stratum in grouped(spells, lambda spell: spell.key).values():
        logs: dict[bool, list[float]] = {True: [], False: []}
        for spell in stratum:
            logs[spell.measured].append(math.log(spell.ns / spell.progress))
        if not all(logs.values()):
            continue  # nothing to compare with
        centre = sum(sorted(of_kind)[len(of_kind) // 2] for of_kind in logs.values()) / 2
        for spell in stratum:
            weight = math.exp(centre) * spell.progress
            log = math.log(spell.ns / spell.progress) - centre
            yield _Relative(spell.measured, spell.begin_ns, log, weight)


def _few(blocks: Sequence[_Block]) -> list[_Block]:
    """The blocks, at most MAX_BLOCKS: neighbours are joined."""
    together = -(-len(blocks) // MAX_BLOCKS)
    return [_join(blocks[at : at + together]) for at in range(0, len(blocks), together)]


def _join(blocks: Sequence[_Block]) -> _Block:
    weight = sum(block.weight for block in blocks)
    log_ratio = sum(block.log_ratio * block.weight for block in blocks) / weight
    return _Block(log_ratio, weight)


def _interval(blocks: Sequence[_Block]) -> tuple[float, float, float]:
    """The trimmed mean, and the interval that holds it with 95 %."""
    import random  # takes longer to load than the rest of `tare info`

    from tare import _native

    # For as few blocks as there may be: more need less.
    wider = _native.student_95(BLOCKS_NEEDED - 1) / NORMAL_QUANTILE

    chance = random.Random(len(blocks))  # the same run gives the same interval
    means = sorted(_trimmed(chance.choices(blocks, k=len(blocks))) for _ in range(RESAMPLES))
    mean = _trimmed(blocks)
    low = mean + wider * (means[round(0.025 * RESAMPLES)] - mean)
    high = mean + wider * (means[round(0.975 * RESAMPLES) - 1] - mean)
    return mean, low, high


def _trimmed(blocks: Sequence[_Block]) -> float:
    """The weighted mean without TRIM of the weight at each end."""
    ordered = sorted(blocks, key=lambda block: block.log_ratio)
    total = sum(block.weight for block in blocks)
    low, high = TRIM * total, (1 - TRIM) * total
    at = kept = mean = 0.0
    for block in ordered:
        within = min(at + block.weight, high) - max(at, low)
        at += block.weight
        if within > 0:
            kept += within
            mean += within * block.log_ratio
    return mean / kept
