"""The times at which ranks come to a collective operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.queries.tables import Tables

if TYPE_CHECKING:
    import ibis


def arrivals(tables: Tables) -> ibis.Table:
    """`world`, `function`, `file`, `line`, `last_rank`, `operations`, `spread_ns`, `longest_spread_ns`.

    The spread of an operation is the time from the first rank's begin to the last's. Operations are grouped
    by their last rank and its call: who comes last again and again keeps the others waiting.
    """
    import ibis

    parts = tables["collectives"]
    last = parts.filter(parts["rank"] == parts.last_rank)
    spread = last.last_enter_ns - last.first_enter_ns
    return (
        last.group_by("world", "function", "file", "line", "last_rank")
        .aggregate(operations=last.count(), spread_ns=spread.sum(), longest_spread_ns=spread.max())
        .order_by(ibis.desc("spread_ns"), "world", "function", "file", "line", "last_rank")
    )
