"""`tare events`: the single calls of a traced run, and the events of the program itself."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tare import streams
from tare.analysis.events import described
from tare.commands import MAX_ROWS, AnyMember, Json, OnlyRanks, RunDirectory, new_path, print_json, seconds
from tare.commands.choice import check_functions, check_ranks
from tare.commands.reading import Counted, at, conclude, open_readable
from tare.errors import CommandError, UsageError
from tare.options import Option
from tare.runs.run import Run
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare._native import EventRow

SCHEMA = "tare.events/1"


def events(
    run: RunDirectory,
    rank: OnlyRanks = None,
    function: Annotated[
        list[str] | None, Option(help="Only this function, like MPI_Send, or event (may be repeated).")
    ] = None,
    start: Annotated[
        float | None,
        Option(
            "--from",
            parser=seconds,
            metavar="SECONDS",
            help="Only from this time on, counted from the start of the run.",
        ),
    ] = None,
    end: Annotated[
        float | None,
        Option(
            "--to",
            parser=seconds,
            metavar="SECONDS",
            help="Only up to this time, counted from the start of the run.",
        ),
    ] = None,
    limit: Annotated[int, Option(min=0, max=MAX_ROWS, help="Print at most N rows; 0 prints all.")] = 0,
    last: Annotated[
        int | None, Option(min=1, max=MAX_ROWS, help="Print the newest N rows, in the order of time.")
    ] = None,
    paths: Annotated[
        bool, Option("--paths", help="With --json: print the call path of every call too.")
    ] = False,
    member: AnyMember = None,
    json: Json = False,
    parquet: Annotated[
        Path | None,
        Option(parser=new_path, metavar="FILE", help="Write the events to a Parquet file (docs/tables.md)."),
    ] = None,
) -> None:
    """Print the recorded calls and events of a traced run.

    Example: tare events RUN --rank 0 --function MPI_Send --limit 20
    """
    if start is not None and end is not None and start > end:
        raise UsageError(f"--from {start:g} is later than --to {end:g}")
    if parquet is not None and (json or paths):
        raise UsageError("--parquet goes without --json and --paths")
    if last is not None and (limit or parquet is not None):
        raise UsageError("--last goes without --limit and --parquet")
    recording = open_readable(run, member)
    check_ranks(recording, rank)
    check_functions(recording, function, events=True)
    wanted: dict[str, Any] = {
        "ranks": rank or None,
        "functions": function or None,
        "start_ns": at(recording, start),
        "end_ns": at(recording, end),
        "limit": limit,
    }
    if parquet is not None:
        from tare.reporters import parquet as writer

        writer.write(recording.event_table(**wanted), parquet)
        conclude(recording)
        return
    found: Iterable[EventRow] = recording.events(**wanted)
    if last is not None:
        found = deque(found, last)
    rows = Counted(described(found, recording.sites, recording.communicators, recording.scopes, paths=paths))
    if json:
        print_json(SCHEMA, run, {"rows": rows})
    else:
        from tare.reporters import terminal
        from tare.reporters.console import console

        terminal.events(console(), rows, recording.start_ns, recording.worlds)
    # Last: damage to a chunk of events is seen when it is read.
    conclude(recording)
    if rows.count or not recording.processes:
        return
    if not recording.meta.options.trace:
        streams.tell("no events: this run was measured without --trace")
    else:
        raise CommandError(f"no events: {_why_none(recording, bool(rank or function), (start, end))}")


def _why_none(recording: Run, is_chosen: bool, time_span: tuple[float | None, float | None]) -> str:
    trace = recording.total_trace()
    if not trace.written:
        return "they were recorded, but not written (--write none)"
    if time_span != (None, None):
        end_ns = max(process.start_ns + process.wall_ns for process in recording.processes)
        last = (end_ns - recording.start_ns) / NS_PER_S
        return f"none matches; --from and --to are seconds since the start, and the run took {last:.9g} s"
    if is_chosen:
        return "none matches"
    return "none of them could be read" if trace.records or recording.warnings else "none"
