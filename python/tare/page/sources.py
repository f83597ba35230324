"""What other sources of events than MPI tell: the work of threads in OpenMP, and files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.analysis import files, hybrid, regions, tables
from tare.analysis.profile import Chosen
from tare.analysis.rows import fields
from tare.page.call_sites import place
from tare.reporters import openmp, terminal
from tare.reporters.profile import REGIONS_NOTE
from tare.reporters.tables import busiest_thread, file_name

if TYPE_CHECKING:
    from tare.analysis.files import UsedFile
    from tare.analysis.regions import Region
    from tare.runs.run import Run

MAX_ROWS = 1000
_OF_REGION = (
    "world",
    "pid",
    "calls",
    "time_ns",
    "threads",
    "work_mean_ns",
    "work_max_ns",
    "idle_share",
    "idle_ns",
)
_OF_FILE = (
    "world", "interface", "time_ns", "reads", "read_bytes", "writes", "written_bytes", "consecutive_share",
    "strided_share", "opens", "ranks",
)  # fmt: skip


def of_openmp(run: Run) -> dict[str, Any] | None:
    """Parallel regions by line and rank, the most idle time first, and efficiencies; None without them."""
    if "openmp" not in run.meta.options.sources:
        return None
    found = tables.region_rows(run, ["rank"], Chosen())
    notes = [f"{REGIONS_NOTE}."] if run.has_counted_time else []
    return {
        "regions": list(map(_region, found[:MAX_ROWS])),
        "left_out": max(len(found) - MAX_ROWS, 0),
        "efficiencies": openmp.sheet(hybrid.of_run(run)).rows,
        "notes": [*notes, *(f"{each}." for each in regions.limits(found, run.rows(run.regions)))],
    }


def of_files(run: Run) -> dict[str, Any] | None:
    """Files by name and interface, the longest time first; None if none was recorded."""
    found = tables.file_rows(run, [], Chosen())
    if not found:
        return None
    return {
        "files": list(map(_file, found[:MAX_ROWS])),
        "left_out": max(len(found) - MAX_ROWS, 0),
        "notes": [f"{each}." for each in files.limits(run, found)],
    }


def _region(of: Region) -> dict[str, Any]:
    rank = of.rank if of.rank is not None and of.rank >= 0 else None
    at = {**place(of), "caller": terminal.caller(of)}
    return {**at, **fields(of, _OF_REGION), "rank": rank, "thread": busiest_thread(of)}


def _file(of: UsedFile) -> dict[str, Any]:
    return {"file": file_name(of), **fields(of, _OF_FILE)}
