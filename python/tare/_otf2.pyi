"""Traces in OTF2: there only where tare was built with libotf2."""

from typing import TypedDict

from tare._native import Exported, Run

class Imported(TypedDict):
    """What an import has found."""

    processes: int
    threads: int
    calls: int  # of MPI
    start_ns: int  # unix, of the first event
    wall_ns: int  # to the last
    unfinished: int  # regions that are never left: not imported
    host: str

def import_otf2(anchor: str, file: str, fallback_start_ns: int) -> Imported:
    """Makes a new file of a run of an archive, whose clock began then if it does not say when."""

def export_otf2(
    run: Run,
    path: str,
    start_ns: int,
    ranks: list[int] | None = None,
    from_ns: int | None = None,
    to_ns: int | None = None,
) -> Exported:
    """Writes the archive `path`/traces.otf2; the rest as Run.export_perfetto()."""
