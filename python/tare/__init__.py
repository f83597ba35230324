"""tare measures MPI programs and weighs itself. Programs record events of their own with `tare.api`.

`tare.open` reads a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

    from tare.api import (
        count,
        counter,
        event,
        flush,
        is_recording,
        mark,
        packed,
        pause,
        phase,
        progress,
        raw,
        region,
        resume,
        sample,
        start,
    )
    from tare.tables.opened import OpenRun

__version__ = "0.1.0"
__all__ = [
    "count",
    "counter",
    "event",
    "flush",
    "is_recording",
    "mark",
    "packed",
    "pause",
    "phase",
    "progress",
    "raw",
    "region",
    "resume",
    "sample",
    "start",
]


def open(run: str | PathLike[str], member: str | None = None) -> OpenRun:
    """The run in a run directory, or the one of an archive that `member` names (docs/tables.md)."""
    from pathlib import Path

    from tare.runs.run import open_as
    from tare.tables.opened import OpenRun

    return open_as(OpenRun, Path(run), member)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """The API at its first use: the command line does not need it."""
        if name not in __all__:
            raise AttributeError(f"module 'tare' has no attribute '{name}'")
        from tare import api

        globals().update({each: getattr(api, each) for each in __all__})
        return globals()[name]
