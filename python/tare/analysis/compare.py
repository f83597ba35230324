"""Two samples of a figure: whether they differ by more than the noise (docs/diff.md)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
ALPHA = 1 - CONFIDENCE


@dataclass
class Comparison:
    """A metric of the base runs and of the new runs, one value for each run."""

    base: list[float]
    new: list[float]
    # New divided by base; of geometric means, if all values are positive. None: a value is 0.
    ratio: float | None
    # Its confidence interval; None if the noise is not known or the ratio is not.
    interval: tuple[float, float] | None
    # The probability of such a difference by chance; None if the noise is not known.
    p: float | None
    # `p`, corrected for the number of comparisons made at once; set by `correct`.
    corrected_p: float | None = None

    @property
    def base_mean(self) -> float:
        """Geometric where there is a ratio, so that this is the ratio of the means."""
        return _mean(self.base) if self.ratio is None else _geometric_mean(self.base)

    @property
    def new_mean(self) -> float:
        """Geometric where there is a ratio, as `base_mean`."""
        return _mean(self.new) if self.ratio is None else _geometric_mean(self.new)

    @property
    def differs(self) -> bool | None:
        """Whether the difference exceeds the noise; None where that is not known."""
        p = self.corrected_p if self.corrected_p is not None else self.p
        return None if p is None else p < ALPHA


def compare(base: Sequence[float], new: Sequence[float], *, exact: bool = False) -> Comparison:
    """Welch's t-test, of logarithms where there are: noise of times is a factor, not a term.

    `exact`: the values are counted, so a single run on one side differs from equal ones on the other.
    """
    positive = min(*base, *new) > 0
    a = [math.log(value) for value in base] if positive else list(base)
    b = [math.log(value) for value in new] if positive else list(new)
    shift = _mean(b) - _mean(a)
    ratio = math.exp(shift) if positive else None
    p, half_width = _test(a, b, shift, exact=exact)
    interval = None
    if positive and half_width is not None:
        interval = (math.exp(shift - half_width), math.exp(shift + half_width))
    return Comparison(list(base), list(new), ratio, interval, p)


def correct(comparisons: Sequence[Comparison]) -> None:
    """Holm's correction: of all that `differs` says yes to, no single one is chance, with that confidence."""
    tested = sorted((each for each in comparisons if each.p is not None), key=lambda each: each.p or 0.0)
    largest = 0.0
    for number, each in enumerate(tested):
        largest = max(largest, min(1.0, (each.p or 0.0) * (len(tested) - number)))
        each.corrected_p = largest


def _test(
    a: Sequence[float], b: Sequence[float], shift: float, *, exact: bool
) -> tuple[float | None, float | None]:
    """p of a difference of the means, and half the width of the confidence interval of `shift`."""
    few = min(len(a), len(b)) < 2
    if few and len(a) == len(b):
        return None, None
    if _spread(a) == _spread(b) == 0:  # no noise at all: every difference is one
        if few and shift and not exact:  # but times that are all 0 do not tell how others vary
            return None, None
        return (0.0 if shift else 1.0), 0.0
    # One run on one side has no spread of its own: that of the other side is taken for both.
    from scipy import stats

    with warnings.catch_warnings():
        # It warns where one side does not vary, and is right nevertheless.
        warnings.simplefilter("ignore", RuntimeWarning)
        result = stats.ttest_ind(a, b, equal_var=few)
        interval = result.confidence_interval(CONFIDENCE)
    return float(result.pvalue), float(interval.high - interval.low) / 2


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _geometric_mean(values: Sequence[float]) -> float:
    return math.exp(_mean([math.log(value) for value in values]))


def _spread(values: Sequence[float]) -> float:
    from statistics import stdev  # loads more than all of `tare diff` for two runs

    return stdev(values) if len(values) > 1 else 0.0
