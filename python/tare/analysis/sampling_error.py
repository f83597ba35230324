"""What samples of stacks are worth: the error of a time, and whether two times differ (docs/stacks.md).

Numbers of samples vary as shares of all samples of a rank or run do: binomially. To tell whether two times
differ, each number is taken for a Poisson one, which varies more rather than less; then, of the samples of
both together, those of the one are a binomial share, and the probability of such a share is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

NORMAL_95 = 1.96
ALPHA = 0.05


class Sampled(NamedTuple):
    """Processor time, and the samples that stand for it."""

    time_ns: float = 0.0
    samples: int = 0

    def plus(self, other: Sampled) -> Sampled:
        """Both together."""
        return Sampled(self.time_ns + other.time_ns, self.samples + other.samples)

    def minus(self, other: Sampled) -> Sampled:
        """What is left without the other, which is a part of it."""
        return Sampled(self.time_ns - other.time_ns, self.samples - other.samples)

    @property
    def each_ns(self) -> float:
        """Time that a sample stands for; 0: there is none."""
        return self.time_ns / self.samples if self.samples else 0.0


@dataclass(frozen=True)
class Difference:
    """How much longer one time is than another; negative: shorter."""

    more_ns: float
    error_ns: float  # half of its 95 % confidence interval
    p: float  # probability of a difference as large, if there is none


def error_ns(part: Sampled, whole: Sampled) -> float:
    """Half of the 95 % confidence interval of a time by `part` of the samples."""
    share = part.samples / whole.samples if whole.samples else 0.0
    return NORMAL_95 * sqrt(part.samples * (1 - share)) * part.each_ns


def from_mean(
    own: Sampled, every: Sampled, own_all: Sampled, every_all: Sampled, ranks: int, exact_ns: float = 0.0
) -> Difference:
    """The time of one of `ranks` ranks in some code, against the mean of all ranks.

    `own` and `every`: in that code, of the rank and of all; `own_all` and `every_all`: in all code. What
    `exact_ns` says is added to the difference: it is not by samples, and has no error.
    """
    rest, rest_all = every.minus(own), every_all.minus(own_all)
    return _difference(own, rest, own_all, rest_all, (1 - 1 / ranks, 1 / ranks), exact_ns)


def between(
    base: Sampled, new: Sampled, base_all: Sampled, new_all: Sampled, base_runs: int = 1, new_runs: int = 1
) -> Difference:
    """The time of a new run in some code, against that of its base; of several runs, the mean of them.

    Times are the sums of runs. Only the sampling is in the error, and not how times of runs vary.
    """
    return _difference(new, base, new_all, base_all, (1 / new_runs, 1 / base_runs), 0.0)


def certain(found: Sequence[Difference], comparisons: int) -> list[bool]:
    """Which of these differences are no chance, by Holm's correction for a number of comparisons.

    The comparisons that are not among `found` must be less certain than those that are.
    """
    order = sorted(range(len(found)), key=lambda at: found[at].p)
    result = [False] * len(found)
    for number, at in enumerate(order):
        if found[at].p * max(1, comparisons - number) >= ALPHA:
            break
        result[at] = True
    return result


def _difference(
    own: Sampled,
    rest: Sampled,
    own_all: Sampled,
    rest_all: Sampled,
    weights: tuple[float, float],
    exact_ns: float,
) -> Difference:
    """That of two times, each by its weight, and of `exact_ns`; `*_all` tell what a sample stands for."""
    own_weight, rest_weight = weights
    more_ns = own_weight * own.time_ns - rest_weight * rest.time_ns + exact_ns
    together_ns = own.time_ns + rest.time_ns
    number = own.samples + rest.samples
    if not number:
        return Difference(more_ns, 0.0, 0.0 if more_ns else 1.0)
    each = own.each_ns or own_all.each_ns or rest.each_ns
    rest_each = rest.each_ns or rest_all.each_ns or each
    deviation_ns = sqrt(
        (own_weight * each) ** 2 * _variance(own, own_all)
        + (rest_weight * rest_each) ** 2 * _variance(rest, rest_all)
    )
    # What `own` would have, if there were no difference.
    equal_ns = (rest_weight * together_ns - exact_ns) / (own_weight + rest_weight)
    equal_ns = min(max(equal_ns, 0.0), together_ns)
    expected, rest_expected = equal_ns / each, (together_ns - equal_ns) / rest_each
    share = expected / (expected + rest_expected)
    return Difference(more_ns, NORMAL_95 * deviation_ns, _two_sided(own.samples, number, share))


def _variance(part: Sampled, whole: Sampled) -> float:
    """That of a number of samples; by Agresti and Coull, so that none or all of them vary, too."""
    number = part.samples + 2
    return number * (1 - min(1.0, number / (whole.samples + 4)))


def _two_sided(samples: int, number: int, share: float) -> float:
    """Probability of a binomial number that is as far off as `samples` of `number`."""
    from scipy.special import bdtr, bdtrc

    least = float(bdtr(samples, number, share))
    most = float(bdtrc(samples - 1, number, share)) if samples else 1.0
    return min(1.0, 2 * min(least, most))
