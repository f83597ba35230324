"""Waits are said to grow only if they do, not by chance."""

from __future__ import annotations

import random

import pytest
from tare.analysis.explain.losses import Loss
from tare.analysis.explain.waiting import Group, _trend
from tare.analysis.rows import UNKNOWN

MS = 1_000_000


def trend(means: list[float], waits: float, ranks: int = 1) -> str:
    """The trend of waits with these means in the parts of the run, in ms; `waits`: of a rank in each."""
    count = waits * ranks
    times = [mean * MS * count for mean in means]
    loss = Loss(("MPI_Recv", UNKNOWN), sum(times), "late sender", by_rank=dict.fromkeys(range(ranks), 1.0))
    loss.by_time, loss.waits_by_time = times, [count] * len(means)
    return _trend(Group(None, [loss]))


@pytest.mark.parametrize("waits", [1, 100])
def test_waits_that_become_longer_all_the_time_grow(waits: int) -> None:
    assert trend([1, 2, 3, 4, 5, 6, 7, 8], waits) == "grows"
    assert trend([8, 7, 6, 5, 4, 3, 2, 1], waits) == ""
    assert trend([5.0, 5.1, 5.2, 5.3, 5.4, 5.5, 5.6, 5.7], waits) == ""


def test_of_many_waits_the_means_need_not_be_in_order() -> None:
    means = [1, 1.2, 1.1, 1.3, 2.4, 2.2, 2.5, 2.5]
    assert trend(means, 100, ranks=3) == "grows"
    assert trend(means, 4, ranks=3) == ""


def test_one_outlier_is_no_growth() -> None:
    assert trend([1, 1, 1.01, 1.02, 1.03, 1.04, 9, 1], 100) == ""


def test_noise_does_not_grow() -> None:
    chance = random.Random(1)

    def means(waits: int) -> list[float]:
        return [sum(chance.expovariate(1) for _ in range(waits)) / waits for _ in range(8)]

    for waits in (1, 3, 10, 30):
        grown = sum(trend(means(waits), waits) == "grows" for _ in range(1000))
        assert grown <= 5, waits
