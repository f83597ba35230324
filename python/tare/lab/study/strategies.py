"""How many messages the strategies of sampling choose: what their definition leads to, and what runs had."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tare.analysis.intervals import median_interval
from tare.lab.study.analysis import Analysis
from tare.lab.study.plan import Cell

# Of the normal distribution at 99.9 %: of the many rows of a report, hardly one lies outside by chance.
QUANTILE = 3.29
UNITS_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
# Without keys that narrow the choice to messages that nobody counts by themselves.
_SPEC = re.compile(
    r"(?P<strategy>none|random|counter|timer)(?::(?P<first>[\d.e+-]+)(?P<unit>[num]?s)?)?"
    r"(?:,(?P<variance>[\d.]+)(?P<variance_unit>[num]?s)?)?(?:,(?:stat|freq|write|off|seed=\d+))*"
)


@dataclass(frozen=True)
class Rank:
    """Message sampling in a rank of a run."""

    spec: str  # as in tare run --sample
    sent: int  # number of messages
    chosen: int  # number of sampled messages
    net_s: float | None  # net time; None: not known


@dataclass(frozen=True)
class Expected:
    """The number of messages that a strategy should sample."""

    messages: float  # the mean
    low: float  # at least 99.9 % of all runs are between these
    high: float


@dataclass(frozen=True)
class Counted:
    """The runs of a cell. Numbers of messages are sums over the ranks of a run; medians over the runs."""

    cell: Cell
    threshold: float | None  # of the strategy random
    sent: float  # messages sent
    found: float  # messages sampled
    expected: Expected | None  # None: the spec does not determine a number
    runs: int  # number of runs
    as_expected: int  # number of these with the expected number of samples


def expected(rank: Rank) -> Expected | None:
    """What the spec leads to; None where it is narrowed to some of the messages, or the time is not known.

    random:P takes each message with probability P; counter:N,V one after N ± V, all equally likely;
    timer:T,V one in T ± V at most, and fewer where messages come less often than that.
    """
    spec = _SPEC.fullmatch(rank.spec)
    if spec is None:
        return None
    first, variance = float(spec["first"] or 0), float(spec["variance"] or 0)
    match spec["strategy"]:
        case "none":
            return Expected(0, 0, 0)
        case "random":
            mean, deviation, slack = rank.sent * first, math.sqrt(rank.sent * first * (1 - first)), 0
        case "counter":
            # A renewal process: the deviation of one interval over its mean, times the root of their number.
            mean, slack = rank.sent / first, 1
            deviation = math.sqrt(((2 * variance + 1) ** 2 - 1) / 12 * mean) / first
        case _:
            if rank.net_s is None:
                return None
            period_s = first * UNITS_S[spec["unit"]]
            shortest_s = period_s - variance * UNITS_S[spec["variance_unit"] or "s"]
            return Expected(min(rank.net_s / period_s, rank.sent), 0, rank.net_s / shortest_s + 1)
    spread = QUANTILE * deviation + slack
    return Expected(mean, max(mean - spread, 0), mean + spread)


def counted(analysis: Analysis) -> list[Counted]:
    """What each cell counted whose runs sampled messages, in the order of the study."""
    by_cell: dict[str, dict[int, list[Rank]]] = {}
    for cell, run, *rank in analysis.store.of_set("sampled", analysis.set_name):
        by_cell.setdefault(cell, {}).setdefault(run, []).append(Rank(*rank))
    return [
        _counted(cell, list(by_cell[cell.key].values())) for cell in analysis.cells if cell.key in by_cell
    ]


def _counted(cell: Cell, runs: Sequence[Sequence[Rank]]) -> Counted:
    sums = [_sum(ranks) for ranks in runs]
    known = [one for one in sums if one is not None]
    found = [sum(rank.chosen for rank in ranks) for ranks in runs]
    inside = [one is not None and one.low <= own <= one.high for one, own in zip(sums, found, strict=True)]
    spec = _SPEC.fullmatch(runs[0][0].spec)
    return Counted(
        cell,
        float(spec["first"]) if spec is not None and spec["strategy"] == "random" else None,
        _median(sum(rank.sent for rank in ranks) for ranks in runs),
        _median(found),
        _together(known, _median) if known else None,
        len(runs),
        sum(inside),
    )


def _sum(ranks: Sequence[Rank]) -> Expected | None:
    of_ranks = [expected(rank) for rank in ranks]
    known = [one for one in of_ranks if one is not None]
    return None if len(known) < len(of_ranks) else _together(known, sum)


def _median(values: Iterable[float]) -> float:
    return median_interval(list(values)).median


def _together(of: Sequence[Expected], by: Callable[[Iterable[float]], float]) -> Expected:
    """The sum, or whatever `by` makes of several numbers, of each of the numbers."""
    return Expected(by(x.messages for x in of), by(x.low for x in of), by(x.high for x in of))
