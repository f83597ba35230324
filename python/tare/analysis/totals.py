"""What the calls of each function have in the whole run, if some were only counted.

Calls are exact. Their time and bytes are estimated from the spells of `--budget` or `--weigh` that were
measured (src/reader/profile/counted_calls.h).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    """The functions that were timed, those that took most time first; none if all calls were.

    The same spells are measured on all ranks, so that their errors may have one direction: they add up.
    """
    if not recording.has_counted_time:
        return []
    found: dict[str, Total] = {}
    for row in recording.rows(recording.totals):
        before = found.get(row.function, Total(row.function, 0, 0, 0, 0, 0, 0))
        found[row.function] = Total(
            row.function,
            before.calls + row.calls,
            before.measured_calls + row.measured_calls,
            before.time_ns + (row.time_ns or 0),
            _added(before.time_error_ns, row.time_error_ns),
            before.bytes + (row.bytes or 0),
            _added(before.bytes_error, row.bytes_error),
        )
    timed = [total for total in found.values() if total.measured_calls]
    return sorted(timed, key=lambda total: (-total.time_ns, total.function))


def _added(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
