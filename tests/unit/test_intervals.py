"""Intervals called 95 % cover 95 % of any distribution; the coverage that they state is the real one."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

import pytest
from tare.analysis.intervals import (
    CONFIDENCE,
    coverage,
    coverage_reached,
    median_interval,
    pooled_interval,
    samples_needed,
)

TRIALS = 4000
# Four standard deviations of the share of TRIALS that cover, where it is farthest from certain.
MARGIN = 4 * math.sqrt(0.25 / TRIALS)
# Distributions with their medians: symmetric, skewed, heavy tails.
DISTRIBUTIONS: dict[str, tuple[Callable[[Random], float], float]] = {
    "normal": (lambda random: random.gauss(10, 2), 10),
    "exponential": (lambda random: random.expovariate(1), math.log(2)),
    "lognormal": (lambda random: random.lognormvariate(0, 1.5), 1),
    "cauchy": (lambda random: math.tan(math.pi * (random.random() - 0.5)), 0),
}


@pytest.mark.parametrize("count", [2, 3, 5, 6, 7, 9, 20, 40])
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_stated_coverage_is_true(name: str, count: int) -> None:
    draw, median = DISTRIBUTIONS[name]
    random = Random(f"{name} {count}")
    found = [median_interval([draw(random) for _ in range(count)]) for _ in range(TRIALS)]
    covered = sum(one.low <= median <= one.high for one in found) / TRIALS
    assert covered == pytest.approx(found[0].coverage, abs=MARGIN)
    assert found[0].is_confident() == (count >= 6)
    assert found[0].coverage == coverage_reached(count)


def test_of_intervals_that_suffice_the_narrowest_is_taken() -> None:
    for count in range(samples_needed(), 60):
        found = median_interval(range(count))
        cut = int(found.low)
        assert found.high == count - 1 - cut
        assert coverage(count, cut + 1) < CONFIDENCE <= coverage(count, cut) == found.coverage


def test_samples_that_are_too_few() -> None:
    assert samples_needed() == 6
    assert (coverage_reached(0), coverage_reached(1), coverage_reached(5)) == (0, 0, 0.9375)
    nothing, one, three = median_interval([]), median_interval([4]), median_interval([1, 2, 9])
    assert math.isnan(nothing.median) and nothing.coverage == one.coverage == 0
    assert one.median == 4 and math.isnan(one.low)
    assert (three.low, three.high, three.coverage) == (1, 9, 0.75)
    assert not three.is_confident()


@pytest.mark.parametrize("count", [1, 3, 10])
def test_pooled_intervals_cover_what_they_say(count: int) -> None:
    """The estimates are independent and err by different amounts, each with an interval of 95 %."""
    random = Random(f"pooled {count}")
    deviations = [1 + at % 3 for at in range(count)]
    covered = 0
    for _ in range(TRIALS):
        estimates = [random.gauss(7, deviation) for deviation in deviations]
        one = pooled_interval(estimates, [1.96 * deviation for deviation in deviations])
        covered += one.low <= 7 <= one.high
    assert CONFIDENCE - MARGIN <= covered / TRIALS <= CONFIDENCE + 3 * MARGIN


def test_pooled_intervals_know_that_estimates_scatter() -> None:
    """Each of ten runs differs from the others by more than its own interval says."""
    random = Random("scatter")
    covered = 0
    for _ in range(TRIALS):
        found = pooled_interval([random.gauss(random.gauss(7, 3), 1) for _ in range(10)], [1.96] * 10)
        covered += found.low <= 7 <= found.high
    assert covered / TRIALS >= 0.88


def test_what_is_not_finite_is_left_out() -> None:
    assert median_interval([1, math.nan, 3, math.inf]).count == 2


def test_scaled_by_a_negative_number() -> None:
    found = median_interval([1, 2, 4]).scaled(-2)
    assert (found.median, found.low, found.high, found.half_width) == (-4, -8, -2, 3)
