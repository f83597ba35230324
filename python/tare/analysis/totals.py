"""What the calls of each function have in the whole run, where some were only counted.

Calls are exact. Time and bytes of calls that `--budget` or `--weigh` only counted are estimated from the
spells that were measured (src/reader/profile/function_totals.h).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare._native import FunctionTotal
    from tare.runs.run import Run


@dataclass(frozen=True)
class Total:
    """Of all ranks. Errors are half the widths of 95 % confidence intervals; None: of some ranks too few
    spells were measured, and the estimate is too low."""

    function: str
    calls: int
    measured_calls: int  # of them
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
