"""A picture of how ranks differ, as lines of text: for `tare top`, in its terminal view and plain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tare import units
from tare.monitor import heat
from tare.monitor.heat import Column, Line, Picture
from tare.streams import visible

if TYPE_CHECKING:
    from tare._native import Kind

LABEL = 12


def lines(kind: Kind, event: str, columns: Sequence[Column], shades: str = heat.SHADES) -> list[str]:
    """A heading, the picture, and what its columns are; nothing without columns."""
    if not columns:
        return []
    found = heat.picture(kind, columns)
    middle = heat.middle(columns[-1].bins)
    ends = f"rounds {columns[0].round:,} to {columns[-1].round:,}"
    what = (
        f"time since the start; the middle is {units.duration(middle)}" if found.is_relative else "its value"
    )
    shaded = []
    for line in found.lines:
        label, now = _label(found, line), line.ranks[-1] or ""
        shaded.append(f"{label:>{LABEL}} {heat.shades(line, found.totals, shades)} {now:>5}".rstrip())
    heading = f"{visible(event)}: {what}"
    return [heading, *shaded, f"{'':{LABEL}} {ends}; darker: more ranks; at the right: now"]


def _label(found: Picture, line: Line) -> str:
    if not found.is_relative:
        return f"{line.low:.6g}"
    if line.low == 0:
        return "the middle"
    return f"{'+' if line.low > 0 else '-'}{units.duration(abs(line.low))}"
