"""The time in calls: where it goes, and whose it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.queries.tables import Tables

if TYPE_CHECKING:
    import ibis

LINE = ("function", "file", "line", "caller")


def calls_by_line(tables: Tables) -> ibis.Table:
    """`world`, `function`, `file`, `line`, `caller`, `calls`, `time_ns`, `longest_ns`; most time first."""
    import ibis

    calls = _calls(tables)
    return (
        calls.group_by("world", *LINE)
        .aggregate(calls=calls.count(), time_ns=calls.duration_ns.sum(), longest_ns=calls.duration_ns.max())
        .order_by(ibis.desc("time_ns"), "world", *LINE)
    )


def imbalance(tables: Tables) -> ibis.Table:
    """`world`, `function`, `mean_ns`, `max_ns`, `max_rank`, `imbalance_ns`: time of the ranks in a function.

    Of the trace. A rank without a call counts as 0. `imbalance_ns` is the longest time less the mean.
    """
    import ibis

    calls, ranks = _calls(tables), tables["ranks"]
    members = ranks.filter(ranks["rank"] >= 0)
    sizes = members.group_by("world").aggregate(ranks=members.count())
    of_rank = calls.group_by("world", "function", "rank").aggregate(time_ns=calls.duration_ns.sum())
    by_time = ibis.window(group_by=("world", "function"), order_by=(ibis.desc("time_ns"), "rank"))
    longest = of_rank.mutate(place=ibis.row_number().over(by_time)).filter(lambda row: row.place == 0)
    longest = longest.select("world", "function", max_ns="time_ns", max_rank="rank")
    sums = of_rank.group_by("world", "function").aggregate(time_ns=of_rank.time_ns.sum())
    found = sums.join(longest, ["world", "function"]).join(sizes, "world")
    found = found.mutate(mean_ns=found.time_ns / found.ranks)
    return found.select(
        "world", "function", "mean_ns", "max_ns", "max_rank", imbalance_ns=found.max_ns - found.mean_ns
    ).order_by(ibis.desc("imbalance_ns"), "world", "function")


def slowest_intervals(tables: Tables, function: str, limit: int = 10) -> ibis.Table:
    """`world`, `rank`, `site`, `interval`, `start_ns`, `duration_ns`.

    An interval is the time between the starts of two calls of one call path. Where `function` is called once
    an iteration, these are the slowest iterations. `interval` counts from 0 on each rank.
    """
    import ibis

    calls = _calls(tables)
    calls = calls.filter(calls.function == function)
    in_order = ibis.window(group_by=("world", "rank", "thread", "site"), order_by="start_ns")
    timed = calls.select("world", "rank", "thread", "site", "start_ns").mutate(
        interval=ibis.row_number().over(in_order),
        duration_ns=ibis._.start_ns.lead().over(in_order) - ibis._.start_ns,
    )
    ended = timed.filter(timed.duration_ns.notnull()).drop("thread")
    return ended.order_by(ibis.desc("duration_ns"), "world", "rank", "site", "interval").limit(limit)


def _calls(tables: Tables) -> ibis.Table:
    """Events of the program, and of the measurement itself, are no calls."""
    events = tables["events"]
    return events.filter(events.kind.isnull() & ~events.function.startswith("tare:"))
