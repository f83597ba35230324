"""How a verb that reads runs begins and ends: what of them could not be read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from tare.errors import CommandError
from tare.reporters import warnings
from tare.runs.retiming import Times
from tare.runs.run import Run, open_run
from tare.units import NS_PER_S

T = TypeVar("T")


def open_readable(run: Path, member: str | None = None, times: Times = Times.RECORDED) -> Run:
    """The run, in these times. CommandError if nothing can be read of what it says it has."""
    recording = open_run(run, member, times)
    if recording.unread and not recording.process_count:
        conclude(recording, named=True)
    return recording


def open_beside_others(run: Path, times: Times = Times.RECORDED) -> Run:
    """One of the runs of a verb that reads several: --member would not tell of which of them."""
    if run.is_file():
        from tare.runs import archive

        archive.refuse_several(run)
    return open_readable(run, times=times)


def at(recording: Run, seconds: float | None) -> int | None:
    """The Unix time so many seconds after the start of the run, in ns."""
    return None if seconds is None else recording.start_ns + round(seconds * NS_PER_S)


def beside(run: Path, member: str | None, suffix: str) -> Path:
    """A file beside the run or its archive, named after it."""
    name = f"{run.resolve().name}-{Path(member).name}" if member else run.resolve().name
    return run.parent / f"{name}{suffix}"


def conclude(*recordings: Run, reported: bool = False, named: bool = False) -> None:
    """Says what of them is damaged, unless it was `reported`; CommandError if something is not there."""
    several = named or len(recordings) > 1
    for recording in recordings:
        lines = [line for line in recording.warnings if line != recording.unread]
        if not reported:
            warnings.show(lines, str(recording.run_dir) if several else "")
    for recording in recordings:
        if recording.unread:
            where = f"{recording.run_dir}: " if several else ""
            raise CommandError(where + recording.unread)


class Counted(Iterator[T]):
    """The same items, and how many have come by."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self.count = 0

    def __next__(self) -> T:
        item = next(self._items)
        self.count += 1
        return item
