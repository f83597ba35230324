"""What the browser gets: `tare report` and `tare view`.

content (overview, call_sites, ranks, messages, source_text) -> document (assets/, vendor/) -> a file, or
served
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


class OtherPage:
    """The page of what is no run, registered in the group tare.pages by the name of what it shows."""

    def __init__(self, takes: Callable[[Path], bool], write: Callable[[Path, Path | None], Path]) -> None:
        self.takes = takes  # whether it shows what lies at a path
        self.write = write  # writes the page, to a path of its choice if given none; where it is
