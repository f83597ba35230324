"""What each rank did, by column: a run may have 100,000 of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.analysis.efficiency import useful_ns
from tare.analysis.endings import brief
from tare.analysis.ranks import mpi_share
from tare.analysis.rows import fields

if TYPE_CHECKING:
    from tare.runs.run import Run


AS_THEY_ARE = ("world", "rank", "pid", "net_ns", "mpi_ns", "calls")


def of_run(run: Run) -> dict[str, Any]:
    """Columns of equal length, in the order of world and rank; texts are numbers in lists of their own."""
    processes = run.processes
    hosts = _Numbered(process.host for process in processes)
    states = _Numbered(brief(process) for process in processes)
    return {
        "hosts": hosts.texts,
        "states": states.texts,
        "columns": {
            **{name: [getattr(process, name) for process in processes] for name in AS_THEY_ARE},
            "host": hosts.numbers,
            "state": states.numbers,
            "mpi_share": list(map(mpi_share, processes)),
            "useful_ns": [
                useful_ns(process) if mpi_share(process) is not None else None for process in processes
            ],
            "cost": [process.cost.net_share for process in processes],
        },
    }


def flushes(run: Run) -> list[dict[str, Any]]:
    """Locations that wrote events out, or lost some."""
    kept = (
        "world", "rank", "pid", "location", "records", "bytes", "dropped", "flushes", "flush_ns",
        "flush_bytes", "drains", "drain_ns",
    )  # fmt: skip
    rows = run.rows(run.locations)
    return [fields(row, kept) for row in rows if row.records or row.flushes or row.dropped]


class _Numbered:
    """Texts that recur, each as its number in a list of them."""

    def __init__(self, of: Any) -> None:
        known: dict[str, int] = {}
        self.numbers = [known.setdefault(text, len(known)) for text in of]
        self.texts = list(known)
