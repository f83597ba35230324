"""Who exchanged how much with whom, in messages of which size, and how long sampled ones took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.analysis import communication, samples
from tare.analysis.rows import fields
from tare.reporters import terminal

if TYPE_CHECKING:
    from tare.runs.run import Run

LATENCIES_LISTED = 500


def matrix(run: Run) -> dict[str, Any] | None:
    """Messages and bytes sent from each group of ranks to each; None if no rank has sent to a known one.

    Of the world with the most ranks.
    """
    found = communication.sent(run, communication.MAX_GROUPS)
    if found is None:
        return None
    return {
        "world": found.world,
        "size": found.size,
        "group": found.group,
        "elsewhere": found.elsewhere,
        "cells": [[*cell, count, found.bytes[cell]] for cell, count in sorted(found.messages.items())],
    }


def latencies(run: Run) -> dict[str, Any] | None:
    """The latencies of sampled messages; None if none were."""
    if not run.sample_summaries:
        return None
    classes = list(samples.with_both_comparisons(run.sample_rows, run.sample_summaries))
    rows = samples.summed(classes, run.sites, ["send", "receive", "size"])
    return {
        "totals": samples.totals(run.sample_summaries),
        "limits": samples.limits(run.sample_summaries),
        "histogram": _histogram(rows),
        "rows": [_latency(row) for row in rows[:LATENCIES_LISTED]],
    }


def _histogram(rows: list[samples.Row]) -> list[dict[str, int]]:
    counts: dict[tuple[int, int], int] = {}
    for row in rows:
        for each in row.histogram or ():
            key = each.from_ns, each.to_ns
            counts[key] = counts.get(key, 0) + each.count
    return [{"from_ns": start, "to_ns": end, "count": counts[start, end]} for start, end in sorted(counts)]


def _latency(row: samples.Row) -> dict[str, Any]:
    places = {"send": terminal.place(row.send), "receive": terminal.place(row.receive)}
    kept = (
        "bytes", "count", "mean_ns", "min_ns", "max_ns", "unexpected", "late_sender_ns",
        "unposted_ns", "unwaited_ns", "transfer_ns", "uncertainty_ns",
    )  # fmt: skip
    return {**places, **fields(row, kept)}
