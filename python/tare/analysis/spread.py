"""How a figure spreads over many: ranks, or locations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Of = TypeVar("Of")


@dataclass(frozen=True)
class Spread(Generic[Of]):
    """The least value, the mean and the largest value of several items."""

    least: float
    min_at: Of  # the first item with the least value
    mean: float
    most: float
    max_at: Of  # the first item with the largest value


def spread(of: Sequence[Of], figure: Callable[[Of], float | None]) -> Spread[Of] | None:
    """The spread over those that have the figure; None if nobody has."""
    found = [(value, each) for each in of if (value := figure(each)) is not None]
    if not found:
        return None
    least, most = min(found, key=lambda each: each[0]), max(found, key=lambda each: each[0])
    mean = sum(value for value, _ in found) / len(found)
    return Spread(least[0], least[1], mean, most[0], most[1])
