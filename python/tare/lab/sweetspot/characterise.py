"""What a monitoring tree sustains: the measurements of Nataraj et al. (CLUSTER 2008) on a live tree.

Times are nanoseconds. Figures are those of the paper.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tare.lab.sweetspot.live_tree import LiveTree

# The paper's parameters of the search.
ROUNDS = 20
K = 2.0
TRIALS = 3
REST_ROUNDS = 20
# Rounds in which costs at the interval found are measured.
COST_ROUNDS = 100
# And in which arrivals are looked at: so many, or as many as this time has.
MIN_ROUNDS = 100
MAX_ROUNDS = 1000
LONG_ENOUGH_NS = 5e7
# Figure 7: so much below the interval found.
BELOW = (0.1, 0.2, 0.4)
# The true value is looked for around the one found, in steps of 4 % up to 22 % away, three times everywhere.
STEP = 1.04
STEPS = 5
TRUTH_TRIALS = 3
# Rounds that arrive so much more slowly than they are sent are not sustained.
SUSTAINED = 1.03
# The naive intervals of Figures 3 to 5 (100, 24 and 6 ms, of which 24 is a little too short), in units of the
# BOI.
NAIVE = (4.0, 0.95, 0.25)
POLICIES = ("block", "unbound", "lossy")
ACCEPTANCES = (0, 1, 2, 4)
# Irregular offloads: mean intervals, in units of the BOI.
MEAN_INTERVALS = (1.0, 1.5, 2.0, 4.0)


@dataclass(frozen=True)
class Probe:
    """What was measured for one profile size on one tree. Figures are those of the paper (boi_search.h)."""

    events: int  # of a profile
    rest_ns: float  # one-way delay at rest: mean and standard deviation
    rest_deviation_ns: float
    boi_ns: float  # the BOI: median of the trials
    boi_trials_ns: list[float]  # the result of each trial
    printed_boi_ns: float  # the result of a search by the printed rule alone
    confirmed: int  # number of trials confirmed by rounds at a shorter interval (Figure 7)
    steps: list[dict[str, Any]]  # of the trial that is the median
    direct_ns: float = math.nan  # duration of an offload at the BOI: mean over ranks and rounds
    worst_ns: float = math.nan  # the same: mean over rounds of the maximum over ranks
    overall_ns: float = math.nan  # duration of an iteration with an offload, minus one without
    reduction_ns: float = math.nan  # T_R: merging two profiles
    packet_ns: float = math.nan  # T_P: packing or unpacking one
    # Figure 7: the interval of arrivals, as its difference from the BOI in %, if rounds are sent at intervals
    # that are shorter than the BOI (BELOW).
    arrivals_below: list[float] = field(default_factory=list)
    # The confirmation: the interval of rounds that is shorter by a fifth, and the interval of their arrivals.
    confirmations: list[dict[str, float]] = field(default_factory=list)

    @property
    def spread(self) -> float:
        """The spread of the trials, in % of the median."""
        return 100 * (max(self.boi_trials_ns) - min(self.boi_trials_ns)) / self.boi_ns

    @property
    def limiting_overhead(self) -> float:
        """What a program loses at most, in %, if it offloads no more often than the BOI."""
        cost = max(self.overall_ns, 0.0)
        return 100 * cost / (self.boi_ns + cost)


@dataclass(frozen=True)
class Naive:
    """What happens at an interval that was chosen without knowing the BOI, under one policy."""

    interval_ns: float
    policy: str
    worst_costs_ns: list[float]  # by round: the maximum cost of an offload over ranks (Figure 3, top)
    delays_ns: list[float]  # by delivered round: its one-way delay (Figure 3, bottom)
    mean_cost_ns: float  # mean over rounds of the maximum over ranks
    drained_ns: float  # from the end of the program to the last arrival: excess reception time (Figure 4)
    played_ns: float  # duration of the program
    complete: float  # % of rounds with all ranks
    dropped: list[str] = field(default_factory=list)  # by round: the ranks that dropped it (Figure 5A)

    @property
    def overhead(self) -> float:
        """The cost of offloads, in % of the run time."""
        return 100 * self.mean_cost_ns / self.interval_ns

    @property
    def drained(self) -> float:
        """The time from the end of the program to the last arrival, in % of the run time."""
        return 100 * self.drained_ns / self.played_ns


def probe(tree: LiveTree, sizes: Sequence[int], trials: int = TRIALS) -> list[Probe]:
    """Figures 6 and 9 to 11. Sizes ascend: the BOI of one bounds the search for the next."""
    probes: list[Probe] = []
    low_ns = 0.0
    for events in sorted(sizes):
        delays = _rest(tree, events)
        rest = statistics.fmean(delays), statistics.stdev(delays)
        quiet = _quiet(delays)
        searches = [tree.search(events, low_ns, quiet, ROUNDS, K, "guarded") for _ in range(trials)]
        searches.sort(key=lambda search: search.boi)
        middle = searches[(trials - 1) // 2]
        printed = tree.search(events, 0.0, rest, ROUNDS, K, "printed")
        boi_ns = statistics.median(search.boi for search in searches)
        probes.append(
            Probe(
                events,
                *rest,
                boi_ns,
                [search.boi for search in searches],
                printed.boi,
                sum(bool(search.confirmed) for search in searches),
                middle.steps,
                **_costs(tree, events, boi_ns),
                arrivals_below=arrivals_below(tree, events, boi_ns),
                confirmations=middle.confirmations,
            )
        )
        # Half of it: what was found is above the truth as often as below.
        low_ns = boi_ns / 2
    return probes


def _rest(tree: LiveTree, events: int) -> list[float]:
    tree.rest(events, 3)  # the first rounds allocate
    return tree.rest(events, REST_ROUNDS)


def _quiet(delays: Sequence[float]) -> tuple[float, float]:
    """Mean and deviation as the median and the median deviation from it tell them of normal values.

    One round in which another program had the processors makes the paper's threshold too high for any queue.
    """
    middle = statistics.median(delays)
    deviation = 1.4826 * statistics.median(abs(delay - middle) for delay in delays)
    return middle, max(deviation, 0.01 * middle)


def _costs(tree: LiveTree, events: int, boi_ns: float) -> dict[str, float]:
    without = tree.bsp(events, COST_ROUNDS, boi_ns, "block", offloads=False)
    offloaded = tree.bsp(events, COST_ROUNDS, boi_ns, "block")
    return {
        "direct_ns": statistics.fmean(offloaded.mean_costs),
        "worst_ns": statistics.fmean(offloaded.worst_costs),
        "overall_ns": (offloaded.played - without.played) / COST_ROUNDS,
        "reduction_ns": offloaded.reduce_ns / max(offloaded.reductions, 1),
        "packet_ns": offloaded.packet_ns / max(offloaded.packets, 1),
    }


def arrivals_below(tree: LiveTree, events: int, boi_ns: float) -> list[float]:
    """Figure 7: how far the arrival interval is above the BOI, in %, for each of BELOW.

    Where nothing below the BOI is sustained, rounds do not arrive faster than the true one. The interval is
    the median of ten parts of the rounds, so that another program on the machine is not taken for the tree.
    The tree has to be formed for MAX_ROUNDS.
    """
    rounds = round(min(max(LONG_ENOUGH_NS / boi_ns, MIN_ROUNDS), MAX_ROUNDS))
    return [
        100 * (tree.burst(events, rounds, boi_ns * (1 - below)).arrival_interval / boi_ns - 1)
        for below in BELOW
    ]


def min_sustained(tree: LiveTree, events: int, boi_ns: float) -> float:
    """The least interval that does not queue, which the BOI is to be: without a search.

    All intervals around the BOI are tried in turn, again and again: what another program takes for a while,
    it takes from all of them. ns; within half a step. What is further away than all steps is half a step
    beyond them.
    """
    rounds = round(min(max(LONG_ENOUGH_NS / boi_ns, MIN_ROUNDS), MAX_ROUNDS))
    intervals = [boi_ns * STEP**step for step in range(-STEPS, STEPS + 1)]
    slower: list[list[float]] = [[] for _ in intervals]
    for _ in range(TRUTH_TRIALS):
        for interval_ns, of in zip(intervals, slower, strict=True):
            of.append(tree.burst(events, rounds, interval_ns).arrival_interval / interval_ns)
    # As many as are too short lie below it, whichever an accident has made so.
    too_short = sum(statistics.median(of) > SUSTAINED for of in slower)
    return float(boi_ns * STEP ** (too_short - STEPS - 0.5))


def naive(tree: LiveTree, events: int, boi_ns: float, rounds: int) -> list[Naive]:
    """Figures 3, 4 and 5A: bspbench at intervals on either side of the BOI, under each policy."""
    found = []
    for policy in POLICIES:
        for factor in NAIVE:
            interval_ns = factor * boi_ns
            told = tree.bsp(events, rounds, interval_ns, policy)
            whole = told.delivered - told.incomplete
            found.append(
                Naive(
                    interval_ns,
                    policy,
                    told.worst_costs,
                    told.delays,
                    statistics.fmean(told.worst_costs),
                    told.drained,
                    told.played,
                    100 * whole / rounds,
                    told.dropped,
                )
            )
    return found


def accepted(dropped: Sequence[str], fan_out: int, acceptance: int) -> float:
    """Figure 5B: % of rounds with a result if a node takes up to so many failed children, from a loss map.

    As in the paper, it is a simulation of the policy on the losses that were measured.
    """
    return 100 * sum(_has_result(parse_ranks(text), fan_out, acceptance) for text in dropped) / len(dropped)


def _has_result(lost: set[int], fan_out: int, acceptance: int) -> bool:
    failed: dict[int, int] = {}
    for rank in lost:
        failed[rank // fan_out] = failed.get(rank // fan_out, 0) + 1
    refused = [node for node, count in failed.items() if count > acceptance]
    return len(refused) <= acceptance


def parse_ranks(text: str) -> set[int]:
    """The ranks that text like "0-3,7" names."""
    ranks: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        ranks.update(range(int(first), int(last or first) + 1))
    return ranks


@dataclass(frozen=True)
class Stability:
    """Figure 8: standard deviations over repeated probes, in % of the mean."""

    events: int  # of a profile
    rest_percent: float  # of the one-way delay at rest
    boi_percent: float  # of the BOI

    @staticmethod
    def of(events: int, probes: Sequence[tuple[float, float]]) -> Stability:
        """The variation of resting delays and BOIs, of at least two of them."""
        rests, bois = zip(*probes, strict=True)
        return Stability(events, _variation(rests), _variation(bois))


def short_probe(tree: LiveTree, events: int) -> tuple[float, float]:
    """The resting delay and the BOI, of one search."""
    rest = _quiet(_rest(tree, events))
    return rest[0], tree.search(events, 0.0, rest, ROUNDS, K, "guarded").boi


def _variation(values: Sequence[float]) -> float:
    return 100 * statistics.stdev(values) / statistics.fmean(values)


@dataclass(frozen=True)
class Regularity:
    """One-way delays of offloads at regular intervals, and of offloads at random moments."""

    interval_ns: float  # mean interval between offloads
    regular_ns: float  # median delay at regular intervals
    irregular_ns: float  # median delay at random moments
    irregular_tenth_ns: float  # the 90th percentile of that delay


def irregular(tree: LiveTree, events: int, boi_ns: float, rounds: int) -> list[Regularity]:
    """What remains of a sweet spot if offloads are not periodic."""
    found = []
    for factor in MEAN_INTERVALS:
        interval_ns = factor * boi_ns
        regular = tree.burst(events, rounds, interval_ns).delays
        at_random = sorted(tree.irregular(events, rounds, interval_ns).delays)
        found.append(
            Regularity(
                interval_ns,
                statistics.median(regular),
                statistics.median(at_random),
                at_random[(9 * len(at_random)) // 10],
            )
        )
    return found
