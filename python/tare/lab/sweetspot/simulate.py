"""Trees that are not here: a model with the costs that were measured on this machine.

A node is served by a processor, for a fixed time for a round, and for each of its ranks or each packet of a
child. calibrate.py finds these times. As they are fixed, rounds arrive as quickly as the busiest node takes
them; on this machine nodes share its processors, which then take all of them in turn.
"""

from __future__ import annotations

from dataclasses import dataclass


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


def _work_ns(shape: Shape, costs: Costs) -> list[float]:
    """The time of a node of each level for a round, the leaves first; of the node with most children."""
    below = [shape.ranks, *shape.levels[:-1]]
    each_ns = [costs.snapshot_ns, *(costs.packet_ns for _ in shape.levels[1:])]
    return [
        min(shape.fan_out, count) * each + costs.round_ns for count, each in zip(below, each_ns, strict=True)
    ]


def resting_delay_ns(shape: Shape, costs: Costs) -> float:
    """The one-way delay of a round that waits for no other: the way up, with a processor for each node."""
    return sum(_work_ns(shape, costs))


def boi_ns(shape: Shape, costs: Costs, processors: int | None) -> float:
    """The least interval that is sustained; `processors`: shared by all nodes, or one each."""
    busiest_ns = max(_work_ns(shape, costs))
    if processors is None:
        return busiest_ns
    each = (costs.snapshot_ns, costs.packet_ns, costs.round_ns, costs.copy_ns)
    of_all = zip(shares(shape, processors), each, strict=True)
    return max(busiest_ns, sum(share * cost_ns for share, cost_ns in of_all))
