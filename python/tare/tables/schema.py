"""The columns of the tables that Python makes, and their types; docs/tables.md says what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tare.analysis import profile

if TYPE_CHECKING:
    from tare._native import ColumnType
    from tare.analysis.profile import Key

PLACE: dict[str, ColumnType] = {
    "file": "text",
    "line": "int32",
    "caller": "text",
    "object": "text",
    "offset": "int64",
    "tail_call": "text",
}

_OF_PROFILE: dict[str, ColumnType] = {
    **PLACE,
    "world": "int32",
    "rank": "int32",
    "function": "text",
    "path": "text",
    "size_from": "int64",
    "size_to": "int64",
    "communicator": "text",
    "communicator_size": "int32",
    "mean_ns": "float64",
    "timed": "bool",
    "ranks": "int32",
    "rank_mean_ns": "float64",
    "rank_min": "int32",
    "rank_max": "int32",
}


def of_profile(keys: Sequence[Key]) -> dict[str, ColumnType]:
    """The columns of the profile by these keys: those of `tare profile`, with the path as one text."""
    names = ["world"]
    for key in keys:
        names += profile.KEY_COLUMNS[key]
    names += profile.FIGURES
    names += profile.OVER_RANKS if "rank" not in keys else ()
    left_out = set(profile.PATH) - {"path"}
    return {name: _OF_PROFILE.get(name, "int64") for name in names if name not in left_out}


RANKS: dict[str, ColumnType] = {
    "world": "int32",
    "rank": "int32",
    "host": "text",
    "pid": "int64",
    "state": "text",
    "exit_code": "int32",
    "signal": "int32",
    "threads": "int32",
    "executable": "text",
    "mpi": "text",
    "start_ns": "int64",
    "wall_ns": "int64",
    "net_ns": "int64",
    "mpi_ns": "int64",
    "mpi_share": "float64",
    "calls": "int64",
    "lookups": "int64",
    "events": "int64",
    "dropped": "int64",
    "cost_share": "float64",
}

LOCATIONS: dict[str, ColumnType] = {
    "world": "int32",
    "rank": "int32",
    "location": "int32",
    "thread": "int32",
    "thread_name": "text",
    "calls": "int64",
    "lookups": "int64",
    "events": "int64",
    "bytes": "int64",
    "dropped": "int64",
    "flushes": "int64",
    "flush_ns": "int64",
    "flush_bytes": "int64",
    "drains": "int64",
    "drain_ns": "int64",
    "drain_bytes": "int64",
}

CALLSITES: dict[str, ColumnType] = {"site": "int32", **PLACE, "path": "text"}

COMMUNICATORS: dict[str, ColumnType] = {
    "communicator": "text",
    "communicator_key": "text",
    "world": "int32",
    "size": "int32",
    "inter": "bool",
}

PEERS: dict[str, ColumnType] = {
    "world": "int32",
    "rank": "int32",
    "peer": "int32",
    "sent_messages": "int64",
    "sent_bytes": "int64",
    "received_messages": "int64",
    "received_bytes": "int64",
}

PHASES: dict[str, ColumnType] = {
    "world": "int32",
    "rank": "int32",
    "phase": "text",
    "entries": "int64",
    "time_ns": "int64",
    "mpi_ns": "int64",
    "calls": "int64",
    "bytes": "int64",
}

CLOCK_VIOLATIONS: dict[str, ColumnType] = {
    "world": "int32",
    "rank": "int32",
    "other_rank": "int32",
    "messages": "int64",
    "collectives": "int64",
    "most_ns": "int64",
}

SAMPLES: dict[str, ColumnType] = {
    "world": "int32",
    "source": "int32",
    "destination": "int32",
    **{f"send_{name}": PLACE[name] for name in ("file", "line", "caller")},
    **{f"receive_{name}": PLACE[name] for name in ("file", "line", "caller")},
    "send_site": "int32",
    "receive_site": "int32",
    "bytes": "int64",
    "between_nodes": "bool",
    "count": "int64",
    "unexpected": "int64",
    "weight": "float64",
    "latency_ns": "int64",
    "min_ns": "int64",
    "max_ns": "int64",
    "late_sender_ns": "int64",
    "unposted_ns": "int64",
    "unwaited_ns": "int64",
    "transfer_ns": "int64",
    "uncertainty_ns": "int64",
}

ROUNDS: dict[str, ColumnType] = {
    "round": "int64",
    "time_ns": "int64",
    "event": "text",
    "kind": "text",
    "metric": "text",
    "ranks": "int32",
    "mean": "float64",
    "deviation": "float64",
    "least": "float64",
    "most": "float64",
    "least_rank": "int32",
    "most_rank": "int32",
    "contributing": "int32",
    "lost": "int32",
    "lost_ranks": "text",
    "delay_ns": "int64",
    "spread_ns": "int64",
}

REDUCTIONS: dict[str, ColumnType] = {
    "round": "int64",
    "time_ns": "int64",
    "filter": "text",
    "event": "text",
    "kind": "text",
    "metric": "text",
    "low": "float64",
    "high": "float64",
    "quantile": "float64",
    "value": "float64",
    "count": "int64",
    "ranks": "text",
    "result": "text",
    "contributing": "int32",
    "lost": "int32",
    "lost_ranks": "text",
    "delay_ns": "int64",
    "spread_ns": "int64",
}
