"""`tare profile`: the sums of a run."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from tare.analysis import profile as sums
from tare.commands import AnyMember, Json, RunDirectory
from tare.errors import UsageError
from tare.recording import Recording, open_recording

SCHEMA = "tare.profile/1"


class By(StrEnum):
    """What a row stands for."""

    SITE = "site"
    FUNCTION = "function"
    RANK = "rank"


class Sort(StrEnum):
    """What comes first."""

    TIME = "time"
    CALLS = "calls"
    BYTES = "bytes"


COLUMNS: dict[Sort, sums.Column] = {
    Sort.TIME: "time_ns",
    Sort.CALLS: "calls",
    Sort.BYTES: "bytes",
}


def profile(
    run: RunDirectory,
    by: Annotated[By, typer.Option(help="What a row stands for.")] = By.SITE,
    sort: Annotated[
        Sort | None,
        typer.Option(help="What comes first: time, but the ranks in their order.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="So many rows; 0: all.")] = 0,
    member: AnyMember = None,
    json: Json = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
) -> None:
    """Print calls, time and bytes by call site, function or rank.

    Example: tare profile app-20260131-120000 --by function --limit 10
    """
    if json and csv:
        raise UsageError("choose one of --json and --csv")
    recording = open_recording(run, member)
    rows = _rows(recording, by, sort, limit)
    if json:
        from tare.reporters import json as json_reporter

        json_reporter.write_rows(sys.stdout, SCHEMA, run, rows)
    elif csv:
        from tare.reporters import csv as csv_reporter

        csv_reporter.write_rows(sys.stdout, _columns(by), rows)
    else:
        _show(recording, by, rows)


def _rows(recording: Recording, by: By, sort: Sort | None, limit: int) -> list[Any]:
    key = COLUMNS[sort or Sort.TIME]
    if by is By.SITE:
        return list(sums.ordered(sums.by_site(recording.profile, recording.sites), key, limit))
    if by is By.FUNCTION:
        return list(sums.ordered(sums.by_function(recording.profile), key, limit))
    rows = sums.by_rank(recording.profile, recording.processes)
    return list(sums.ordered(rows, key, limit) if sort else rows[: limit or None])


def _columns(by: By) -> list[str]:
    kinds = {By.SITE: sums.SiteRow, By.FUNCTION: sums.FunctionRow, By.RANK: sums.RankRow}
    return list(kinds[by].__annotations__)


def _show(recording: Recording, by: By, rows: list[Any]) -> None:
    from tare.reporters import terminal

    if not rows:
        typer.echo("no process of this run called MPI", err=True)
        return
    out = terminal.console()
    total_ns = sums.net_time_ns(recording.profile)
    if by is By.SITE:
        terminal.profile_by_site(out, rows, total_ns, recording.worlds)
    elif by is By.FUNCTION:
        terminal.profile_by_function(out, rows, total_ns, recording.worlds)
    else:
        terminal.profile_by_rank(out, rows, recording.worlds)
