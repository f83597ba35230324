"""What is found out of several trees, one after another, and what is kept of it from one time to the
next; and what to do, given what was measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tare import units
from tare.lab.sweetspot import characterise, live_tree
from tare.lab.sweetspot.characterise import Naive, Probe, Regularity, Stability
from tare.lab.sweetspot.live_tree import Topology
from tare.measuring import sweet_spots

# As many as a confirmation of the BOI may want (src/tared/boi/boi_search.h).
MAX_ROUNDS = 1000
PLAY_ROUNDS = 200

Report = Callable[[str], None]


@dataclass(frozen=True)
class Detail:
    """All measurements of one tree and profile size."""

    topology: Topology
    probe: Probe
    naive: list[Naive]
    regularity: list[Regularity]


@dataclass(frozen=True)
class Survey:
    """Results that were measured now or earlier."""

    probes: dict[Topology, list[Probe]]  # by ascending size
    measured_at: dict[Topology, float | None]  # Unix time in seconds; None: now
    stability: dict[Topology, list[Stability]] = field(default_factory=dict)
    detail: Detail | None = None


def probes_of(
    topology: Topology, sizes: Sequence[int], report: Report, *, fresh: bool = False
) -> tuple[list[Probe], float | None]:
    """Measured now, or when they were measured."""
    known = None if fresh else kept(topology, sizes)
    if known is not None:
        return known
    report(f"measuring {topology.name}")
    with live_tree.formed(topology, max(sizes), MAX_ROUNDS) as tree:
        probes = characterise.probe(tree, sizes)
    keep(topology, probes)
    return probes, None


def detail_of(topology: Topology, probe: Probe, report: Report) -> Detail:
    """Figures 3 to 6, and irregular offloads."""
    report(f"playing {topology.name}")
    with live_tree.formed(topology, probe.events, MAX_ROUNDS) as tree:
        naive = characterise.naive(tree, probe.events, probe.boi_ns, PLAY_ROUNDS)
        regularity = characterise.irregular(tree, probe.events, probe.boi_ns, PLAY_ROUNDS)
    return Detail(topology, probe, naive, regularity)


def stability_of(
    topologies: Sequence[Topology], sizes: Sequence[int], probes: int, apart_s: float, report: Report
) -> dict[Topology, list[Stability]]:
    """Figure 8: so many probes (two at least) of each tree and size, which begin so far apart.

    Trees take turns, so that a change of the machine is in all of them.
    """
    found: dict[tuple[Topology, int], list[tuple[float, float]]] = {}
    begin = time.monotonic()
    for number in range(probes):
        report(f"repeated probes: {number + 1} of {probes}")
        time.sleep(max(begin + number * apart_s - time.monotonic(), 0))
        for topology in topologies:
            with live_tree.formed(topology, max(sizes), MAX_ROUNDS) as tree:
                for events in sizes:
                    each = characterise.short_probe(tree, events)
                    found.setdefault((topology, events), []).append(each)
    return {
        topology: [Stability.of(events, found[topology, events]) for events in sizes]
        for topology in topologies
    }


def _key(topology: Topology) -> str:
    return sweet_spots.key(asdict(topology))


def kept(topology: Topology, sizes: Sequence[int]) -> tuple[list[Probe], float] | None:
    """Probes of these sizes that are kept, and when they were made (seconds since the epoch)."""
    entry = sweet_spots.entries().get(_key(topology), {})
    try:
        probes = [Probe(**entry["probes"][str(events)]) for events in sizes]
        return probes, float(entry["time"])
    except (KeyError, TypeError, ValueError):
        return None


def keep(topology: Topology, probes: list[Probe]) -> None:
    """Keeps probes of a topology for as long as the same tare runs on the same machine: one takes seconds."""

    def add(entry: dict[str, Any]) -> None:
        of_sizes = entry.setdefault("probes", {})
        of_sizes |= {str(probe.events): asdict(probe) for probe in probes}

    sweet_spots.change(_key(topology), add)


@dataclass(frozen=True)
class Advice:
    """The tree and the interval that cost a program no more than a share of its run time."""

    topology: Topology
    events: int  # size of the profiles
    percent: float  # the cost in % of the run time, at most
    interval_ns: float  # between offloads

    def sentence(self) -> str:
        """The advice as text, with times in readable units."""
        of = self.topology
        where = units.number_of(of.nodes, "node") if of.nodes else f"fan-out {of.fan_out}"
        return (
            f"for {units.number_of(of.ranks, 'rank')}, {units.number_of(self.events, 'event')}, "
            f"at most {self.percent:g} %: "
            f"{where}, every {units.duration(self.interval_ns)} or more"
        )


def min_interval_ns(probe: Probe, percent: float) -> float:
    """The least interval between offloads at which neither the tree queues nor the program loses more."""
    return max(probe.boi_ns, max(probe.overall_ns, 0.0) * (100 / percent - 1))


def best_of(probes: Mapping[Topology, list[Probe]], ranks: int, events: int, percent: float) -> Advice | None:
    """The tree for so many ranks that takes such profiles most often; nothing if none was measured."""
    choices = [
        Advice(topology, probe.events, percent, min_interval_ns(probe, percent))
        for topology, of in probes.items()
        if topology.ranks == ranks
        for probe in of
        if probe.events == events
    ]
    return min(choices, key=lambda advice: advice.interval_ns, default=None)
