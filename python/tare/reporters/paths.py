"""Call paths for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tare.reporters import names, terminal
from tare.units import NOTHING

CUT = "… beyond here the stack is not known"
GAP = "…"


def through(row: Mapping[str, Any]) -> str:
    """The function of a library by which the program has made a call; nothing if it has made it itself.

    Wrappers of the MPI function say nothing, so it is the first one below them.
    """
    inner: Sequence[Mapping[str, Any]] = row["path"][: row["path_shown"]]
    if not inner:
        return NOTHING
    names = [terminal.caller(frame) if frame["caller"] else terminal.place(frame) for frame in inner]
    return next((name for name in names if row["function"] not in name), names[-1])


def lines(row: Mapping[str, Any]) -> Iterator[str]:
    """One line a frame, innermost first."""
    path: Sequence[Mapping[str, Any]] = row["path"]
    for number, frame in enumerate(path):
        if row["path_gap"] and number == len(path) - 1:
            yield GAP
        if frame["tail_call"]:
            yield terminal.tail_call(frame)
        yield _frame(frame)
    if row["path_cut"] and path:
        yield CUT


def one_line(row: Mapping[str, Any]) -> str:
    """The same for a cell: what is called stands left of its caller."""
    return " < ".join(line.replace("  ", " ") for line in lines(row))


def _frame(frame: Mapping[str, Any]) -> str:
    name = frame["caller"]
    place = terminal.place(frame, exactly=True)
    if name and frame.get("object") != terminal.PYTHON:
        name = names.short_with_inlined(name)
    return f"{name}  {place}" if name else place
