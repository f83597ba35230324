"""Who sends what to whom, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.queries.tables import Tables

if TYPE_CHECKING:
    import ibis

# Classes of sizes, as in profiles: none, and from each power of two to below the next.
LARGEST_POWER = 62


def communication_matrix(tables: Tables) -> ibis.Table:
    """`world`, `source`, `destination`, `messages`, `bytes`: of messages that were sent."""
    sent = _sent(tables)
    return (
        sent.group_by("world", "source", "destination")
        .aggregate(messages=sent.count(), bytes=sent.bytes.sum())
        .order_by("world", "source", "destination")
    )


def message_sizes(tables: Tables) -> ibis.Table:
    """`world`, `size_from`, `messages`, `bytes`: of sizes from `size_from` to below its double; 0: empty."""
    import ibis

    sent = _sent(tables)
    # Not by a logarithm: that of Spark is not exact for powers of two.
    smaller = [(sent.bytes < 2**power, 2 ** (power - 1)) for power in range(1, LARGEST_POWER)]
    size = ibis.cases((sent.bytes < 1, 0), *smaller, else_=2 ** (LARGEST_POWER - 1)).cast("int64")
    sized = sent.mutate(size_from=size)
    return (
        sized.group_by("world", "size_from")
        .aggregate(messages=sized.count(), bytes=sized.bytes.sum())
        .order_by("world", "size_from")
    )


def message_rate(tables: Tables, interval_ns: int) -> ibis.Table:
    """`world`, `start_ns`, `messages`, `bytes`: of sends that began in the interval from `start_ns` on.

    Intervals begin at multiples of `interval_ns` in Unix time. One without a message has no row.
    """
    if interval_ns <= 0:
        raise ValueError("interval_ns must be above 0")
    sent = _sent(tables)
    # By the remainder: Spark divides integers as floating-point numbers, too coarse for Unix time.
    timed = sent.mutate(start_ns=sent.send_enter_ns - sent.send_enter_ns % interval_ns)
    return (
        timed.group_by("world", "start_ns")
        .aggregate(messages=timed.count(), bytes=timed.bytes.sum())
        .order_by("world", "start_ns")
    )


def _sent(tables: Tables) -> ibis.Table:
    messages = tables["messages"]
    return messages.filter(messages.send_enter_ns.notnull())
