"""Estimates and tests of a study, on data whose answers are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tare.analysis.intervals import median_interval
from tare.lab.study import model, statistics
from tare.lab.study.model import Demand, FileSystem

RANDOM = np.random.default_rng(7)
# Its mean is not 0.1 exactly.
CONSTANT = [0.1] * 6
# Nor are these one number.
ALMOST = [0.1, 0.3 / 3, 0.7 / 7, 1.1 / 11, 0.1 * 3 / 3, 0.1 * 1.1 / 1.1]


def test_no_difference_is_shown_not_only_not_refuted() -> None:
    bare = RANDOM.normal(1, 0.02, 40)
    same = bare * (1 + RANDOM.normal(0, 0.004, 40))
    found = statistics.paired(list(same), list(bare), 0.95, 0.01, 0.005)
    assert found.p_equivalent < 0.05
    assert found.p_overhead_below < 0.05
    noisy = RANDOM.normal(1, 0.2, 8)
    unknown = statistics.paired(list(noisy), list(bare[:8]), 0.95, 0.01, 0.005)
    assert unknown.p_equivalent > 0.05, "few and noisy runs show nothing"


def test_pairs_remove_what_changes_from_block_to_block() -> None:
    drift = np.linspace(1, 3, 20)
    ours = drift * 1.05 * (1 + RANDOM.normal(0, 0.002, 20))
    found = statistics.paired(list(ours), list(drift), 0.95, 0.01, 0.01)
    assert found.relative.low < 0.05 < found.relative.high
    assert found.relative.half_width < 0.005
    assert found.p_difference < 1e-6
    assert found.p_overhead_below > 0.99


def test_equal_overheads_are_no_noise_though_rounding_makes_them_differ() -> None:
    bare = [0.1 * block for block in range(1, 9)]
    twice = [3.3 * value / 1.1 * (2 / 3) for value in bare]
    assert len({ours / base for ours, base in zip(twice, bare, strict=True)}) > 1
    found = statistics.paired(twice, bare, 0.95, 0.01, 0.01)
    assert (found.p_difference, found.p_overhead_below, found.p_equivalent) == (0, 1, 1)
    same = statistics.paired([3.3 * value / 1.1 / 3 for value in bare], bare, 0.95, 0.01, 0.01)
    assert (same.p_difference, same.p_overhead_below, same.p_equivalent) == (1, 0, 0)


def test_repetitions_that_are_said_to_suffice_do() -> None:
    first = RANDOM.normal(0, 0.03, 2000)
    needed = statistics.repetitions_for_width(list(first), 0.005, 0.95)
    assert needed is not None
    # 1.96 * 0.03 / 0.005, squared, is 138 for a mean; a median takes pi / 2 as many.
    assert 190 <= needed <= 250
    many = statistics.repetitions_for_width(list(first), 0.003, 0.95)
    assert many == pytest.approx(needed * (5 / 3) ** 2, rel=0.1), "however many they are"
    widths = [median_interval(list(RANDOM.normal(0, 0.03, needed))).half_width for _ in range(200)]
    assert np.mean(widths) == pytest.approx(0.005, rel=0.08)
    for_bound = statistics.repetitions_for_bound(list(first), 0.01, 0.95)
    assert for_bound is not None
    # (1.645 + 0.842)^2 * (0.03 / 0.01)^2 = 56, the mean being about 0.
    assert 40 <= for_bound <= 80
    assert statistics.repetitions_for_bound(list(first + 0.5), 0.01, 0.95) is None


@pytest.mark.parametrize(("count", "half_width"), [(6, 0.04), (9, 0.03), (28, 0.014), (120, 0.0067)])
def test_few_repetitions_suffice_as_said(count: int, half_width: float) -> None:
    """Values are normal with a deviation of 0.03: intervals are as wide as asked for, on average."""
    told = [
        needed
        for _ in range(40)
        if (needed := statistics.repetitions_for_width(list(RANDOM.normal(0, 0.03, 60)), half_width, 0.95))
    ]
    widths = [
        median_interval(list(RANDOM.normal(0, 0.03, int(np.median(told))))).half_width for _ in range(200)
    ]
    assert np.mean(widths) <= 1.1 * half_width
    assert np.median(told) <= 1.5 * count


def test_a_value_far_out_does_not_ask_for_more_repetitions() -> None:
    values = list(RANDOM.normal(0, 0.01, 20))
    needed = statistics.repetitions_for_width(values, 0.005, 0.95)
    values[values.index(max(values))] = 5.0
    assert statistics.repetitions_for_width(values, 0.005, 0.95) == needed
    assert statistics.repetitions_for_width([0.02] * 5, 0.005, 0.95) == 6, "the fewest with an interval"
    mostly_equal = [each - 0.1 for each in (*ALMOST, 0.3, 0.3)]
    # Their mean absolute deviation is 0.05: that of normal values of a deviation of 0.0627.
    assert statistics.repetitions_for_width(mostly_equal, 0.005, 0.95) == pytest.approx(
        (1.96 * 0.05 * 1.253314 / 0.005) ** 2 * math.pi / 2, abs=1
    )
    assert statistics.repetitions_for_width([0.0, 0.1], 0.005, 0.95) is None


SIMULATIONS = 300
# Four standard deviations of the share of SIMULATIONS that are wrong, where 5 % are.
MARGIN = 4 * math.sqrt(0.05 * 0.95 / SIMULATIONS)
NOISE = {
    "normal": lambda count: RANDOM.normal(0, 0.02, count),
    "interrupted": lambda count: (
        RANDOM.normal(0, 0.005, count) + (RANDOM.random(count) < 0.1) * RANDOM.exponential(0.2, count)
    ),
}


@pytest.mark.parametrize("blocks", [6, 10, 20])
@pytest.mark.parametrize("noise", NOISE)
def test_intervals_of_studies_cover_the_overhead(noise: str, blocks: int) -> None:
    """Runs drift and are disturbed; the noise of both tools is the same, the overhead 3 %."""
    covered = 0
    for _ in range(SIMULATIONS):
        drift = np.exp(np.cumsum(RANDOM.normal(0, 0.02, blocks)))
        # Both factors have the same distribution, so that the median of their ratio is 1.
        ours, bare = (drift * np.exp(NOISE[noise](blocks)) for _ in range(2))
        relative = [1.03 * one / other - 1 for one, other in zip(ours, bare, strict=True)]
        found = median_interval(relative)
        assert found.is_confident()
        covered += found.low <= 0.03 <= found.high
    assert covered / SIMULATIONS >= 0.95 - MARGIN


@pytest.mark.parametrize("overhead", [0.0, 0.01])
def test_verdicts_are_seldom_wrong(overhead: float) -> None:
    """No difference is taken for one, and none at the bound for less, in more than 5 % of the studies."""
    wrong = 0
    for _ in range(SIMULATIONS):
        bare = np.exp(np.cumsum(RANDOM.normal(0, 0.02, 8)))
        ours = bare * (1 + overhead + RANDOM.normal(0, 0.01, 8))
        found = statistics.paired(list(ours), list(bare), 0.95, 0.01, 0.01)
        wrong += (found.p_overhead_below if overhead else found.p_difference) < 0.05
    assert wrong / SIMULATIONS <= 0.05 + MARGIN


def design(write_s: float, buffer_s: float, both_s: float, noise_s: float) -> pd.DataFrame:
    rows = [
        {
            "write": write,
            "buffer": buffer,
            "time": 10
            + write_s * (write == "true")
            + buffer_s * (buffer == "8M")
            + both_s * (write == "true" and buffer == "8M")
            + RANDOM.normal(0, noise_s),
        }
        for _ in range(20)
        for write in ("true", "false")
        for buffer in ("1M", "8M")
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("kind", [2, 3])
def test_anova_finds_the_factors_and_their_shares(kind: int) -> None:
    found = statistics.anova(design(2.0, 1.0, 0.0, 0.1), "time", ["write", "buffer"], kind)
    shares = {effect.name: effect.share for effect in found}
    # Variances of two levels apart by d are d^2 / 4: 1, 0.25 and the noise's 0.01.
    assert shares["write"] == pytest.approx(1 / 1.26, abs=0.02)
    assert shares["buffer"] == pytest.approx(0.25 / 1.26, abs=0.02)
    assert shares["write:buffer"] < 0.01
    assert shares["residuals"] == pytest.approx(0.01 / 1.26, abs=0.005)
    assert sum(shares.values()) == pytest.approx(1), "balanced"
    assert {effect.name: effect.p < 0.001 for effect in found if effect.name in ("write", "buffer")} == {
        "write": True,
        "buffer": True,
    }


def test_anova_finds_an_interaction() -> None:
    found = statistics.anova(design(0.0, 0.0, 1.0, 0.05), "time", ["write", "buffer"])
    by_name = {effect.name: effect for effect in found}
    assert by_name["write:buffer"].p < 0.001
    assert by_name["write:buffer"].share == pytest.approx(1 / 3, abs=0.05)


def test_anova_agrees_with_the_one_way_test() -> None:
    from scipy import stats

    frame = design(0.05, 0.0, 0.0, 0.1)
    (write, residuals) = statistics.anova(frame, "time", ["write"])
    groups = [group["time"].to_list() for _, group in frame.groupby("write")]
    assert write.p == pytest.approx(float(stats.f_oneway(*groups).pvalue))
    assert write.share + residuals.share == pytest.approx(1)


def two_factors(kinds: int, times: Sequence[float]) -> pd.DataFrame:
    """Each of two buffers with each write, as often."""
    rows = [{"time": time, "write": at % 2, "buffer": at // 2 % kinds} for at, time in enumerate(times)]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("kind", [2, 3])
@pytest.mark.parametrize("constant", [CONSTANT * 4, ALMOST * 4, [0.0] * 24, [-0.7] * 24])
def test_anova_finds_nothing_in_a_constant(constant: list[float], kind: int) -> None:
    assert statistics.anova(two_factors(2, constant), "time", ["write", "buffer"], kind) == []


@pytest.mark.parametrize("kind", [2, 3])
@pytest.mark.parametrize("far", [0.0, 1e4])
@pytest.mark.parametrize("count", [24, 2400])
def test_anova_without_residuals_has_shares_and_no_tests(count: int, far: float, kind: int) -> None:
    """Times of a coarse clock, which differ with the factors alone."""
    rounding = [value - 0.1 for value in ALMOST]
    times = [far + 1.1 + 0.3 * (at % 2) + 0.1 * (at // 2 % 3) + rounding[at // 6 % 6] for at in range(count)]
    found = statistics.anova(two_factors(3, times), "time", ["write", "buffer"], kind)
    shares = {effect.name: effect.share for effect in found}
    # Variances: 0.3^2 / 4 and 0.1^2 * 2 / 3.
    whole = 0.0225 + 0.02 / 3
    assert shares == pytest.approx(
        {"write": 0.0225 / whole, "buffer": 0.02 / 3 / whole, "write:buffer": 0, "residuals": 0}, abs=1e-6
    )
    assert all(math.isnan(effect.f) and math.isnan(effect.p) for effect in found)
    little = [time + 1e-9 * far * RANDOM.normal() + 1e-9 * RANDOM.normal() for time in times]
    by_name = {
        effect.name: effect
        for effect in statistics.anova(two_factors(3, little), "time", ["write", "buffer"], kind)
    }
    assert by_name["write"].p < 1e-6, "little noise is noise"
    assert by_name["write"].f > by_name["write:buffer"].f


def test_what_differs_by_rounding_alone_is_constant() -> None:
    assert max(ALMOST) > min(ALMOST)
    assert statistics.repetitions_for_bound([each - 0.1 for each in ALMOST], 0.01, 0.95) == 2
    at_bound = [1.01 / 1 - 1, 2.02 / 2 - 1, 3.03 / 3 - 1, 0.7 * 1.01 / 0.7 - 1]
    assert statistics.repetitions_for_bound(at_bound, 0.01, 0.95) is None
    found = statistics.paired([1.01, 2.02, 3.03, 0.7 * 1.01], [1, 2, 3, 0.7], 0.95, 0.01, 0.01)
    assert (found.p_overhead_below, found.p_equivalent) == (1, 1), "they are at the bound, not below it"
    assert math.isnan(statistics.correlation(range(6), ALMOST)[0])
    assert math.isnan(statistics.correlation(ALMOST, range(6))[1])
    assert statistics.welch(ALMOST, CONSTANT) == 1
    assert statistics.welch(ALMOST, [0.2] * 3) == 0
    with pytest.raises(model.NoModelError, match=r"R² = 0\.000"):
        model.fit(list(RANDOM.uniform(10_000, 1_000_000, 60)), ALMOST * 10)


def test_outliers_are_found_and_spread_is_not() -> None:
    values = [*RANDOM.normal(1, 0.01, 30), 1.5]
    assert [found.index for found in statistics.outliers(values)] == [30]


@pytest.mark.parametrize("usual", [[2.0] * 9, [2 * value / 0.1 for value in (ALMOST * 2)[:9]]])
def test_outliers_are_found_among_equal_values(usual: list[float]) -> None:
    """Their mean absolute deviation is 0.3; the median one is 0, or nothing but rounding."""
    (found,) = statistics.outliers([*usual, 5.0])
    assert (found.index, found.value) == (9, 5.0)
    assert found.z == pytest.approx(3 / (0.3 * 1.253314))
    assert [each.index for each in statistics.outliers([*usual[:4], 5.0, *usual[4:8], -1.0])] == [4, 9]
    assert statistics.outliers([*usual[:6], 5.0, 5.0, 5.0, 5.0]) == [], "four of ten are not far out"
    assert statistics.outliers(usual) == [], "they differ by rounding, if at all"
    assert statistics.outliers([*usual, 2 + 4e-16]) == []


def test_correlation() -> None:
    r, p = statistics.correlation([1, 2, 3, 4], [2, 4, 6, 8.1])
    assert r == pytest.approx(1, abs=0.001)
    assert p < 0.01
    assert math.isnan(statistics.correlation([1, 2, 3], [5, 5, 5])[0])


def test_the_model_finds_the_parameters_of_flushes() -> None:
    sizes = RANDOM.uniform(10_000, 1_000_000, 500)
    durations = 200e-6 + sizes / 400e6 + RANDOM.normal(0, 20e-6, 500)
    found = model.fit(list(sizes), list(durations))
    assert found.latency_s == pytest.approx(200e-6, rel=0.05)
    assert found.bytes_per_s == pytest.approx(400e6, rel=0.02)
    assert found.bytes_per_s_low < 400e6 < found.bytes_per_s_high


@pytest.mark.parametrize(
    ("durations", "why"),
    [
        (lambda sizes: RANDOM.normal(1e-3, 1e-4, len(sizes)), "R² = 0.0"),
        (lambda sizes: 2e-3 - sizes / 1e9, "flushes of more bytes do not take longer"),
    ],
)
def test_no_model_is_made_of_what_sizes_do_not_explain(durations: Any, why: str) -> None:
    sizes = RANDOM.uniform(10_000, 1_000_000, 500)
    with pytest.raises(model.NoModelError, match=why):
        model.fit(list(sizes), list(durations(sizes)))


def test_no_model_is_made_of_flushes_of_one_size() -> None:
    with pytest.raises(model.NoModelError, match="all 50 flushes have 195"):
        model.fit([200_000.0] * 50, list(RANDOM.normal(1e-3, 1e-4, 50)))


def test_a_small_system_is_as_measured_and_a_crowd_is_slower() -> None:
    fitted = model.Fit(100e-6, 0, 400e6, 390e6, 410e6, 1.0, 100, 1e5)
    demand = Demand(flushes=100, bytes=1e8)
    system = FileSystem(servers=100, server_bytes_per_s=1e9, creates_per_s=10_000, ranks_per_node=50)
    few = model.predict(fitted, demand, 100, system)
    assert few.write_per_rank_s == pytest.approx(100 * 100e-6 + 1e8 / 400e6), "as measured"
    many = model.predict(fitted, demand, 1_000_000, system)
    assert (many.files_per_rank, many.files_per_node) == (1_000_000, 20_000)
    assert many.create_per_rank_s == pytest.approx(100)
    assert many.create_per_node_s == pytest.approx(2)
    # 10^14 bytes through 10^11 bytes a second are 1000 s, and the crowd of files costs more.
    assert many.write_per_node_s > 1000
    assert many.write_per_rank_s > many.write_per_node_s
