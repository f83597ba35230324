"""tare measures MPI programs and weighs itself. Programs record events of their own with `tare.api`.

`tare.open` reads a run; `tare.request_round` asks one that goes on for a round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from os import PathLike

    from tare._version import __version__ as __version__
    from tare.api import (
        control,
        count,
        counter,
        event,
        flush,
        is_recording,
        mark,
        offload,
        packed,
        pause,
        phase,
        progress,
        raw,
        region,
        resume,
        sample,
        start,
        sweet_spot,
    )
    from tare.runs.run import Run

__all__ = [
    "control",
    "count",
    "counter",
    "event",
    "flush",
    "is_recording",
    "mark",
    "offload",
    "packed",
    "pause",
    "phase",
    "progress",
    "raw",
    "region",
    "resume",
    "sample",
    "start",
    "sweet_spot",
]


def open(
    run: str | PathLike[str],
    member: str | None = None,
    *,
    times: Literal["recorded", "corrected", "compensated"] = "recorded",
) -> Run:
    """The run in a run directory, or the one of an archive that `member` names (docs/tables.md).

    `times` of its trace: as recorded; with clocks corrected; with clocks corrected and measuring taken out.
    """
    from pathlib import Path

    from tare.runs.retiming import Times
    from tare.runs.run import open_run

    return open_run(Path(run), member, Times(times))


def send(run: str | PathLike[str], name: str, value: float | str, rank: int | None = None) -> int:
    """Sends a message to one rank of a running job that is monitored, or to all: `tare_control()` returns it.

    An int arrives as an integer of 64 bits, a float as a double, a str as text of at most 64 bytes. Returns
    the offload point at which ranks get it. CommandError if it cannot be delivered (docs/monitoring.md).
    """
    from pathlib import Path

    from tare.runs import controls

    return controls.ask(Path(run), controls.message(name, value, rank))


def request_round(run: str | PathLike[str], timeout: float = 5.0) -> int:
    """Asks the ranks of a running `tare run --monitor=pull` for a round; its number, when it is in the run.

    `timeout` is in seconds. CommandError if the run takes no requests, has ended, or gives no round in time.
    """
    from pathlib import Path

    from tare.runs import requests

    return requests.answer(Path(run), timeout)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """The version, which the build writes, and the API, which verbs do not need, at their first use."""
        if name == "__version__":
            from tare._version import __version__

            return __version__
        if name not in __all__:
            raise AttributeError(f"module 'tare' has no attribute '{name}'")
        from tare import api

        globals().update({each: getattr(api, each) for each in __all__})
        return globals()[name]
