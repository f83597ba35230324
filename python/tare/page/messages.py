"""Who exchanged how much with whom, in messages of which size, and how long sampled ones took."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tare.analysis import communication, samples
from tare.analysis.rows import fields
from tare.reporters import terminal

if TYPE_CHECKING:
    from tare.runs.run import Run

LATENCIES_LISTED = 500


def matrix(run: Run) -> dict[str, Any] | None:
    """Messages and bytes sent from each group of ranks to each; None if no rank has sent to a known one.

    Of the largest world.
    """
    found = communication.sent(run, communication.MAX_GROUPS)
    if found is None:
        return None
    return {
        **fields(found, ("world", "size", "group", "elsewhere")),
        "cells": [[*cell, count, found.bytes[cell]] for cell, count in sorted(found.messages.items())],
    }


def latencies(run: Run) -> dict[str, Any] | None:
    """The latencies of sampled messages; None if none were."""
    if not run.sample_summaries:
        return None
    classes = list(samples.with_both_comparisons(run.sample_rows, run.sample_summaries))
    rows = samples.summed(classes, run.sites, ["send", "receive", "size"])
    return {
        "totals": samples.totals(run.sample_summaries) if samples.are_counted(run.sample_summaries) else None,
        "limits": samples.limits(run.sample_summaries),
        "histogram": [asdict(each) for each in samples.together(rows)],
        "rows": [_latency(row) for row in rows[:LATENCIES_LISTED]],
    }


def _latency(row: samples.Row) -> dict[str, Any]:
    places = {"send": terminal.place(row.send), "receive": terminal.place(row.receive)}
    kept = (
        "bytes", "count", "mean_ns", "min_ns", "max_ns", "unexpected", "late_sender_ns",
        "unposted_ns", "unwaited_ns", "transfer_ns", "uncertainty_ns",
    )  # fmt: skip
    return {**places, **fields(row, kept)}
