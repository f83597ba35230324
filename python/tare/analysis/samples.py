"""Sampled messages by class, and what they say of all messages."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from tare._native import SampleRow, SampleSummary, Site

Key = Literal["source", "destination", "send", "receive", "size"]
KEYS: tuple[Key, ...] = get_args(Key)
Row = dict[str, Any]

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
    "transfer_ns", "uncertainty_ns",
)  # fmt: skip
Part = Literal["late_sender_ns", "unposted_ns", "unwaited_ns", "transfer_ns"]
PARTS: tuple[Part, ...] = get_args(Part)
# As format/sample.h has them: bin 0 holds latencies of up to 5 bits, the last also those beyond it.
FIRST_WIDTH = 5
# As Sampler::uncertainty_ns() has it: crystals of servers drift by up to so much against one another.
ASSUMED_DRIFT = 20e-6
CONFIDENCE = 0.95
NORMAL_QUANTILE = 1.959964
Counter = Literal[
    "sent", "received", "chosen", "paired", "ambiguous", "ambiguous_received", "unnumbered", "unpaired",
    "recordless", "contradictory", "lost", "unreachable",
]  # fmt: skip
COUNTS: tuple[Counter, ...] = get_args(Counter)


def columns(keys: Sequence[Key]) -> list[str]:
    """The names of a row's fields, in order; the histogram left out."""
    return ["world", *(column for key in keys for column in KEY_COLUMNS[key]), *FIGURES]


def summed(samples: Iterable[SampleRow], sites: Sequence[Site], keys: Sequence[Key]) -> list[Row]:
    """One row for each combination of `keys` that occurs, the slowest first."""
    groups: dict[tuple[Any, ...], list[SampleRow]] = defaultdict(list)
    describe = _describer(sites, keys)
    for sample in samples:
        groups[tuple(describe(sample).items())].append(sample)
    rows = [dict(key) | _figures(group) for key, group in groups.items()]
    return sorted(rows, key=lambda row: -row["mean_ns"])


def comparisons(summaries: Iterable[SampleSummary]) -> list[Row]:
    """The comparisons of the clocks of nodes with the first one's, by the ranks that made them."""
    return [
        {
            "world": summary["world"],
            "rank": summary["rank"],
            "uncertainty_ns": summary["clock_uncertainty_ns"],
            "end_uncertainty_ns": summary["clock_end_uncertainty_ns"] if compared_again else None,
            "drift_ns": summary["clock_drift_ns"] if compared_again else None,
            "span_ns": summary["clock_span_ns"] if compared_again else None,
        }
        for summary in summaries
        for compared_again in [summary["clock_span_ns"] > 0]
        if summary["rank"] == summary["clock_rank"] and summary["clock_uncertainty_ns"]
    ]


def limits(summaries: Iterable[SampleSummary]) -> list[str]:
    """What kept ranks from telling one another of all messages, and why; nothing in the usual case."""
    joining = [set(summary["joining"]) for summary in summaries]
    apart = [said for said in joining if "begun" in said and "met" not in said]
    late = [said for said in joining if "met_late" in said]
    known = [said for said in joining if "several_nodes" in said]
    found = []
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
    return "1 rank" if count == 1 else f"{count:,} ranks"


@dataclass(frozen=True)
class ClockOfNode:
    """What the comparisons of a node's clock with the first node's, at the start and at the end, say."""

    bound_ns: int  # it was never further from what it was taken for, if it runs evenly
    is_uneven: bool  # it ran faster or slower than a clock is assumed to, of which nothing else is known


def clocks(summaries: Iterable[SampleSummary]) -> dict[tuple[int, int], ClockOfNode]:
    """The clock of each rank of each world that was compared at the start and at the end."""
    of_rank = {(summary["world"], summary["rank"]): summary for summary in summaries}
    found = {}
    for (world, rank), summary in of_rank.items():
        compared = of_rank.get((world, summary["clock_rank"]))
        if compared is None or compared["clock_span_ns"] == 0:
            continue
        start, end = compared["clock_uncertainty_ns"], compared["clock_end_uncertainty_ns"]
        drift = abs(compared["clock_drift_ns"])
        is_uneven = drift > start + end + compared["clock_span_ns"] * ASSUMED_DRIFT
        found[world, rank] = ClockOfNode(max(start, drift + end), is_uneven)
    return found


def with_both_comparisons(
    samples: Iterable[SampleRow], summaries: Iterable[SampleSummary]
) -> Iterator[SampleRow]:
    """The classes, with the uncertainty of the clocks that follows from both comparisons.

    What is recorded with a class follows from the comparison at the start and the drift that clocks are
    assumed to have at most. The comparison at the end bounds it too, or shows that the assumption was wrong.
    """
    clock_of = clocks(summaries)
    for sample in samples:
        source = clock_of.get((sample["world"], sample["source"]))
        destination = clock_of.get((sample["world"], sample["destination"]))
        if not sample["between_nodes"] or source is None or destination is None:
            yield sample
            continue
        bound = source.bound_ns + destination.bound_ns
        if not (source.is_uneven or destination.is_uneven):
            bound = min(bound, sample["uncertainty_ns"])
        yield {**sample, "uncertainty_ns": bound}


def totals(summaries: Iterable[SampleSummary]) -> dict[str, int]:
    """Messages of all ranks, by what became of them."""
    result: dict[str, int] = dict.fromkeys(COUNTS, 0)
    for summary in summaries:
        for name in COUNTS:
            result[name] += summary[name]
    return result


def _describer(sites: Sequence[Site], keys: Sequence[Key]) -> Callable[[SampleRow], Row]:
    def site(number: int, prefix: str) -> Row:
        known: Row = dict(sites[number]) if number >= 0 else {}
        return {f"{prefix}_{column}": known.get(column) for column in SITE_COLUMNS}

    def describe(sample: SampleRow) -> Row:
        row: Row = {"world": sample["world"]}
        # Those that found no room in the table of classes.
        told_apart = sample["source"] >= 0
        for key in keys:
            if key == "source":
                row["source"] = sample["source"] if told_apart else None
            elif key == "destination":
                row["destination"] = sample["destination"]
            elif key == "size":
                row["bytes"] = sample["bytes"] if told_apart else None
            else:
                row |= site(sample["send_site"] if key == "send" else sample["receive_site"], key)
        return row

    return describe


def _figures(group: Sequence[SampleRow]) -> Row:
    count = sum(sample["count"] for sample in group)
    observed = sum(sample["latency_ns"] for sample in group)
    mean = observed / count
    estimate = sum(sample["weight"] for sample in group)
    low, high = _population(count, estimate, sum(sample["weight_squared"] for sample in group))
    deviation = _deviation(group, count, mean)
    margin = _margin(count, estimate, deviation)
    # The total is off by as many messages as their number is, each of that latency (Horvitz and Thompson).
    latency = math.sqrt(sum(sample["squared_ns2"] for sample in group) / count)
    row: Row = {
        "count": count,
        "estimate": estimate,
        "estimate_low": low,
        "estimate_high": high,
        "mean_ns": mean,
        "mean_low_ns": None if margin is None else max(mean - margin, 0.0),
        "mean_high_ns": None if margin is None else mean + margin,
        "total_ns": estimate * mean,
        "total_low_ns": max(estimate * mean - (estimate - low) * latency, observed),
        "total_high_ns": estimate * mean + (high - estimate) * latency,
        "deviation_ns": deviation,
        "min_ns": min(sample["min_ns"] for sample in group),
        "max_ns": max(sample["max_ns"] for sample in group),
        "unexpected": sum(sample["unexpected"] for sample in group),
    }
    for part in PARTS:
        row[part] = sum(sample[part] for sample in group) / count
    row["uncertainty_ns"] = max(sample["uncertainty_ns"] for sample in group)
    row["histogram"] = _histogram(group)
    return row


def _population(count: int, estimate: float, weight_squared: float) -> tuple[float, float]:
    """Between how many messages the samples were probably chosen from; `weight_squared`: the sum of 1 / p².

    Wilson's interval, also right of few samples: the N for which (n - N p)² <= z² N p (1 - p).
    """
    if weight_squared <= estimate:
        return estimate, estimate
    p = estimate / weight_squared
    n, q = estimate * p, NORMAL_QUANTILE**2 * (1 - p)
    spread = math.sqrt(q * (4 * n + q))
    return max((2 * n + q - spread) / (2 * p), count), (2 * n + q + spread) / (2 * p)


def _margin(count: int, estimate: float, deviation: float | None) -> float | None:
    """How far the mean of the samples probably is from that of the messages that they were chosen from."""
    if estimate <= count:
        return 0.0  # these are all
    if deviation is None:
        return None
    return _quantile(count) * deviation / math.sqrt(count) * math.sqrt(1 - count / estimate)


def _deviation(group: Sequence[SampleRow], count: int, mean: float) -> float | None:
    if count < 2:
        return None
    squared = sum(sample["squared_ns2"] for sample in group)
    return math.sqrt(max(squared - count * mean * mean, 0) / (count - 1))


def _quantile(count: int) -> float:
    """Of Student's t, by the expansion of Cornish and Fisher; two-sided 95 %."""
    z, freedom = NORMAL_QUANTILE, count - 1
    if freedom == 1:
        return 12.706
    if freedom == 2:
        return 4.303
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def _histogram(group: Sequence[SampleRow]) -> list[dict[str, int]] | None:
    """Bins that hold messages; None if no histograms were kept."""
    kept = [sample["histogram"] for sample in group if sample["histogram"] is not None]
    if not kept:
        return None
    counts = [sum(column) for column in zip(*kept, strict=True)]
    return [
        {"from_ns": bin_start(number), "to_ns": 2 ** (FIRST_WIDTH + number), "count": count}
        for number, count in enumerate(counts)
        if count
    ]


def bin_start(number: int) -> int:
    return 0 if number == 0 else 2 ** (FIRST_WIDTH + number - 1)
