"""`tare profile`: the sums of a run."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated, cast

import typer

from tare.analysis import profile as sums
from tare.analysis.efficiency import efficiencies
from tare.analysis.profile import Chosen, Key, Row
from tare.commands import AnyMember, Json, RunDirectory
from tare.errors import UsageError
from tare.recording import Recording, open_recording

SCHEMA = "tare.profile/1"


class Sort(StrEnum):
    """What comes first."""

    TIME = "time"
    CALLS = "calls"
    BYTES = "bytes"
    MEAN = "mean"
    LONGEST = "longest"
    WAITING = "waiting"


COLUMNS = {
    Sort.TIME: "time_ns",
    Sort.CALLS: "calls",
    Sort.BYTES: "bytes",
    Sort.MEAN: "mean_ns",
    Sort.LONGEST: "max_ns",
    Sort.WAITING: "imbalance_ns",
}
# Rows whose own order says more.
IN_ORDER = (["rank"], ["size"])


def profile(
    run: RunDirectory,
    by: Annotated[
        str,
        typer.Option(
            metavar="KEYS",
            help="What a row stands for: site, function, size, communicator, rank; or several, "
            "like function,size.",
        ),
    ] = "site",
    sort: Annotated[
        Sort | None,
        typer.Option(help="What comes first: time, but ranks and sizes in order.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="So many rows; 0: all.")] = 0,
    function: Annotated[
        list[str] | None,
        typer.Option(help="Only this function, like MPI_Send (may be repeated).", show_default=False),
    ] = None,
    rank: Annotated[
        list[int] | None, typer.Option(help="Only this rank (may be repeated).", show_default=False)
    ] = None,
    communicator: Annotated[
        list[str] | None,
        typer.Option(help="Only this communicator (may be repeated).", show_default=False),
    ] = None,
    world: Annotated[
        list[int] | None,
        typer.Option(help="Only this world, of a run with several (may be repeated).", show_default=False),
    ] = None,
    member: AnyMember = None,
    json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
) -> None:
    """Print calls, time and bytes by call site, rank, size and more.

    What the columns and the figures above them mean: docs/profile.md.

    Example: tare profile app-20260131-120000 --by function --limit 10
    """
    if json + csv + markdown > 1:
        raise UsageError("choose one of --json, --csv and --markdown")
    keys = _keys(by)
    chosen = Chosen(
        frozenset(function or ()),
        frozenset(rank or ()),
        frozenset(communicator or ()),
        frozenset(world or ()),
    )
    recording = open_recording(run, member)
    found = sums.summed(recording, keys, chosen)
    rows = _ordered(found, keys, sort, limit)
    if json:
        from tare.reporters import json as json_reporter

        content = {"efficiency": efficiencies(recording.processes)}
        json_reporter.write_rows(sys.stdout, SCHEMA, run, rows, content)
    elif csv:
        from tare.reporters import csv as csv_reporter

        csv_reporter.write_rows(sys.stdout, sums.columns(keys), rows)
    else:
        _show(recording, keys, rows, len(found), markdown)


def _keys(by: str) -> list[Key]:
    names = list(dict.fromkeys(name.strip() for name in by.split(",")))
    for name in names:
        if name not in sums.KEYS:
            raise UsageError(f"--by {by}: '{name}' is none of {', '.join(sums.KEYS)}")
    return cast("list[Key]", names)


def _ordered(rows: list[Row], keys: list[Key], sort: Sort | None, limit: int) -> list[Row]:
    if sort is None and keys in IN_ORDER:
        column = "size_to" if keys == ["size"] else "rank"
        rows = sorted(rows, key=lambda row: (row["world"], row[column] or 0))
        return rows[:limit] if limit else rows
    column = COLUMNS[sort or Sort.TIME]
    if rows and column not in rows[0]:
        raise UsageError(f"--sort {sort} does not go with --by {','.join(keys)}")
    return sums.ordered(rows, column, limit)


def _show(recording: Recording, keys: list[Key], rows: list[Row], found: int, markdown: bool) -> None:
    from tare.reporters import markdown as markdown_reporter
    from tare.reporters import profile as reporter
    from tare.reporters import terminal

    if not rows:
        why = "no call matches" if recording.processes else "no process of this run called MPI"
        typer.echo(why, err=True)
        return
    total_ns = sums.net_time_ns(recording.profile)
    sheet = reporter.sheet(rows, keys, total_ns, recording.worlds)
    if markdown:
        markdown_reporter.write(sys.stdout, sheet)
        return
    out = terminal.console()
    reporter.show_efficiencies(out, efficiencies(recording.processes))
    reporter.show(out, sheet, rows, found - len(rows))
