"""Trees that are not here: a discrete-event model (SimPy) with the costs that were measured on this machine.

A node is served by a processor, for a fixed time for a round, and for each of its ranks or each packet of a
child. calibrate.py finds these times. On this machine nodes share its processors, as those of the real tree
do; elsewhere each has its own. Nodes of one level that have nothing to share are alike, and one of them
stands for all, so a million ranks are as quick as a hundred.
"""

from __future__ import annotations

import statistics
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import simpy

ROUNDS = 100
SLOWER_BY = 1.02
STEPS = 20


@dataclass(frozen=True)
class Costs:
    """The costs of the steps of a round for one profile size, in ns."""

    snapshot_ns: float  # reading the snapshot of a rank
    packet_ns: float  # sending, waking up, unpacking, merging and packing the packet of a child
    round_ns: float = 0.0  # further cost of each node for a round
    copy_ns: float = 0.0  # the copy of a rank, if synthetic ranks use the processors of the nodes


@dataclass(frozen=True)
class Shape:
    """A tree in which each node has at most `fan_out` children, and the leaves have the ranks."""

    ranks: int  # number of ranks
    fan_out: int

    @property
    def levels(self) -> list[int]:
        """Nodes of each, the leaves first."""
        levels = [max(-(-self.ranks // self.fan_out), 1)]
        while levels[-1] > 1:
            levels.append(-(-levels[-1] // self.fan_out))
        return levels

    @property
    def nodes(self) -> int:
        """Number of nodes of all levels."""
        return sum(self.levels)


def shares(shape: Shape, processors: int) -> tuple[float, float, float, float]:
    """How often each of the costs, in their order, is in the BOI of a tree whose nodes share processors."""
    side_by_side = min(processors, shape.nodes)
    counts = (shape.ranks, shape.nodes - 1, shape.nodes, shape.ranks if shape.nodes > 1 else 0)
    snapshots, packets, rounds, copies = (count / side_by_side for count in counts)
    return snapshots, packets, rounds, copies


def delays(shape: Shape, costs: Costs, interval_ns: float, processors: int | None) -> list[float]:
    """One-way delays of rounds at an interval; `processors`: shared by all nodes, or one each."""
    import simpy

    environment = simpy.Environment()
    arrived: list[float] = []
    shared = simpy.Resource(environment, capacity=processors) if processors else None
    root, stores = _build(environment, shape, costs, shared, arrived)
    environment.process(_offload(environment, stores, interval_ns))
    environment.run()
    del root
    return [at - number * interval_ns for number, at in enumerate(arrived)]


def _build(
    environment: simpy.Environment,
    shape: Shape,
    costs: Costs,
    shared: simpy.Resource | None,
    arrived: list[float],
) -> tuple[Any, list[simpy.Store]]:
    """The processes of the nodes; the stores of the leaves, into which a round is put."""
    import simpy

    parents: list[simpy.Store] = []
    levels = list(reversed(shape.levels))
    for level, nodes in enumerate(levels):
        is_leaf = level == len(levels) - 1
        below = shape.ranks if is_leaf else levels[level + 1]
        # Alike where nothing is shared: the one with most children stands for its level.
        simulated = nodes if shared is not None else 1
        stores: list[simpy.Store] = []
        for node in range(simulated):
            children = len(range(node * shape.fan_out, min((node + 1) * shape.fan_out, below)))
            store = simpy.Store(environment)
            stores.append(store)
            copied_ns = costs.copy_ns if shared is not None and shape.nodes > 1 else 0.0
            each_ns = costs.snapshot_ns + copied_ns if is_leaf else costs.packet_ns
            work = children * each_ns + costs.round_ns
            parts = 1 if is_leaf or shared is None else children
            up = parents[node // shape.fan_out] if parents else None
            environment.process(_node(environment, store, parts, work, shared, up, arrived))
        parents = stores
    return None, parents


def _node(
    environment: simpy.Environment,
    store: simpy.Store,
    parts: int,
    work_ns: float,
    shared: simpy.Resource | None,
    up: simpy.Store | None,
    arrived: list[float],
) -> Generator[Any, Any, None]:
    for _ in range(ROUNDS):
        for _ in range(parts):
            yield store.get()
            if shared is None:
                yield environment.timeout(work_ns / parts)
            else:
                with shared.request() as processor:
                    yield processor
                    yield environment.timeout(work_ns / parts)
        if up is None:
            arrived.append(environment.now)
        else:
            yield up.put(1)


def _offload(
    environment: simpy.Environment, stores: list[simpy.Store], interval_ns: float
) -> Generator[Any, Any, None]:
    for number in range(ROUNDS):
        yield environment.timeout(max(number * interval_ns - environment.now, 0.0))
        for store in stores:
            yield store.put(1)


def is_sustained(shape: Shape, costs: Costs, interval_ns: float, processors: int | None) -> bool:
    """Whether rounds arrive as quickly as they are sent."""
    found = delays(shape, costs, interval_ns, processors)
    # From the first to the last: in a queue behind busy leaves the root catches up when they have done.
    growth_ns = (found[-1] - found[0]) / (ROUNDS - 1)
    return growth_ns <= (SLOWER_BY - 1) * interval_ns


def boi_ns(shape: Shape, costs: Costs, processors: int | None) -> float:
    """The least interval that is sustained, by bisection."""
    low = 0.0
    high = statistics.fmean(delays(shape, costs, 1e12, processors)[:1]) or 1.0
    while not is_sustained(shape, costs, high, processors):
        high *= 2
    for _ in range(STEPS):
        if high - low <= 0.01 * high:
            break
        middle = (low + high) / 2
        if is_sustained(shape, costs, middle, processors):
            high = middle
        else:
            low = middle
    return high
