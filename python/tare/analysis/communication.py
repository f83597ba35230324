"""Who exchanged how much with whom, and in calls of which size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.ranks import largest_world

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare._tables import ProfileRow
    from tare.runs.run import Run

# A matrix of more ranks is one of groups of ranks; so many cells of a page are legible.
MAX_GROUPS = 64


@dataclass(frozen=True)
class Sent:
    """What ranks sent to one another, in the largest world."""

    world: int
    size: int  # number of ranks of the world
    group: int  # number of neighbouring ranks that form a group
    elsewhere: int  # messages to unknown ranks or ranks of other worlds
    messages: dict[tuple[int, int], int]  # by group of the sender and group of the receiver
    bytes: dict[tuple[int, int], int]  # the same


def sent(run: Run, most: int) -> Sent | None:
    """None if no rank has sent to a known one. Of more than `most` ranks, groups of neighbours."""
    found = {each.world: each for each in run.exchanges(most)}
    world = found.get(largest_world(run.processes))
    if world is None or not world.cells:
        return None
    return Sent(
        world.world,
        world.size,
        world.group,
        world.elsewhere,
        {(start, to): messages for start, to, messages, _ in world.cells},
        {(start, to): size for start, to, _, size in world.cells},
    )


@dataclass
class SizeClass:
    """Calls that move from `size_from` to below `size_to` bytes."""

    size_from: int
    size_to: int
    calls: int = 0
    bytes: int = 0
    received: int = 0  # bytes received by calls that also send, not part of `bytes`
    time_ns: int = 0


def sizes(rows: Sequence[ProfileRow]) -> list[SizeClass]:
    """The profile by size class, the smallest first, summed over worlds; without calls that move nothing."""
    classes: dict[int, SizeClass] = {}
    for row in rows:
        if row.size_from is None or row.size_to is None:
            continue
        into = classes.setdefault(row.size_to, SizeClass(row.size_from, row.size_to))
        into.calls += row.calls
        into.bytes += row.bytes
        into.received += row.received
        into.time_ns += row.time_ns
    return [classes[key] for key in sorted(classes)]
