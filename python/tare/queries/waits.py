"""Wait states, and what causes them (docs/analyses.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tare.queries.tables import Tables

if TYPE_CHECKING:
    import ibis


def wait_states(tables: Tables) -> ibis.Table:
    """`world`, `kind`, `function`, `file`, `line`, `waits`, `wait_ns`, `longest_ns`; most waiting first."""
    import ibis

    waits = tables["waits"]
    return (
        waits.group_by("world", "kind", "function", "file", "line")
        .aggregate(waits=waits.count(), wait_ns=waits.wait_ns.sum(), longest_ns=waits.wait_ns.max())
        .order_by(ibis.desc("wait_ns"), "world", "kind", "function", "file", "line")
    )


def causes(tables: Tables) -> ibis.Table:
    """`world`, `cause_function`, `cause_file`, `cause_line`, `cause_rank`, `waits`, `wait_ns`, `delay_ns`.

    The calls that others wait for: how long, and how much of that the delays of the rank itself explain.
    """
    import ibis

    waits = tables["waits"]
    keys = ("world", "cause_function", "cause_file", "cause_line", "cause_rank")
    return (
        waits.group_by(*keys)
        .aggregate(waits=waits.count(), wait_ns=waits.wait_ns.sum(), delay_ns=waits.delay_ns.sum())
        .order_by(ibis.desc("wait_ns"), *keys)
    )
