"""Sampled messages by class, and what they say of all messages."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
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
    "deviation_ns", "min_ns", "max_ns", "unexpected", "late_sender_ns", "unposted_ns", "unwaited_ns",
    "transfer_ns", "uncertainty_ns",
)  # fmt: skip
Part = Literal["late_sender_ns", "unposted_ns", "unwaited_ns", "transfer_ns"]
PARTS: tuple[Part, ...] = get_args(Part)
# As format/sample.h has them: bin 0 holds latencies of up to 5 bits, the last also those beyond it.
FIRST_WIDTH = 5
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
    mean = sum(sample["latency_ns"] for sample in group) / count
    estimate = sum(sample["weight"] for sample in group)
    # Of a choice with probability 1 / w each: the variance of the sum of w (Horvitz and Thompson).
    spread = NORMAL_QUANTILE * math.sqrt(
        max(sum(sample["weight_squared"] - sample["weight"] for sample in group), 0)
    )
    deviation = _deviation(group, count, mean)
    margin = _quantile(count) * deviation / math.sqrt(count) if deviation is not None else None
    row: Row = {
        "count": count,
        "estimate": estimate,
        "estimate_low": max(estimate - spread, count),
        "estimate_high": estimate + spread,
        "mean_ns": mean,
        "mean_low_ns": None if margin is None else max(mean - margin, 0.0),
        "mean_high_ns": None if margin is None else mean + margin,
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
