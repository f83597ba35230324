"""What the monitoring tree sustains: the limits of issue and peers, on a live tree with made-up ranks.

MRNet 5.0.1 with 64 back-ends, each a leaf of the network, a fan-out of 8 and 5 doubles an event, on a machine
with two processors: a BOI of 2.8 ms with 64 events, 8.4 ms with 1,024.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace

from report import Row, Table
from tare.analysis.intervals import Interval, median_interval
from tare.lab.sweetspot import characterise, live_tree
from tare.lab.sweetspot.live_tree import LiveTree, Topology

EVENTS = (64, 1024)
# Name, tree, limits of the BOI in ms for each size.
TREES = (
    ("one node, shared memory", Topology(64, 64), (0.3, 1.5)),
    ("8 nodes with 8 ranks, TCP", Topology(64, 8, nodes=8, transport="tcp"), (1.0, 3.0)),
)
MRNET = ("MRNet 2.8", "MRNet 8.4")
PLAY_ROUNDS = 1000
TRUTH_LIMIT_PERCENT = 10
SEARCH_LIMIT_S = 10
CROWD = Topology(1, 10, nodes=1000)
CROWD_ROUNDS = 100
NS_PER_MS = 1e6
NS_PER_S = 1e9


def measure(rounds: int) -> list[Table]:
    tables = []
    for name, topology, limits in TREES:
        with live_tree.formed(topology, max(EVENTS), PLAY_ROUNDS) as tree:
            tables += _sustained(name, tree, limits, rounds)
    return [*tables, _crowd()]


def _sustained(name: str, tree: LiveTree, limits: Sequence[float], rounds: int) -> list[Table]:
    """The BOI; how far it is from the truth; long plays in which ranks may drop."""
    bois: dict[int, list[float]] = {events: [] for events in EVENTS}
    errors: dict[int, list[float]] = {events: [] for events in EVENTS}
    slower: dict[int, list[float]] = {events: [] for events in EVENTS}
    took: list[float] = []
    for _ in range(rounds):
        for events in EVENTS:
            begin = time.perf_counter()
            probe = characterise.probe(tree, [events])[0]
            took.append(time.perf_counter() - begin)
            bois[events].append(probe.boi_ns / NS_PER_MS)
            truth_ns = characterise.min_sustained(tree, events, probe.boi_ns)
            errors[events].append(100 * (probe.boi_ns / truth_ns - 1))
            # A tenth below the BOI, rounds are to arrive later than they are sent.
            slower[events].append(characterise.arrivals_below(tree, events, probe.boi_ns)[0])
    rows = [
        Row(
            f"BOI, {events:,} events",
            statistics.median(bois[events]),
            median_interval(bois[events]),
            limit,
            mrnet,
        )
        for events, limit, mrnet in zip(EVENTS, limits, MRNET, strict=True)
    ]
    truth = [
        Row(
            f"{events:,} events",
            statistics.median(errors[events]),
            _size_of(median_interval(errors[events])),
            TRUTH_LIMIT_PERCENT,
        )
        for events in EVENTS
    ]
    below = [
        Row(f"{events:,} events", statistics.median(slower[events]), median_interval(slower[events]))
        for events in EVENTS
    ]
    found = [Row("a probe", None, median_interval(took), SEARCH_LIMIT_S)]
    return [
        Table(f"Monitoring, {name}", "ms", "ms", rows, rounds, digits=2, over="in all"),
        Table(f"Error of the BOI, {name}", "%", "%", truth, rounds, over="in all"),
        Table(f"Arrivals 10 % below the BOI, {name} (Figure 7)", "%", "%", below, rounds, over="in all"),
        Table(f"Time to find the BOI, {name}", "s", "s", found, rounds, digits=2, over="in all"),
        _lossy(name, tree, bois),
        _controlled(name, tree, bois),
    ]


def _size_of(error: Interval) -> Interval:
    """The error without its sign: of rounds that err to both sides, the median is near nothing."""
    ends = sorted((abs(error.low), abs(error.high)))
    least = 0.0 if error.low <= 0 <= error.high else ends[0]
    return replace(error, median=abs(error.median), low=least, high=ends[1])


def _growth_percent(delays: Sequence[float]) -> float:
    """The growth of the delay: the last fifth of the rounds against the first."""
    part = max(len(delays) // 5, 1)
    return 100 * (statistics.median(delays[-part:]) / statistics.median(delays[:part]) - 1)


def _controlled(name: str, tree: LiveTree, bois: dict[int, list[float]]) -> Table:
    """Ranks could offload twice as often as the BOI allows, and drop what has no room; the root decides.
    Nothing is to be lost once the interval has settled."""
    rows = []
    for events in EVENTS:
        boi_ns = statistics.median(bois[events]) * NS_PER_MS
        told = tree.controlled(events, PLAY_ROUNDS, boi_ns / 2)
        rows += [
            Row(f"{events:,} events: delivered", told.delivered, None),
            _counted(f"{events:,} events: delivered, not whole", told.incomplete),
            Row(f"{events:,} events: growth of the delay, %", _growth_percent(told.delays), None),
            Row(f"{events:,} events: interval that is kept, in BOIs", told.interval / boi_ns, None),
            Row(f"{events:,} events: until that has settled, s", told.settling / NS_PER_S, None),
            Row(f"{events:,} events: not whole until then", told.incomplete_before, None),
        ]
    return Table(f"1,000 rounds at half the BOI, lossy, with control, {name}", "", "", rows, 1, over="")


def _lossy(name: str, tree: LiveTree, bois: dict[int, list[float]]) -> Table:
    """1,000 rounds, half as often as the BOI allows, where ranks drop what has no room."""
    rows = []
    for events in EVENTS:
        interval_ns = 2 * statistics.median(bois[events]) * NS_PER_MS
        told = tree.bsp(events, PLAY_ROUNDS, interval_ns, "lossy")
        rows += [
            Row(f"{events:,} events: delivered, not whole", told.incomplete, None),
            Row(f"{events:,} events: not delivered", PLAY_ROUNDS - told.delivered, None),
            Row(f"{events:,} events: growth of the delay, %", _growth_percent(told.delays), None),
            Row(f"{events:,} events: rounds under way", told.max_under_way, None),
        ]
    return Table(f"1,000 rounds at twice the BOI, lossy, {name}", "", "", rows, 1, over="")


def _counted(label: str, count: int) -> Row:
    """What there is to be none of."""
    return Row(label, None, Interval(count, count, count, 1, 1.0), 0)


def _crowd() -> Table:
    """A tree of 1,000 processes: forms, runs, ends; where one does not end cleanly, this fails."""
    begin = time.perf_counter()
    with live_tree.formed(CROWD, 16, CROWD_ROUNDS) as tree:
        shape = tree.shape()
        told = tree.burst(16, CROWD_ROUNDS, 20 * NS_PER_MS)
    kib = shape.proportional_kib
    rows = [
        Row("to form, s", shape.formed_ns / 1e9),
        Row("in all, s", time.perf_counter() - begin),
        Row("memory of all, MiB", sum(kib) / 1024),
        Row("memory of the largest, MiB", max(kib) / 1024),
        _counted(
            f"rounds missing or not whole, of {CROWD_ROUNDS}", CROWD_ROUNDS - told.delivered + told.incomplete
        ),
        Row("delay, median, ms", statistics.median(told.delays) / NS_PER_MS),
    ]
    return Table("A tree of 1,000 processes, fan-out 10", "", "", rows, 1, digits=2, over="")
