"""What was found is kept, for as long as the same tare runs on the same machine: a probe takes seconds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tare.lab.sweetspot.characterise import Probe
from tare.lab.sweetspot.live_tree import Topology
from tare.measuring import sweet_spots


def _key(topology: Topology) -> str:
    return sweet_spots.key(asdict(topology))


def load(topology: Topology, sizes: list[int]) -> tuple[list[Probe], float] | None:
    """Probes of these sizes, and when they were made (seconds since the epoch)."""
    entry = sweet_spots.entries().get(_key(topology), {})
    try:
        probes = [Probe(**entry["probes"][str(events)]) for events in sizes]
        return probes, float(entry["time"])
    except (KeyError, TypeError, ValueError):
        return None


def save(topology: Topology, probes: list[Probe]) -> None:
    """Stores probes of a topology in the cache. They replace those of the same numbers of events."""

    def add(entry: dict[str, Any]) -> None:
        of_sizes = entry.setdefault("probes", {})
        of_sizes |= {str(probe.events): asdict(probe) for probe in probes}

    sweet_spots.change(_key(topology), add)
