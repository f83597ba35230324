"""What the calls of each function, and of each call site, have in the whole run, if some were only counted.

Calls of functions are exact. Their time and bytes, and the calls of sites, are estimated from the spells of
`--budget` or `--weigh` that were measured (src/reader/profile/counted_calls.h).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare._native import FunctionTotal, SiteTotal, SumsQuery
    from tare.runs.run import Run


@dataclass(frozen=True)
class Total:
    """Totals of a function over all ranks, including calls that were only counted. Errors are half the
    widths of 95 % confidence intervals; None: not known for some ranks, as too few spells were measured."""

    function: str
    calls: int  # measured and counted calls
    measured_calls: int  # part of `calls`
    time_ns: int
    time_error_ns: int | None
    bytes: int
    bytes_error: int | None


def of_run(recording: Run) -> list[Total]:
    """The functions that were timed, those that took most time first; none if all calls were."""
    if not recording.has_counted_spells:
        return []
    by_function: dict[str, list[FunctionTotal]] = {}
    for row in recording.function_totals:
        by_function.setdefault(row["function"], []).append(row)
    totals = [_sum(rows) for rows in by_function.values() if any(row["measured_calls"] for row in rows)]
    return sorted(totals, key=lambda total: (-total.time_ns, total.function))


def by_keys(recording: Run, query: SumsQuery) -> list[SiteTotal] | None:
    """What the calls of each row of this query have in the whole run, by world, function, site and rank.

    Rows that are not by rank have rank -1; those that are not by site have site -1. None: all calls were
    measured, or the query asks for something that is not known of calls that were only counted.
    """
    by = set(query["by"])
    if not recording.has_counted_spells or "communicators" in query:
        return None
    if "function" not in by or not by <= {"world", "rank", "function", "site"}:
        return None
    if "site" in by:
        return recording.totals_by_site(query)
    found: dict[tuple[int, int, str], list[FunctionTotal]] = {}
    for row in recording.function_totals:
        if _is_chosen(row, query):
            rank = row["rank"] if "rank" in by else -1
            found.setdefault((row["world"], rank, row["function"]), []).append(row)
    return [_of_function(key, _sum(rows)) for key, rows in found.items()]


def _is_chosen(row: FunctionTotal, query: SumsQuery) -> bool:
    return (
        row["world"] in query.get("worlds", [row["world"]])
        and row["rank"] in query.get("ranks", [row["rank"]])
        and row["function"] in query.get("functions", [row["function"]])
    )


def _of_function(key: tuple[int, int, str], total: Total) -> SiteTotal:
    world, rank, function = key
    return {
        "world": world,
        "rank": rank,
        "function": function,
        "site": -1,
        "calls": total.calls,
        "calls_error": 0,
        "measured_calls": total.measured_calls,
        "time_ns": total.time_ns,
        "time_error_ns": total.time_error_ns,
        "bytes": total.bytes,
        "bytes_error": total.bytes_error,
    }


def _sum(rows: Sequence[FunctionTotal]) -> Total:
    """The same spells are measured on all ranks, so that their errors may have one direction: they add up."""
    return Total(
        function=rows[0]["function"],
        calls=sum(row["calls"] for row in rows),
        measured_calls=sum(row["measured_calls"] for row in rows),
        time_ns=sum(row["time_ns"] for row in rows),
        time_error_ns=_error([row["time_error_ns"] for row in rows]),
        bytes=sum(row["bytes"] for row in rows),
        bytes_error=_error([row["bytes_error"] for row in rows]),
    )


def _error(errors: list[int | None]) -> int | None:
    known = [error for error in errors if error is not None]
    return sum(known) if len(known) == len(errors) else None
