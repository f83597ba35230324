"""What of a run could not be read, on standard error, behind what could."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tare import streams

LISTED = 10


def show(lines: Sequence[str], run: str = "") -> None:
    """A line each, of the first ones; `run` is named where there are several."""
    sys.stdout.flush()
    where = f"{run}: " if run else ""
    for line in lines[:LISTED]:
        streams.tell(f"tare: {where}{line}")
    if len(lines) > LISTED:
        streams.tell(f"tare: {where}and {len(lines) - LISTED:,} more like these")
