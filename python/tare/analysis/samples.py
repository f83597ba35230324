"""Sampled messages by class, and estimates for all messages.

Times are nanoseconds, sizes are bytes. docs/samples.md describes what is measured. The method is that of
J. S. Vetter, "Dynamic statistical profiling of communication activity in distributed applications"
(SIGMETRICS 2002).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from tare import units
from tare.analysis.groups import grouped
from tare.analysis.intervals import NORMAL_QUANTILE
from tare.analysis.rows import UNKNOWN, Placed, changed, fields, place_of

if TYPE_CHECKING:
    from tare._native import SampleRow, SampleSummary, Site
    from tare.runs.run import Run

Key = Literal["source", "destination", "send", "receive", "size"]
KEYS: tuple[Key, ...] = get_args(Key)

SITE_COLUMNS = ("file", "line", "caller", "object", "offset")
KEY_COLUMNS: dict[Key, tuple[str, ...]] = {
    "source": ("source",),
    "destination": ("destination",),
    "send": tuple(f"send_{column}" for column in SITE_COLUMNS),
    "receive": tuple(f"receive_{column}" for column in SITE_COLUMNS),
    "size": ("bytes",),
}
FIGURES = (
    "count", "estimate", "estimate_low", "estimate_high", "mean_ns", "mean_low_ns", "mean_high_ns",
    "total_ns", "total_low_ns", "total_high_ns", "deviation_ns",
    "min_ns", "max_ns", "unexpected", "late_sender_ns", "unposted_ns", "unwaited_ns",
    "transfer_ns", "uncertainty_ns", "not_estimated",
)  # fmt: skip
Part = Literal["late_sender_ns", "unposted_ns", "unwaited_ns", "transfer_ns"]
PARTS: tuple[Part, ...] = get_args(Part)
# As in format/sample.h: bin 0 counts latencies of up to 5 bits, the last bin also longer ones.
FIRST_WIDTH = 5
# As in Sampler::uncertainty_ns(): clocks of computers drift apart by at most this much.
ASSUMED_DRIFT = 20e-6
CONFIDENCE = 0.95
# Messages of more different lengths than this are summed up by powers of two.
MOST_LENGTHS = 16
# A counter or a timer may always find the same messages of a program with a rhythm.
NO_PROBABILITY = (
    "the messages were chosen by a counter or a timer, which gives no message a known probability "
    "(--sample random:P does), or by a chooser of yours that did not say with which probability"
)
CountName = Literal[
    "sent", "received", "chosen", "paired", "ambiguous", "ambiguous_received", "unnumbered", "unpaired",
    "recordless", "contradictory", "lost", "unreachable",
]  # fmt: skip
COUNTS: tuple[CountName, ...] = get_args(CountName)


@dataclass(frozen=True)
class Bin:
    """The samples with latencies from `from_ns` to below `to_ns`."""

    from_ns: int
    to_ns: int
    count: int  # number of samples


@dataclass(frozen=True, kw_only=True)
class Row:
    """The samples with the same keys, and estimates for the messages that they represent.

    Fields of keys that were not asked for are None. Intervals are 95 % confidence intervals. Estimates and
    intervals are None if `not_estimated` says why they are not known.
    """

    world: int
    source: int | None = None  # rank that sent; None also: classes for which there was no room
    destination: int | None = None  # rank that received
    send: Placed = UNKNOWN  # call site that sent
    receive: Placed = UNKNOWN  # call site that posted the receive
    bytes: int | None = None  # length of each message; None also: they differ
    bytes_from: int | None = (
        None  # shortest and longest message; None also: classes for which there was no room
    )
    bytes_to: int | None = None
    count: int  # number of samples
    estimate: float | None  # number of messages that they represent, and its interval (Wilson)
    estimate_low: float | None
    estimate_high: float | None
    mean_ns: float  # mean latency of the samples, and its interval for all messages that they represent
    # (Student); None also: a single sample of several messages
    mean_low_ns: float | None
    mean_high_ns: float | None
    total_ns: float | None  # sum of the latencies of all these messages, and its interval (Horvitz, Thompson)
    total_low_ns: float | None
    total_high_ns: float | None
    deviation_ns: float | None  # standard deviation of the latency; None: a single sample
    min_ns: int  # shortest and longest latency of the samples
    max_ns: int
    unexpected: int  # samples that were sent before their receive was posted
    # Means of parts of the latency (docs/samples.md); the last three add up to the mean latency.
    late_sender_ns: float
    unposted_ns: float
    unwaited_ns: float
    transfer_ns: float
    uncertainty_ns: int  # largest uncertainty of the clocks
    not_estimated: str | None  # why estimates and intervals are not known
    histogram: list[Bin] | None  # bins that contain samples; None if no histogram was recorded


@dataclass(frozen=True)
class ClockComparison:
    """A node's clock compared with that of the first node, at the start and at the end."""

    world: int
    rank: int  # the process that compared them
    uncertainty_ns: int  # uncertainty of the comparison at the start
    # The next three are None without a comparison at the end.
    end_uncertainty_ns: int | None  # uncertainty of that comparison
    drift_ns: int | None  # change of the difference of the clocks between the two comparisons
    span_ns: int | None  # time between the two comparisons


def columns(keys: Sequence[Key]) -> list[str]:
    """The fields of a row in the order of JSON and CSV, without the histogram."""
    return ["world", *(column for key in keys for column in KEY_COLUMNS[key]), *FIGURES]


def record(row: Row, keys: Sequence[Key]) -> dict[str, Any]:
    """The row as JSON has it: the fields of `columns`, and the histogram."""
    sites = {"send": row.send, "receive": row.receive}
    found: dict[str, Any] = {"world": row.world}
    for key in keys:
        if key in sites:
            found |= {f"{key}_{column}": getattr(sites[key], column) for column in SITE_COLUMNS}
        else:
            found |= fields(row, KEY_COLUMNS[key])
    bins = None if row.histogram is None else [asdict(each) for each in row.histogram]
    return {**found, **fields(row, FIGURES), "histogram": bins}


def summed(
    samples: Iterable[SampleRow], sites: Sequence[Site], keys: Sequence[Key], *, exact: bool = True
) -> list[Row]:
    """One row for each combination of `keys` that occurs, the slowest first.

    Not `exact`: messages of many lengths are together if the lengths lie between the same powers of two.
    """
    samples = list(samples)
    exact = exact or not has_many_lengths(samples)
    groups = grouped(samples, lambda sample: _class_of(sample, sites, keys, exact=exact))
    rows = [_row(key, group) for key, group in groups.items()]
    return sorted(rows, key=lambda row: -row.mean_ns)


def has_many_lengths(samples: Iterable[SampleRow]) -> bool:
    """Whether rows for each length would be too many."""
    return len({sample.bytes for sample in samples if sample.source >= 0}) > MOST_LENGTHS


def comparisons(summaries: Iterable[SampleSummary]) -> list[ClockComparison]:
    """The comparison of each node's clock; empty on one node."""
    return [
        ClockComparison(
            summary.world,
            summary.rank,
            summary.clock_uncertainty_ns,
            summary.clock_end_uncertainty_ns if compared_again else None,
            summary.clock_drift_ns if compared_again else None,
            summary.clock_span_ns if compared_again else None,
        )
        for summary in summaries
        for compared_again in [summary.clock_span_ns > 0]
        if summary.rank == summary.clock_rank and summary.clock_uncertainty_ns
    ]


def specs(run: Run) -> list[str]:
    """The specs that were in force last; of a rank that did not come to use one, that of the command."""
    given = run.meta.options.sample or ""
    return list(dict.fromkeys(summary.spec or given for summary in run.sample_summaries))


def are_counted(summaries: Iterable[SampleSummary]) -> bool:
    """Whether a rank has counted its messages: one that did not sample has not."""
    return any(summary.spec and "object_refused" not in summary.joining for summary in summaries)


def limits(summaries: Sequence[SampleSummary]) -> list[str]:
    """Why ranks could not exchange records of all messages; usually empty."""
    joining = [set(summary.joining) for summary in summaries]
    unbegun = sum(not summary.spec for summary in summaries)
    apart = [said for said in joining if "begun" in said and not {"met", "object_refused"} & said]
    late = [said for said in joining if "met_late" in said]
    known = [said for said in joining if "several_nodes" in said]
    refused = sum("object_refused" in said for said in joining)
    found = []
    if unbegun:
        who = units.noun(unbegun, "it", "they")
        found.append(
            f"{_ranks(unbegun)} did not sample: {who} did not come out of the first call of MPI, "
            "in which a chooser and an analysis of yours begin"
        )
    if refused:
        found.append(
            f"{_ranks(refused)} did not sample: the chooser or the analysis could not be used, "
            "as standard error of the run says"
        )
    if apart:
        memory = sum("no_memory" in said for said in apart)
        found.append(
            f"{_ranks(memory)} did not sample: no room for the memory that ranks of a node share"
            if memory == len(apart)
            else f"{_ranks(len(apart))} did not sample: not all ranks of their world came out of MPI_Init, "
            "or some are not measured"
        )
    if late:
        found.append(
            f"{_ranks(len(late))} began late, after MPI_Init had returned: another rank was held up in it; "
            "messages before that have no pair"
        )
    if known and not all("path_agreed" in said for said in known):
        reasons = {
            "some_take_no_part": "some ranks are not measured",
            "no_memory": "there is no room for the memory that ranks of a node share",
            "clocks_unknown": "the clocks of the nodes could not be compared in MPI_Init in time",
        }
        every = set().union(*joining)
        reason = next(
            (text for name, text in reasons.items() if name in every), "not all ranks have agreed in time"
        )
        found.append(f"messages between nodes were not sampled: {reason}")
    return found


def _ranks(count: int) -> str:
    return units.number_of(count, "rank")


@dataclass(frozen=True)
class ClockOfNode:
    """The result of the comparisons of a node's clock with the first node's, at the start and at the end."""

    bound_ns: int  # largest error of the clock, if its rate is constant
    is_uneven: bool  # it drifted more than the assumed maximum


def clocks(summaries: Iterable[SampleSummary]) -> dict[tuple[int, int], ClockOfNode]:
    """The clock of each rank of each world that was compared at the start and at the end."""
    of_rank = {(summary.world, summary.rank): summary for summary in summaries}
    found = {}
    for (world, rank), summary in of_rank.items():
        compared = of_rank.get((world, summary.clock_rank))
        if compared is None or compared.clock_span_ns == 0:
            continue
        start, end = compared.clock_uncertainty_ns, compared.clock_end_uncertainty_ns
        drift = abs(compared.clock_drift_ns)
        is_uneven = drift > start + end + compared.clock_span_ns * ASSUMED_DRIFT
        found[world, rank] = ClockOfNode(max(start, drift + end), is_uneven)
    return found


def with_both_comparisons(
    samples: Iterable[SampleRow], summaries: Iterable[SampleSummary]
) -> Iterator[SampleRow]:
    """The classes, with the uncertainty of the clocks that follows from both comparisons.

    The recorded uncertainty follows from the comparison at the start and the assumed maximal drift. The
    comparison at the end gives another bound. If it shows a larger drift, it replaces the assumption.
    """
    clock_of = clocks(summaries)
    for sample in samples:
        source = clock_of.get((sample.world, sample.source))
        destination = clock_of.get((sample.world, sample.destination))
        if not sample.between_nodes or source is None or destination is None:
            yield sample
            continue
        bound = source.bound_ns + destination.bound_ns
        if not (source.is_uneven or destination.is_uneven):
            bound = min(bound, sample.uncertainty_ns)
        yield changed(sample, uncertainty_ns=bound)


@dataclass(frozen=True)
class AnalysisResult:
    """What the user's analysis has written in a process."""

    world: int
    rank: int
    text: str  # bytes that are no text appear as `\\xff`


def results(summaries: Iterable[SampleSummary]) -> list[AnalysisResult]:
    """The results of the user's analysis, of the ranks that have any."""
    return [
        AnalysisResult(
            summary.world,
            summary.rank,
            summary.analysis.encode(errors="surrogateescape").decode(errors="backslashreplace"),
        )
        for summary in summaries
        if summary.analysis
    ]


def totals(summaries: Iterable[SampleSummary]) -> dict[CountName, int]:
    """Numbers of messages, summed over all ranks (docs/samples.md)."""
    result: dict[CountName, int] = dict.fromkeys(COUNTS, 0)
    for summary in summaries:
        for name in COUNTS:
            result[name] += getattr(summary, name)
    return result


@dataclass(frozen=True)
class _Class:
    """The keys of a row."""

    world: int
    source: int | None
    destination: int | None
    send: Placed
    receive: Placed
    length: int | None  # without the bits that do not matter


def _class_of(sample: SampleRow, sites: Sequence[Site], keys: Sequence[Key], *, exact: bool) -> _Class:
    has_class = sample.source >= 0  # else the table of classes had no room
    return _Class(
        sample.world,
        sample.source if has_class and "source" in keys else None,
        sample.destination if "destination" in keys else None,
        _site(sample.send_site, sites) if "send" in keys else UNKNOWN,
        _site(sample.receive_site, sites) if "receive" in keys else UNKNOWN,
        (sample.bytes if exact else _power_of_two(sample.bytes)) if has_class and "size" in keys else None,
    )


def _power_of_two(length: int) -> int:
    """The largest that is no longer; 0 for 0."""
    return 1 << length.bit_length() >> 1


def _site(number: int, sites: Sequence[Site]) -> Placed:
    """A call site, however the call was reached."""
    return replace(place_of(number, sites), tail_call=None)


def _row(of: _Class, group: Sequence[SampleRow]) -> Row:
    count = sum(sample.count for sample in group)
    observed = sum(sample.latency_ns for sample in group)
    deviation = _deviation(group, count, observed / count)
    number = _population(group, count)

    def mean_of(part: Literal[Part, "latency_ns"]) -> float:
        """The mean of all messages that the samples represent; if that is not known, of the samples."""
        if number is None:
            return float(sum(getattr(sample, part) for sample in group) / count)
        weighted = (_weight(sample) * getattr(sample, part) / sample.count for sample in group)
        return float(sum(weighted) / number.value)

    mean = mean_of("latency_ns")
    total = None
    margin = None
    if number is not None:
        # The total is wrong by the latency of as many messages as their number is wrong.
        latency = _root_mean_square(group, count)
        total = _Estimate(
            number.value * mean,
            max(number.value * mean - (number.value - number.low) * latency, observed),
            number.value * mean + (number.high - number.value) * latency,
        )
        margin = _margin(group, count, number.value, mean)

    lengths = [] if of.length is None else [sample.bytes for sample in group]
    shortest, longest = min(lengths, default=None), max(lengths, default=None)
    return Row(
        **fields(of, ("world", "source", "destination", "send", "receive")),
        bytes=shortest if shortest == longest else None,
        bytes_from=shortest,
        bytes_to=longest,
        count=count,
        estimate=number.value if number else None,
        estimate_low=number.low if number else None,
        estimate_high=number.high if number else None,
        mean_ns=mean,
        mean_low_ns=None if margin is None else max(mean - margin, 0.0),
        mean_high_ns=None if margin is None else mean + margin,
        total_ns=total.value if total else None,
        total_low_ns=total.low if total else None,
        total_high_ns=total.high if total else None,
        deviation_ns=deviation,
        min_ns=min(sample.min_ns for sample in group),
        max_ns=max(sample.max_ns for sample in group),
        unexpected=sum(sample.unexpected for sample in group),
        late_sender_ns=mean_of("late_sender_ns"),
        unposted_ns=mean_of("unposted_ns"),
        unwaited_ns=mean_of("unwaited_ns"),
        transfer_ns=mean_of("transfer_ns"),
        uncertainty_ns=max(sample.uncertainty_ns for sample in group),
        not_estimated=None if number else NO_PROBABILITY,
        histogram=_histogram(group),
    )


@dataclass(frozen=True)
class _Estimate:
    """A value, and its confidence interval."""

    value: float
    low: float
    high: float


def _population(group: Sequence[SampleRow], count: int) -> _Estimate | None:
    """The number of messages that the samples represent; None if one of them has no known probability.

    The interval is Wilson's, which also holds for few samples: the N for which (n - N p)² <= z² N p (1 - p).
    """
    estimate = squared = 0.0  # sums of 1 / p and of 1 / p²
    for sample in group:
        if sample.weight is None or sample.weight_squared is None:
            return None
        estimate += sample.weight
        squared += sample.weight_squared
    if squared <= estimate:
        return _Estimate(estimate, estimate, estimate)
    p = estimate / squared
    n, q = estimate * p, NORMAL_QUANTILE**2 * (1 - p)
    spread = math.sqrt(q * (4 * n + q))
    return _Estimate(estimate, max((2 * n + q - spread) / (2 * p), count), (2 * n + q + spread) / (2 * p))


def _weight(sample: SampleRow) -> float:
    """The number of messages that the samples of a class represent, if it is known."""
    return sample.weight or 0.0


def _excess(sample: SampleRow) -> float:
    """The variance of `_weight`: the sum of (1 - p) / p², by Horvitz and Thompson."""
    return max((sample.weight_squared or 0.0) - _weight(sample), 0.0)


def _root_mean_square(group: Sequence[SampleRow], count: int) -> float:
    """The root mean square of latencies, weighted by what classes add to the variance of the estimate."""
    excess = sum(_excess(sample) for sample in group)
    if excess <= 0:
        return math.sqrt(sum(sample.squared_ns2 for sample in group) / count)
    weighted = sum(_excess(sample) * sample.squared_ns2 / sample.count for sample in group)
    return math.sqrt(weighted / excess)


def _margin(group: Sequence[SampleRow], count: int, estimate: float, mean: float) -> float | None:
    """Half the confidence interval of the mean latency of all messages; None if it cannot be known: of a
    single sample, and of samples that are all alike, as few readings of a coarse clock may be.

    The variance is that of the ratio of two estimates of Horvitz and Thompson: the sum of
    (1 - p) / p² (latency - mean)², over the square of the number of messages.
    """
    if estimate <= count:
        return 0.0  # all messages were sampled
    if count < 2:
        return None
    from tare import _native

    variance = sum(
        _excess(sample)
        / sample.count
        * max(sample.squared_ns2 - 2 * mean * sample.latency_ns + sample.count * mean**2, 0)
        for sample in group
    ) * (count / (count - 1))
    if variance <= 0:
        return None
    # As many samples with one probability would be as good.
    alike = estimate**2 / sum(sample.weight_squared or 0.0 for sample in group)
    return _native.student_95(max(round(alike) - 1, 1)) * math.sqrt(variance) / estimate


def _deviation(group: Sequence[SampleRow], count: int, mean: float) -> float | None:
    if count < 2:
        return None
    squared = sum(sample.squared_ns2 for sample in group)
    return math.sqrt(max(squared - count * mean * mean, 0) / (count - 1))


def _histogram(group: Sequence[SampleRow]) -> list[Bin] | None:
    """The bins that contain samples; None if no histogram was recorded."""
    kept = [sample.histogram for sample in group if sample.histogram is not None]
    if not kept:
        return None
    counts = [sum(column) for column in zip(*kept, strict=True)]
    return [
        Bin(bin_start(number), 2 ** (FIRST_WIDTH + number), count)
        for number, count in enumerate(counts)
        if count
    ]


def together(rows: Iterable[Row]) -> list[Bin]:
    """The histograms of all rows as one, by ascending latency."""
    counts: Counter[tuple[int, int]] = Counter()
    for row in rows:
        counts.update({(each.from_ns, each.to_ns): each.count for each in row.histogram or ()})
    return [Bin(*bounds, count) for bounds, count in sorted(counts.items())]


def bin_start(number: int) -> int:
    """The lowest latency of a bin of the histogram, in ns."""
    return 0 if number == 0 else 2 ** (FIRST_WIDTH + number - 1)
