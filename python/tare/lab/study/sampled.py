"""What a run of tare sampled of its messages: how many of each rank, and what latencies they had, by size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis import samples

if TYPE_CHECKING:
    from tare.runs.run import Run


@dataclass(frozen=True)
class Chosen:
    """Numbers of messages of a rank."""

    rank: int
    spec: str  # as in tare run --sample
    sent: int
    received: int
    chosen: int  # part of `sent`: chosen for the sample
    paired: int  # sampled messages whose latency is known


@dataclass(frozen=True)
class Latency:
    """The latencies of sampled messages of one size, from the start of the send to the end of the receive."""

    bytes: int  # length of a message
    messages: int  # number of messages of all ranks
    mean_ns: float  # mean, shortest and longest latency
    min_ns: int
    max_ns: int


def of_run(recording: Run) -> tuple[tuple[Chosen, ...], tuple[Latency, ...]]:
    """Both are empty of a run that sampled nothing."""
    chosen = tuple(
        Chosen(row.rank, row.spec, row.sent, row.received, row.chosen, row.paired)
        for row in recording.sample_summaries
        if row.rank >= 0
    )
    if not chosen:
        return (), ()
    # Without call sites, whose names take long to look up.
    sizes = samples.summed(recording.sample_rows, [], ["size"])
    latencies = [
        Latency(row.bytes, row.count, row.mean_ns, row.min_ns, row.max_ns)
        for row in sizes
        if row.bytes is not None
    ]
    return chosen, tuple(sorted(latencies, key=lambda latency: latency.bytes))
