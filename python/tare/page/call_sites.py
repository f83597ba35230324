"""Call sites with their paths, and where they stand in the sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.analysis.profile import call_path
from tare.analysis.rows import fields
from tare.functions import OUTSIDE_NET, meaning
from tare.reporters import paths, terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare._native import Site
    from tare._tables import ProfileRow
    from tare.analysis.rows import AtPlace

FIGURES = (
    "world", "function", "calls", "counted", "time_ns", "mean_ns", "min_ns", "max_ns", "bytes", "received",
    "waited_ns", "imbalance_ns", "ranks", "rank_min_ns", "rank_min", "rank_max_ns", "rank_max", "timed",
    "estimated_calls",
)  # fmt: skip


def of_rows(found: Sequence[ProfileRow], sites: Sequence[Site]) -> list[dict[str, Any]]:
    """The rows of the table on the page."""
    return [
        {
            **fields(row, FIGURES),
            **place(row),
            "path": list(paths.lines(call_path(row.site, sites))),
            "class": class_of(row.function),
            "outside": row.function in OUTSIDE_NET,
            "source": meaning(row.function).source,
        }
        for row in found
    ]


def place(at: AtPlace) -> dict[str, Any]:
    """A place in the program."""
    caller = terminal.caller(at) if at.caller else None
    return {"where": terminal.place(at), "caller": caller, "file": at.file, "line": at.line}


# Classes of mpi/functions.toml that the page shows as one, in the order of its legend. Constructs of OpenMP
# are one, whatever their classes say.
CLASSES: dict[str, tuple[str, ...]] = {
    "send": ("send", "start"),
    "receive": ("receive", "probe"),
    "exchange": ("exchange",),
    "wait": ("completion", "request"),
    "collective": ("collective",),
    "one-sided": ("one_sided", "epoch"),
    "file": ("file",),
    "openmp": (),
    "other": (),
}
_CLASS_OF = {kind: name for name, kinds in CLASSES.items() for kind in kinds}


def class_of(function: str) -> str:
    """What a function is shown as."""
    means = meaning(function)
    return "openmp" if means.source == "openmp" else _CLASS_OF.get(means.kind, "other")
