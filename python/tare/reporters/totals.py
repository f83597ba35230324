"""Calls, time and bytes of the whole run, where some calls were only counted, as a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tare import units
from tare.functions import OUTSIDE_NET
from tare.reporters.sheet import Heading, Sheet
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare.analysis.totals import Total

TITLE = "Whole run, estimated from the spells that were measured (all ranks)"
HEADINGS = [
    Heading("Function", text=True, key=True),
    Heading("Calls"),
    Heading("measured", optional=True),
    Heading("Time"),
    Heading("±"),
    Heading("Bytes"),
    Heading("±", optional=True),
]


def sheet(totals: Sequence[Total]) -> Sheet:
    """The functions of which some calls were only counted; what the profile says of others is whole."""
    result = Sheet(list(HEADINGS))
    for total in totals:
        if total.function in OUTSIDE_NET or total.measured_calls == total.calls:
            continue
        result.rows.append(
            [
                total.function,
                units.count(total.calls),
                units.percent(total.measured_calls / total.calls),
                units.duration(total.time_ns),
                error(total.time_error_ns, total.time_ns),
                units.size(total.bytes) if total.bytes else NOTHING,
                error(total.bytes_error, total.bytes) if total.bytes else NOTHING,
            ]
        )
    return result


def error(error: int | None, of: int) -> str:
    """Half the width of an interval, as a share; "?": not known."""
    if error is None or of == 0:
        return "?"
    return f"{100 * error / of:.1f} %"
