"""What a run of tare says itself: what measuring cost, by its account and its trial; what it sampled of its
messages, and what latencies they had, by size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis import samples, trial

if TYPE_CHECKING:
    from tare.runs.run import Run


@dataclass(frozen=True)
class Weight:
    """The cost of measuring as the cost account and the trial (`--weigh`) of a run say it.

    Times are seconds of a rank, as means over ranks. Shares are relative to the time without measuring. The
    account is extrapolated to a run without controls. If the trial has no result, there are too few controls,
    and the account is that of the whole run.
    """

    account_s: float
    account_error_s: float | None  # half the width of the 95 % confidence interval; None: not known
    trial: float | None = None  # a share; None: no trial, or not determined
    trial_low: float | None = None  # its 95 % confidence interval
    trial_high: float | None = None
    trial_why: str | None = None  # why it is not determined; None: it is, or there was no trial


def weight_of(recording: Run) -> Weight | None:
    """None if no rank has ended its measurement."""
    costs = [process.cost for process in recording.processes if process.rank >= 0]
    if not costs:
        return None
    spent_ns: float = sum(cost.wrapper_ns + cost.flush_ns + cost.offload_ns for cost in costs)
    # Ranks weigh their calls independently.
    errors = [cost.wrapper_error_ns for cost in costs]
    known = [error for error in errors if error is not None]
    error_ns = sum(error**2 for error in known) ** 0.5 if len(known) == len(errors) else None
    found = trial.of_run(recording)
    if found is not None and found.measured:
        spent_ns /= 1 - found.unmeasured_share
        error_ns = None if error_ns is None else error_ns / (1 - found.unmeasured_share)
    return Weight(
        spent_ns * 1e-9 / len(costs),
        None if error_ns is None else error_ns * 1e-9 / len(costs),
        *((found.overhead, found.low, found.high, found.why) if found is not None else ()),
    )


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


def samples_of(recording: Run) -> tuple[tuple[Chosen, ...], tuple[Latency, ...]]:
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
