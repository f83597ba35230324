"""`tare events`: the single calls of a traced run, and the events of the program itself."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from tare import streams
from tare.analysis.events import described
from tare.analysis.ranks import total_trace
from tare.commands import AnyMember, Json, RunDirectory
from tare.errors import UsageError
from tare.options import Option
from tare.recording import Recording, open_recording
from tare.reporters import warnings
from tare.units import NS_PER_S

SCHEMA = "tare.events/1"


def events(
    run: RunDirectory,
    rank: Annotated[
        list[int] | None,
        Option(help="Only this rank (may be repeated).", show_default=False),
    ] = None,
    function: Annotated[
        list[str] | None,
        Option(help="Only this function, like MPI_Send, or event (may be repeated).", show_default=False),
    ] = None,
    start: Annotated[
        float | None,
        Option("--from", metavar="SECONDS", help="From so long after the start of the run."),
    ] = None,
    end: Annotated[
        float | None,
        Option("--to", metavar="SECONDS", help="To so long after the start of the run."),
    ] = None,
    limit: Annotated[int, Option(min=0, help="So many rows; 0: all.")] = 0,
    paths: Annotated[bool, Option("--paths", help="With --json: the call path of every call, too.")] = False,
    member: AnyMember = None,
    json: Json = False,
    parquet: Annotated[
        Path | None,
        Option(metavar="FILE", help="Write them to a Parquet file (docs/tables.md).", show_default=False),
    ] = None,
) -> None:
    """Print the recorded calls and events of a traced run.

    Example: tare events app-20260131-120000 --rank 0 --function MPI_Send --limit 20
    """
    if start is not None and end is not None and start > end:
        raise UsageError(f"--from {start:g} is later than --to {end:g}")
    recording = open_recording(run, member)
    if parquet is not None:
        if json or paths:
            raise UsageError("--parquet goes without --json and --paths")
        _write_parquet(recording, parquet, rank or None, function or None, start, end, limit)
        warnings.show(recording.warnings)
        return
    found = recording.events(
        rank or None, function or None, _at(recording, start), _at(recording, end), limit
    )
    rows = described(found, recording.sites, recording.communicators, recording.scopes, paths=paths)
    if json:
        from tare.reporters import json as reporter

        reporter.write(sys.stdout, SCHEMA, run, {"rows": rows})
    else:
        from tare.reporters import terminal
        from tare.reporters.console import console

        if not terminal.events(console(), rows, recording.start_ns, recording.worlds):
            streams.tell(f"no events: {_why_none(recording)}")
    # Last: damage to a chunk of events is seen when it is read.
    warnings.show(recording.warnings)


def _why_none(recording: Recording) -> str:
    if not recording.processes:
        return "no process of this run called MPI"
    if not total_trace(recording.processes)["written"]:
        return "they were recorded, but not written (--write none)"
    return "no event matches" if recording.meta.options.trace else "this run was measured without --trace"


def _write_parquet(
    recording: Recording,
    to: Path,
    ranks: list[int] | None,
    functions: list[str] | None,
    start: float | None,
    end: float | None,
    limit: int,
) -> None:
    from tare.reporters import parquet

    parquet.write(
        recording.event_table(
            ranks=ranks,
            functions=functions,
            start_ns=_at(recording, start),
            end_ns=_at(recording, end),
            limit=limit,
        ),
        to,
    )


def _at(recording: Recording, seconds: float | None) -> int | None:
    return None if seconds is None else recording.start_ns + round(seconds * NS_PER_S)
