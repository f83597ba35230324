"""The formats of `tare export`: each is an Exporter, registered by its name in the group tare.exporters."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare.runs.run import Run


class Part:
    """The part of a run that the user asks for. None: all."""

    def __init__(
        self,
        ranks: list[int] | None = None,
        start_ns: int | None = None,  # Unix time
        end_ns: int | None = None,  # Unix time
        event: str | None = None,  # a function, region or phase
    ) -> None:
        self.ranks = ranks
        self.start_ns = start_ns
        self.end_ns = end_ns
        self.event = event


class Exporter:
    """A format. Parts of a run that it cannot write are refused before it is asked."""

    def __init__(
        self,
        suffix: str,  # of the file or directory that is made, if the user names none
        write: Callable[[Run, Path, Part], str],  # makes it, and returns what it has, like "12 events"
        takes: Collection[str] = (),  # of "rank", "time" and "event": the parts that it can write
        hint: str = "",  # what to do instead of choosing a rank
    ) -> None:
        self.suffix = suffix
        self.write = write
        self.takes = takes
        self.hint = hint
