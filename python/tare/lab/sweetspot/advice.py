"""What to do, given what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tare import units
from tare.lab.sweetspot.characterise import Probe
from tare.lab.sweetspot.live_tree import Topology


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


def best(probes: Mapping[Topology, list[Probe]], ranks: int, events: int, percent: float) -> Advice | None:
    """The tree for so many ranks that takes such profiles most often; nothing if none was measured."""
    choices = [
        Advice(topology, probe.events, percent, min_interval_ns(probe, percent))
        for topology, of in probes.items()
        if topology.ranks == ranks
        for probe in of
        if probe.events == events
    ]
    return min(choices, key=lambda advice: advice.interval_ns, default=None)
