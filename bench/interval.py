"""Medians, with the interval in which the true one lies."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A median of samples; `low` to `high` holds the true one with the probability `coverage`."""

    median: float
    low: float
    high: float
    coverage: float

    def scaled(self, factor: float) -> Estimate:
        low, high = sorted((self.low * factor, self.high * factor))
        return Estimate(self.median * factor, low, high, self.coverage)


def estimate(samples: Sequence[float]) -> Estimate:
    """The interval is made of order statistics: it holds for any distribution, also a skewed one.

    It is the narrowest with CONFIDENCE, or from the smallest to the largest sample where there are too few
    of them for that; `coverage` then says how little it is worth.
    """
    ordered = sorted(samples)
    count = len(ordered)
    cut, coverage = 0, _coverage(count, 0)
    while cut + 1 < count - cut - 1 and _coverage(count, cut + 1) >= CONFIDENCE:
        cut += 1
        coverage = _coverage(count, cut)
    return Estimate(statistics.median(ordered), ordered[cut], ordered[-1 - cut], coverage)


def _coverage(count: int, cut: int) -> float:
    """Probability that the median lies between the ends of `count` samples, `cut` dropped at each."""
    outside = sum(math.comb(count, below) for below in range(cut + 1)) / 2**count
    return 1 - 2 * float(outside)
