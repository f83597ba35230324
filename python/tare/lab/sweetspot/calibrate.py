"""The costs of the model of trees (simulate.py), from real trees of this machine, and how far it is off.

Trees are measured in turn, again and again: what another program takes for a while, it takes from all of
them. The model is judged by trees that it was not fitted to.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tare.lab.sweetspot import live_tree, simulate
from tare.lab.sweetspot.live_tree import LiveTree, Topology
from tare.lab.sweetspot.simulate import Costs, Shape

# Ranks on one node, which tell of snapshots and rounds; and trees, which tell of packets.
FITTED = (Topology(8, 8), Topology(64, 64), Topology(64, 8), Topology(16, 2), Topology(64, 4))
HELD_OUT = (Topology(16, 4), Topology(32, 8), Topology(32, 4))
REPEATS = 5
# What an answer may be off on trees of this machine that the model was not fitted to.
MAX_ERROR = 0.5
MAX_ROUNDS = 1000
MIN_ROUNDS = 60
LONG_ENOUGH_NS = 2e7
SATURATED = 1.1
HALVINGS = 12

Paces = Mapping[Topology, Sequence[float]]


@dataclass(frozen=True)
class Check:
    """The BOI of a tree to which the model was not fitted."""

    topology: Topology
    measured_ns: float  # the median of the repeated measurements
    spread: float  # width of their middle half, as a share of the median
    model_ns: float  # what the model predicts

    @property
    def error(self) -> float:
        """The error of the model, as a share."""
        return self.model_ns / self.measured_ns - 1


@dataclass(frozen=True)
class Model:
    """The model of a tree for one profile size."""

    events: int  # of a profile
    costs: Costs  # its parameters
    checks: list[Check]

    @property
    def error(self) -> float:
        """The largest, as a share without sign."""
        return max(abs(check.error) for check in self.checks)

    @property
    def is_borne_out(self) -> bool:
        """Whether all checks have an error of at most MAX_ERROR."""
        return self.error <= MAX_ERROR


def calibrated(sizes: Sequence[int], processors: int, report: Callable[[str], None]) -> list[Model]:
    """A model for each size, borne out or not."""
    paces: dict[int, dict[Topology, list[float]]] = {events: {} for events in sizes}
    for number in range(REPEATS):
        for topology in (*FITTED, *HELD_OUT):
            report(f"calibrating: {topology.name}, {number + 1} of {REPEATS}")
            # One at a time: what the others do is no part of it.
            with live_tree.formed(topology, max(sizes), MAX_ROUNDS) as tree:
                for events in sizes:
                    paces[events].setdefault(topology, []).append(_pace(tree, events))
    return [fitted(events, paces[events], processors) for events in sizes]


def _pace(tree: LiveTree, events: int) -> float:
    """The interval at which rounds arrive that are sent much more often: the BOI, without the search."""
    interval_ns = statistics.median(tree.rest(events, 5)) / 4
    for _ in range(HALVINGS):
        rounds = round(min(max(LONG_ENOUGH_NS / interval_ns, MIN_ROUNDS), MAX_ROUNDS))
        arrives_ns = tree.burst(events, rounds, interval_ns).arrival_interval
        if arrives_ns > SATURATED * interval_ns:
            return arrives_ns
        interval_ns /= 2
    return arrives_ns


def fitted(events: int, paces: Paces, processors: int) -> Model:
    """Costs by least squares of relative errors, none below nothing; checked on HELD_OUT."""
    from scipy.optimize import nnls

    rows, ones = [], []
    for topology in FITTED:
        shape = Shape(topology.ranks, topology.fan_out)
        pace_ns = statistics.median(paces[topology])
        rows.append([share / pace_ns for share in simulate.shares(shape, processors)])
        ones.append(1.0)
    costs = Costs(*map(float, nnls(rows, ones)[0]))
    return Model(
        events, costs, [_checked(topology, paces[topology], costs, processors) for topology in HELD_OUT]
    )


def _checked(topology: Topology, paces: Sequence[float], costs: Costs, processors: int) -> Check:
    middle = statistics.median(paces)
    low, _, high = statistics.quantiles(paces, n=4) if len(paces) > 1 else (middle, middle, middle)
    model_ns = simulate.boi_ns(Shape(topology.ranks, topology.fan_out), costs, processors)
    return Check(topology, middle, (high - low) / middle, model_ns)
