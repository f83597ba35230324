"""Who exchanged how much with whom, and in calls of which size."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tare._native import PeerSum, Process
    from tare.analysis.profile import Row
    from tare.runs.run import Run

# Peers of so many ranks are in memory at once.
RANKS_AT_ONCE = 16_384


@dataclass(frozen=True)
class Sent:
    """From rank to rank, of the world with the most ranks."""

    world: int
    size: int
    group: int  # so many neighbouring ranks are one in the keys below
    elsewhere: int  # messages to ranks that are not known, or of other worlds
    messages: dict[tuple[int, int], int]
    bytes: dict[tuple[int, int], int]


def largest_world(run: Run) -> list[Process]:
    """The processes of the world with the most ranks, by rank."""
    counts = Counter(process["world"] for process in run.processes)
    if not counts:
        return []
    world = max(counts, key=lambda each: counts[each])
    return [process for process in run.processes if process["world"] == world and process["rank"] >= 0]


def sent(run: Run, most: int | None = None) -> Sent | None:
    """None if no rank has sent to a known one. Of more than `most` ranks, groups of neighbours."""
    of_world = largest_world(run)
    size = max((max(process["size"], process["rank"] + 1) for process in of_world), default=0)
    if not size:
        return None
    world = of_world[0]["world"]
    group = -(-size // (most or size)) or 1
    messages: Counter[tuple[int, int]] = Counter()
    amount: Counter[tuple[int, int]] = Counter()
    elsewhere = 0
    for row in _peers(run, world, sorted(process["rank"] for process in of_world)):
        if not 0 <= row["peer"] < size:
            elsewhere += row["sent_messages"]
        elif row["sent_messages"]:
            cell = row["rank"] // group, row["peer"] // group
            messages[cell] += row["sent_messages"]
            amount[cell] += row["sent_bytes"]
    if not messages:
        return None
    return Sent(world, size, group, elsewhere, dict(messages), dict(amount))


def _peers(run: Run, world: int, ranks: list[int]) -> Iterator[PeerSum]:
    for first in range(0, len(ranks), RANKS_AT_ONCE):
        chosen = None if len(ranks) <= RANKS_AT_ONCE else ranks[first : first + RANKS_AT_ONCE]
        yield from run.peer_sums(["rank"], [world], chosen, None)


def sizes(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows of the profile by size class, the smallest first; calls that move nothing left out."""
    kept = ("size_from", "size_to", "calls", "bytes", "received", "time_ns")
    sized = [row for row in rows if row.size_to is not None]
    merged: dict[int, dict[str, Any]] = {}
    for row in sized:  # of several worlds
        into = merged.setdefault(row.size_to or 0, {**dict.fromkeys(kept, 0)})
        for name in kept[2:]:
            into[name] += getattr(row, name)
        into["size_from"], into["size_to"] = row.size_from, row.size_to
    return [merged[key] for key in sorted(merged)]
