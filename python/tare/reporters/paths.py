"""Call paths for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tare.analysis.profile import PATH, CallPath
from tare.analysis.rows import placed
from tare.reporters import names, terminal
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare._native import Frame

CUT = "… beyond here the stack is not known"
GAP = "…"


def through(function: str, of: CallPath) -> str:
    """The library function through which the program made the call; `-` if the program made it itself.

    Wrappers of the MPI function are skipped.
    """
    inner = [placed(frame) for frame in of.path[: of.path_shown]]
    if not inner:
        return NOTHING
    names = [terminal.caller(frame) if frame.caller else terminal.place(frame) for frame in inner]
    return next((name for name in names if function not in name), names[-1])


def lines(of: CallPath) -> Iterator[str]:
    """One line for each frame, the innermost first."""
    for number, frame in enumerate(of.path):
        if of.path_gap and number == len(of.path) - 1:
            yield GAP
        if frame.tail_call:
            yield terminal.tail_call(frame.tail_call)
        yield _frame(frame)
    if of.path_cut and of.path:
        yield CUT


def one_line(of: CallPath) -> str:
    """The path in one cell, each function to the left of its caller."""
    return " < ".join(line.replace("  ", " ") for line in lines(of))


def in_cell(row: dict[str, Any]) -> dict[str, Any]:
    """A row of JSON for CSV, with the call path as one text."""
    if "path" not in row:
        return row
    return {**row, "path": one_line(CallPath(**{name: row[name] for name in PATH}))}


def _frame(frame: Frame) -> str:
    name = frame.caller
    place = terminal.place(placed(frame), exactly=True)
    if name and frame.object != terminal.PYTHON:
        name = names.short_with_inlined(name)
    return f"{name}  {place}" if name else place
