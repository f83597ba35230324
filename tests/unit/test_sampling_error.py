"""What samples are worth: errors, differences and their probabilities, of numbers with known results."""

from __future__ import annotations

from math import comb, sqrt

import pytest
from tare.analysis import sampling_error
from tare.analysis.sampling_error import Difference, Sampled

EACH = 10_000_000


def of(samples: int, each_ns: int = EACH) -> Sampled:
    return Sampled(samples * each_ns, samples)


def binomial(least: int, number: int, share: float) -> float:
    """Probability of at least so many."""
    return sum(comb(number, k) * share**k * (1 - share) ** (number - k) for k in range(least, number + 1))


def test_the_error_of_a_time_is_that_of_a_binomial_share() -> None:
    # 100 of 400: 1.96 sqrt(100 * 3/4) samples.
    assert sampling_error.error_ns(of(100), of(400)) == pytest.approx(1.96 * sqrt(75) * EACH)
    assert sampling_error.error_ns(of(400), of(400)) == 0, "the sum of all is known"
    assert sampling_error.error_ns(Sampled(), Sampled()) == 0


def test_a_rank_against_the_mean_of_all() -> None:
    # 80 of 200 samples are of one of four ranks: 80 - 50. It has 100 in all, the others have 300.
    own, others = 82 * (1 - 82 / 104), 122 * (1 - 122 / 304)
    found = sampling_error.from_mean(of(80), of(200), of(100), of(400), 4)
    assert found.more_ns == 30 * EACH
    assert found.error_ns == pytest.approx(1.96 * sqrt(0.75**2 * own + 0.25**2 * others) * EACH)
    assert found.p == pytest.approx(2 * binomial(80, 200, 0.25))


def test_a_rank_with_no_sample_is_uncertain_too() -> None:
    found = sampling_error.from_mean(of(0), of(40), of(100), of(400), 4)
    assert found.more_ns == -10 * EACH
    assert found.error_ns == pytest.approx(
        1.96 * sqrt(0.75**2 * 2 * (1 - 2 / 104) + 0.25**2 * 42 * (1 - 42 / 304)) * EACH
    )
    assert found.p == pytest.approx(2 * 0.75**40)


def test_ranks_that_differ_in_what_a_sample_stands_for_are_compared_by_time() -> None:
    """Half as many samples of twice the time are no difference."""
    found = sampling_error.from_mean(
        of(50, 2 * EACH), of(50, 2 * EACH).plus(of(100)), of(200, 2 * EACH), of(600, EACH), 2
    )
    assert found.more_ns == 0
    assert found.p == 1.0


def test_what_is_measured_has_no_error() -> None:
    found = sampling_error.from_mean(of(0), of(0), of(100), of(400), 4, exact_ns=-7)
    assert found == Difference(-7, 0.0, 0.0)
    assert sampling_error.from_mean(of(0), of(0), of(100), of(400), 4).p == 1.0
    # 25 of 100 samples as expected, and 5 samples' time beside them that is known: 20 would be no difference.
    found = sampling_error.from_mean(of(25), of(100), of(100), of(400), 4, exact_ns=5 * EACH)
    assert found.more_ns == 5 * EACH
    assert found.p == pytest.approx(2 * binomial(25, 100, 0.2))


def test_two_runs_and_the_means_of_several() -> None:
    found = sampling_error.between(of(100), of(150), of(200), of(250))
    assert found.more_ns == 50 * EACH
    assert found.error_ns == pytest.approx(1.96 * sqrt(152 * (1 - 152 / 254) + 102 * (1 - 102 / 204)) * EACH)
    assert found.p == pytest.approx(2 * binomial(150, 250, 0.5))
    # Three base runs together have 300, two new ones 200: both means are 100.
    same = sampling_error.between(of(300), of(200), of(600), of(400), base_runs=3, new_runs=2)
    assert same.more_ns == pytest.approx(0, abs=1e-3)
    assert same.p == pytest.approx(1.0, abs=0.02)


def test_a_statement_is_made_if_it_holds_for_all_comparisons() -> None:
    """Holm: the smallest of m probabilities times m, the next times m - 1, until one is not below 5 %."""
    found = [Difference(1, 1, p) for p in (0.0124, 0.2, 0.0001, 0.04)]
    assert sampling_error.certain(found, 4) == [True, False, True, False]
    assert sampling_error.certain(found, 5) == [True, False, True, False]
    assert sampling_error.certain(found, 6) == [False, False, True, False]
    assert sampling_error.certain(found, 1000) == [False] * 4
    assert sampling_error.certain([], 3) == []


def test_equal_ranks_are_told_apart_in_one_of_twenty_runs_at_most() -> None:
    """Eight ranks with the same function, of which the numbers of samples vary as Poisson's do."""
    import numpy

    random = numpy.random.default_rng(1)
    wrong = 0
    for mean in (1, 3, 10, 100) * 250:
        numbers = [int(number) for number in random.poisson(mean, 8)]
        every = of(sum(numbers))
        found = [sampling_error.from_mean(of(number), every, of(1000), of(8000), 8) for number in numbers]
        wrong += any(sampling_error.certain(found, 8))
    assert wrong <= 50
