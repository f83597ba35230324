"""Figures of single locations, and how they spread over many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare._native import Location


@dataclass(frozen=True)
class Spread:
    """Of a figure over the locations that have it: least, mean and most, and where."""

    least: float
    least_at: Location
    mean: float
    most: float
    most_at: Location


def bytes_per_event(location: Location) -> float | None:
    """On disk; None if it has no events."""
    return location["bytes"] / location["events"] if location["events"] else None


def spread(locations: Sequence[Location], figure: Callable[[Location], float | None]) -> Spread | None:
    """None if no location has the figure; of equal ones the first is told."""
    found = [(value, location) for location in locations if (value := figure(location)) is not None]
    if not found:
        return None
    least, most = min(found, key=lambda each: each[0]), max(found, key=lambda each: each[0])
    mean = sum(value for value, _ in found) / len(found)
    return Spread(least[0], least[1], mean, most[0], most[1])
