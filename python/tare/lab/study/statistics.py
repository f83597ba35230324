"""Estimates and tests, on numbers alone; SciPy and statsmodels are loaded when first used."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tare.analysis.intervals import Interval, median_interval, samples_needed

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

# Modified z-score from which a value counts as an outlier (Iglewicz and Hoaglin, 1993).
OUTLIER_Z = 3.5
# Of normal values, the deviation over the median, and over the mean, of the distances from the median.
MEDIAN_TO_SIGMA = 1.4826
MEAN_TO_SIGMA = 1.253314
POWER = 0.8
MAX_NEEDED = 100_000
# Of equal values that were computed in different ways, as a share of them.
ROUNDING = 16 * sys.float_info.epsilon
# Up to here the steps between order statistics matter.
FEW = 500


@dataclass(frozen=True)
class Paired:
    """Differences within blocks between the values of a tool and of the baseline. A p value is that of a test
    of the null hypothesis that its comment states."""

    difference: Interval  # in the unit of the values
    relative: Interval  # share of the baseline
    mean: float  # of these shares; the t-tests are of it
    p_difference: float  # there is no difference (paired t-test); NaN with fewer than 2 blocks
    p_rank: float  # the same (Wilcoxon signed-rank test)
    p_overhead_below: float  # the overhead is at least the bound
    p_equivalent: float  # the difference exceeds the bound on either side (TOST)
    needed: int | None  # number of blocks for the wanted half width
    needed_for_bound: int | None  # number of blocks to show equivalence with a power of 0.8


@dataclass(frozen=True)
class Effect:
    """A line of an ANOVA table."""

    name: str  # the factor, or the factors of an interaction
    sum_of_squares: float
    degrees: float  # degrees of freedom
    share: float  # share of the total sum of squares
    f: float  # F statistic; NaN of the residuals, and where there are none to compare with
    p: float  # its p value; NaN where F is


@dataclass(frozen=True)
class Outlier:
    """A value that is far from the others."""

    index: int  # its index among the values
    value: float
    z: float  # distance from the median in robust standard deviations


def paired(
    with_tool: Sequence[float], without: Sequence[float], confidence: float, bound: float, precision: float
) -> Paired:
    """Values of the same blocks, in the same order. `bound` and `precision` are shares of the baseline."""
    import numpy as np

    ours, base = np.asarray(with_tool, float), np.asarray(without, float)
    differences, relative = ours - base, ours / base - 1
    p_difference, p_rank = _no_difference(relative)
    p_below, p_equivalent = _within(relative, bound)
    return Paired(
        median_interval(list(differences), confidence),
        median_interval(list(relative), confidence),
        float(relative.mean()),
        p_difference,
        p_rank,
        p_below,
        p_equivalent,
        repetitions_for_width(list(relative), precision, confidence),
        repetitions_for_bound(list(relative), bound, confidence),
    )


def are_equal(values: Sequence[float] | np.ndarray[Any, Any]) -> bool:
    """Whether the values, one at least, differ by no more than the rounding of equal ones, which is no noise.

    Of differences, give what is subtracted from, too: 1 + an overhead, not the overhead.
    """
    import numpy as np

    data = np.asarray(values, float)
    return float(data.max() - data.min()) <= ROUNDING * float(abs(data).max())


def _no_difference(relative: np.ndarray[Any, Any]) -> tuple[float, float]:
    from scipy import stats

    if len(relative) < 2:
        return math.nan, math.nan
    if are_equal(1 + relative):
        p = 1.0 if abs(float(relative[0])) <= ROUNDING else 0.0
        return p, p
    rank = float(stats.wilcoxon(relative).pvalue) if len(relative) >= 5 else math.nan
    return float(stats.ttest_1samp(relative, 0).pvalue), rank


def _within(relative: np.ndarray[Any, Any], bound: float) -> tuple[float, float]:
    """p of "the overhead is below the bound", and of "it lies within the bound on both sides"."""
    from statsmodels.stats.weightstats import DescrStatsW

    if len(relative) < 2:
        return math.nan, math.nan
    if are_equal(1 + relative):
        overhead, least = float(relative[0]), bound - ROUNDING
        return (0.0 if overhead < least else 1.0), (0.0 if abs(overhead) < least else 1.0)
    p, _, upper = DescrStatsW(relative).ttost_mean(-bound, bound)
    return float(upper[1]), float(p)


def repetitions_for_width(values: Sequence[float], half_width: float, confidence: float) -> int | None:
    """How many shares give their median an interval of ± `half_width`; None if it cannot be told.

    The interval is that of `median_interval`, of shares that scatter as normal ones do. How much they do
    follows from their median absolute deviation: a few that lie far out change neither. (If more than half of
    them are equal, it follows from the mean one.)
    """
    import numpy as np
    from scipy import stats

    if len(values) < 3 or half_width <= 0:
        return None
    deviation = _spread(1 + np.asarray(values, float))
    counts = np.arange(samples_needed(confidence), FEW + 1)
    enough = counts[deviation * _normal_half_widths(counts, confidence) <= half_width]
    if len(enough):
        return int(enough[0])
    # The median of many normal values has the deviation of their mean, times the root of pi / 2.
    normal = float(stats.norm.ppf((1 + confidence) / 2)) * math.sqrt(math.pi / 2)
    count = math.ceil((normal * deviation / half_width) ** 2)
    return count if count < MAX_NEEDED else None


def _normal_half_widths(counts: np.ndarray[Any, Any], confidence: float) -> np.ndarray[Any, Any]:
    """The mean half-widths of `median_interval` for normal values of deviation 1 (Blom, 1958)."""
    import numpy as np
    from scipy import stats

    outside = (1 - confidence) / 2
    first = stats.binom.ppf(outside, counts, 0.5)
    cut = np.maximum(np.where(stats.binom.cdf(first, counts, 0.5) > outside, first - 1, first), 0)
    widths: np.ndarray[Any, Any] = stats.norm.ppf((counts - cut - 0.375) / (counts + 0.25))
    return widths


def repetitions_for_bound(values: Sequence[float], bound: float, confidence: float) -> int | None:
    """How many values show with POWER that their mean is below `bound`; None if it is not, or unknown."""
    import numpy as np
    from statsmodels.stats.power import TTestPower

    if len(values) < 3:
        return None
    mean, deviation = float(np.mean(values)), float(np.std(values, ddof=1))
    if mean >= bound - ROUNDING:
        return None
    if are_equal(1 + np.asarray(values, float)):
        return 2
    effect = (bound - mean) / deviation
    # One-sided t of the mean against the bound; statsmodels cannot bracket very large effects.
    if effect > 5:
        return 3
    found = TTestPower().solve_power(effect, alpha=1 - confidence, power=POWER, alternative="larger")
    number = float(np.atleast_1d(found)[0])
    return math.ceil(number) if number < MAX_NEEDED else None


def outliers(values: Sequence[float]) -> list[Outlier]:
    """Values far from the median by the median absolute deviation; by the mean one if that is 0."""
    import numpy as np

    data = np.asarray(values, float)
    if len(data) < 4:
        return []
    spread = _spread(data)
    if spread == 0:
        return []
    scores = (data - np.median(data)) / spread
    return [
        Outlier(index, float(data[index]), float(score))
        for index, score in enumerate(scores)
        if abs(score) > OUTLIER_Z
    ]


def _spread(data: np.ndarray[Any, Any]) -> float:
    """The median absolute deviation, as the standard deviation that normal values with it have.

    The mean one if more than half of the values are equal (Iglewicz and Hoaglin, 1993); 0 if all are.
    """
    import numpy as np

    if are_equal(data):
        return 0.0
    middle = float(np.median(data))
    distances = np.abs(data - middle)
    typical = float(np.median(distances))
    if typical > ROUNDING * abs(middle):
        return MEDIAN_TO_SIGMA * typical
    return MEAN_TO_SIGMA * float(distances.mean())


def anova(frame: pd.DataFrame, response: str, factors: Sequence[str], kind: int = 2) -> list[Effect]:
    """n factors with all interactions, by least squares; sums of squares of type II or III.

    A factor with one level, or a response that does not vary, gives no effects. The shares are of the total
    sum of squares about the mean; in an unbalanced design they need not add up to 1. Where the residuals are
    nothing but rounding, there is no F.
    """
    import numpy as np
    import statsmodels.formula.api as formula
    from statsmodels.stats.anova import anova_lm

    used = [name for name in factors if frame[name].nunique() > 1]
    values = frame[response].astype(float)
    if not used or len(frame) < 3 or are_equal(values.to_numpy()):
        return []
    about_mean = values - values.mean()
    total = float((about_mean**2).sum())
    renamed = frame[used].astype(str).rename(columns={name: f"f{at}" for at, name in enumerate(used)})
    renamed["y"] = about_mean / math.sqrt(total)  # for numbers of order 1
    contrast = ", Sum" if kind == 3 else ""
    highest = _interaction_order(renamed, len(used))
    terms = "+".join(f"C(f{at}{contrast})" for at in range(len(used)))
    model = formula.ols(f"y ~ ({terms})**{highest}", data=renamed).fit()
    if model.df_resid < 1 or not np.isfinite(model.ssr):
        return []
    table = anova_lm(model, typ=kind)
    residual = math.sqrt(float(model.ssr) * total / len(frame))
    if residual <= ROUNDING * float(values.abs().max()):
        table[["F", "PR(>F)"]] = math.nan
    names = {f"C(f{at}{contrast})": name for at, name in enumerate(used)}
    return [
        Effect(
            _term(str(index), names),
            float(row["sum_sq"]) * total,
            float(row["df"]),
            float(row["sum_sq"]),
            float(row["F"]),
            float(row["PR(>F)"]),
        )
        for index, row in table.iterrows()
        if index != "Intercept"
    ]


def _interaction_order(frame: pd.DataFrame, factors: int) -> int:
    """All interactions if every combination of levels has values; else main effects alone."""
    columns = [f"f{at}" for at in range(factors)]
    combinations = math.prod(int(frame[name].nunique()) for name in columns)
    present = len(frame[columns].drop_duplicates())
    return factors if present == combinations and len(frame) > combinations else 1


def _term(name: str, names: Mapping[str, str]) -> str:
    if name == "Residual":
        return "residuals"
    return ":".join(names[part] for part in name.split(":"))


def slope(across: Sequence[float], up: Sequence[float]) -> float:
    """The slope of the straight line with the least squares; `across` must vary."""
    import numpy as np

    places = np.asarray(across, float) - np.mean(across)
    return float(places @ np.asarray(up, float) / (places @ places))


def correlation(left: Sequence[float], right: Sequence[float]) -> tuple[float, float]:
    """Pearson's r and its p; NaN where one of them does not vary."""
    from scipy import stats

    if len(left) < 3 or are_equal(left) or are_equal(right):
        return math.nan, math.nan
    found = stats.pearsonr(left, right)
    return float(found.statistic), float(found.pvalue)


def welch(left: Sequence[float], right: Sequence[float]) -> float:
    """p of "the means are the same", without assuming that the variances are."""
    from scipy import stats

    if len(left) < 2 or len(right) < 2:
        return math.nan
    if are_equal(left) and are_equal(right):
        return 1.0 if are_equal([*left, *right]) else 0.0
    return float(stats.ttest_ind(left, right, equal_var=False).pvalue)
