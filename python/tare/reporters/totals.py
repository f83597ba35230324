"""Calls, time and bytes of the whole run, where some calls were only counted, as a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tare import units
from tare.reporters.sheet import Column, Sheet
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare.analysis.totals import Total

TITLE = "Whole run, estimated from the spells that were measured"
COLUMNS = (
    Column("Function", text=True, key=True, cell=lambda total: total.function),
    Column("Calls", cell=lambda total: units.count(total.calls)),
    Column("measured", optional=True, cell=lambda total: units.percent(total.measured_calls / total.calls)),
    Column("Time", cell=lambda total: units.duration(total.time_ns)),
    Column("±", cell=lambda total: error(total.time_error_ns, total.time_ns)),
    Column("Bytes", cell=lambda total: units.size_or_nothing(total.bytes)),
    Column(
        "±",
        optional=True,
        cell=lambda total: error(total.bytes_error, total.bytes) if total.bytes else NOTHING,
    ),
)


def sheet(totals: Sequence[Total]) -> Sheet:
    """The functions of which some calls were only counted; what the profile says of others is whole."""
    return Sheet.of(COLUMNS, (each for each in totals if each.measured_calls != each.calls))


def error(error: int | None, of: int) -> str:
    """Half the width of an interval, as a share; "?": not known."""
    if error is None or of == 0:
        return "?"
    return f"{100 * error / of:.1f} %"
