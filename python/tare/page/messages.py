"""Who exchanged how much with whom, in messages of which size, and how long sampled ones took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.analysis import profile, samples
from tare.analysis.rows import fields
from tare.reporters import terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tare._native import PeerSum
    from tare.runs.run import Run

# A matrix of more ranks is one of groups of ranks; so many cells are legible.
MOST_CELLS = 64
# Peers of so many ranks are in memory at once.
RANKS_AT_ONCE = 2048
LATENCIES_LISTED = 500


def matrix(run: Run) -> dict[str, Any] | None:
    """Messages and bytes sent from each group of ranks to each; None if no rank has sent to a known one.

    Of the world with the most ranks.
    """
    counts: dict[int, int] = {}
    for process in run.processes:
        counts[process["world"]] = counts.get(process["world"], 0) + 1
    if not counts:
        return None
    world = max(counts, key=lambda each: counts[each])
    of_world = [process for process in run.processes if process["world"] == world and process["rank"] >= 0]
    size = max((max(process["size"], process["rank"] + 1) for process in of_world), default=0)
    group = -(-size // MOST_CELLS) or 1
    cells: dict[tuple[int, int], list[int]] = {}
    elsewhere = 0
    for row in _peers(run, world, sorted(process["rank"] for process in of_world)):
        if row["peer"] < 0 or row["peer"] >= size:
            elsewhere += row["sent_messages"]
            continue
        if not row["sent_messages"]:
            continue
        cell = cells.setdefault((row["rank"] // group, row["peer"] // group), [0, 0])
        cell[0] += row["sent_messages"]
        cell[1] += row["sent_bytes"]
    if not cells:
        return None
    return {
        "world": world,
        "size": size,
        "group": group,
        "elsewhere": elsewhere,
        "cells": [[source, to, *figures] for (source, to), figures in sorted(cells.items())],
    }


def _peers(run: Run, world: int, ranks: list[int]) -> Iterator[PeerSum]:
    for first in range(0, len(ranks), RANKS_AT_ONCE):
        chosen = None if len(ranks) <= RANKS_AT_ONCE else ranks[first : first + RANKS_AT_ONCE]
        yield from run.peer_sums(["rank"], [world], chosen, None)


def sizes(run: Run) -> list[dict[str, Any]]:
    """The profile by size class, the smallest first; calls that move nothing left out."""
    rows = profile.summed(run, ["size"])
    kept = ("size_from", "size_to", "calls", "bytes", "received", "time_ns")
    sized = [row for row in rows if row.size_to is not None]
    merged: dict[int, dict[str, Any]] = {}
    for row in sized:  # of several worlds
        into = merged.setdefault(row.size_to or 0, {**dict.fromkeys(kept, 0)})
        for name in kept[2:]:
            into[name] += getattr(row, name)
        into["size_from"], into["size_to"] = row.size_from, row.size_to
    return [merged[key] for key in sorted(merged)]


def latencies(run: Run) -> dict[str, Any] | None:
    """Of sampled messages; None if none were."""
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
        "bytes", "count", "estimate", "mean_ns", "min_ns", "max_ns", "unexpected", "late_sender_ns",
        "unposted_ns", "unwaited_ns", "transfer_ns", "uncertainty_ns",
    )  # fmt: skip
    return {**places, **fields(row, kept)}
