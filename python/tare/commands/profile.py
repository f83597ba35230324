"""`tare profile`: the sums of a run."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated, cast

from tare import streams
from tare.analysis import profile as sums
from tare.analysis import tables
from tare.analysis.efficiency import Efficiency, efficiencies, replayed
from tare.analysis.profile import Chosen, Key, Row
from tare.analysis.ranks import total_mpi_ns
from tare.commands import AnyMember, Json, RunDirectory, choice
from tare.commands.reading import conclude, open_readable
from tare.errors import CommandError, Incompatible, UsageError
from tare.options import Option
from tare.runs.run import Run

SCHEMA = "tare.profile/1"


class Sort(StrEnum):
    """What comes first."""

    TIME = "time"
    CALLS = "calls"
    BYTES = "bytes"
    MEAN = "mean"
    LONGEST = "longest"
    WAITING = "waiting"
    WAITED = "waited"


COLUMNS = {
    Sort.TIME: "time_ns",
    Sort.CALLS: "calls",
    Sort.BYTES: "bytes",
    Sort.MEAN: "mean_ns",
    Sort.LONGEST: "max_ns",
    Sort.WAITING: "imbalance_ns",
    Sort.WAITED: "waited_ns",
}
# Of tables of their own: what each can be sorted by, its default first. Both directions add up.
TABLE_COLUMNS: dict[tables.Subject, dict[Sort, tuple[str, ...]]] = {
    "peer": {
        Sort.BYTES: ("sent_bytes", "received_bytes"),
        Sort.CALLS: ("sent_messages", "received_messages"),
    },
    "phase": {Sort.TIME: ("time_ns",), Sort.CALLS: ("calls",), Sort.BYTES: ("bytes",)},
}
# Rows whose own order says more.
IN_ORDER = (["rank"], ["size"])


def profile(
    run: RunDirectory,
    by: Annotated[
        str,
        Option(
            metavar="KEYS",
            help="What a row stands for: site, line, function, size, communicator, rank; or several, "
            "like function,size. Or peer, with rank or communicator; or phase, with rank.",
        ),
    ] = "site",
    sort: Annotated[
        Sort | None,
        Option(help="What comes first: time, but ranks and sizes in order.", show_default=False),
    ] = None,
    limit: Annotated[int, Option(min=0, help="So many rows; 0: all.")] = 0,
    function: Annotated[
        list[str] | None,
        Option(help="Only this function, like MPI_Send (may be repeated).", show_default=False),
    ] = None,
    rank: Annotated[
        list[int] | None, Option(help="Only this rank (may be repeated).", show_default=False)
    ] = None,
    communicator: Annotated[
        list[str] | None,
        Option(help="Only this communicator (may be repeated).", show_default=False),
    ] = None,
    world: Annotated[
        list[int] | None,
        Option(help="Only this world, of a run with several (may be repeated).", show_default=False),
    ] = None,
    paths: Annotated[bool, Option("--paths", help="Print the call path of every site.")] = False,
    replay: Annotated[
        bool,
        Option("--replay", help="Also of a large trace, how long it would take on an ideal network."),
    ] = False,
    member: AnyMember = None,
    json: Json = False,
    csv: Annotated[bool, Option("--csv", help="Print CSV.")] = False,
    markdown: Annotated[bool, Option("--markdown", help="Print a Markdown table.")] = False,
) -> None:
    """Print calls, time and bytes by call site, rank, size and more.

    What the columns and the figures above them mean: docs/profile.md.

    Example: tare profile app-20260131-120000 --by function --limit 10
    """
    if json + csv + markdown > 1:
        raise UsageError("choose one of --json, --csv and --markdown")
    names = _names(by)
    if paths and "site" not in names:
        raise UsageError("--paths goes with --by site")
    chosen = Chosen(
        frozenset(function or ()),
        frozenset(rank or ()),
        frozenset(communicator or ()),
        frozenset(world or ()),
    )
    subject = _subject_of(names)
    recording = open_readable(run, member)
    _check(recording, chosen)
    if subject is not None:
        found = _rows_of(recording, subject, names, chosen)
        rows = _ordered_table(found, subject, names, sort, limit)
        columns = tables.columns(subject, names)
    else:
        keys = cast("list[Key]", names)
        found = sums.summed(recording, keys, chosen)
        rows = _ordered(found, keys, sort, limit)
        columns = sums.columns(keys)
    if json:
        from tare.reporters import json as json_reporter

        content = {"efficiency": _efficiencies(recording, replay=replay), "rows": rows}
        json_reporter.write(sys.stdout, SCHEMA, run, content)
    elif csv:
        from tare.reporters import csv as csv_reporter

        csv_reporter.write_rows(sys.stdout, columns, rows)
    else:
        _show(
            recording, names, rows, len(found), is_filtered=chosen != Chosen(),
            markdown=markdown, paths=paths, replay=replay,
        )  # fmt: skip
    conclude(recording)
    if not rows and chosen != Chosen():
        raise CommandError(f"no {_counted(names)} of this run is all that was asked for")


def _check(recording: Run, chosen: Chosen) -> None:
    choice.check_worlds(recording, sorted(chosen.worlds))
    choice.check_ranks(recording, sorted(chosen.ranks))
    choice.check_communicators(recording, sorted(chosen.communicators))
    choice.check_functions(recording, sorted(chosen.functions))


def _efficiencies(recording: Run, *, replay: bool) -> list[Efficiency]:
    found = efficiencies(recording.processes)
    replayed(found, recording.processes, lambda: recording.replayed_worlds, always=replay)
    return found


def _names(by: str) -> list[str]:
    """The keys; of sums, or of a table beside them."""
    names = list(dict.fromkeys(name.strip() for name in by.split(",")))
    known = (*sums.KEYS, *tables.SUBJECTS)
    for name in names:
        if name not in known:
            raise UsageError(f"--by {by}: '{name}' is none of {', '.join(known)}")
    return names


def _ordered(rows: list[Row], keys: list[Key], sort: Sort | None, limit: int) -> list[Row]:
    if sort is None and keys in IN_ORDER:
        column = "size_to" if keys == ["size"] else "rank"
        rows = sorted(rows, key=lambda row: (row["world"], row[column] or 0))
        return rows[:limit] if limit else rows
    column = COLUMNS[sort or Sort.TIME]
    if rows and column not in rows[0]:
        raise UsageError(f"--sort {sort} does not go with --by {','.join(keys)}")
    return sums.ordered(rows, column, limit)


def _ordered_table(
    rows: list[Row], subject: tables.Subject, names: list[str], sort: Sort | None, limit: int
) -> list[Row]:
    known = TABLE_COLUMNS[subject]
    columns = known.get(sort or next(iter(known)))
    if columns is None:
        raise UsageError(f"--sort {sort} does not go with --by {','.join(names)}")
    rows = sorted(rows, key=lambda row: sum(row[column] for column in columns), reverse=True)
    return rows[:limit] if limit else rows


def _counted(names: list[str]) -> str:
    return "message" if "peer" in names else "call of MPI"


def _why_none(recording: Run, names: list[str]) -> str:
    if not recording.processes:
        return choice.NOTHING_MEASURED
    return f"the profile of this run holds no {_counted(names)}"


def _show(
    recording: Run,
    names: list[str],
    rows: list[Row],
    found: int,
    *,
    is_filtered: bool,
    markdown: bool,
    paths: bool,
    replay: bool,
) -> None:
    from tare.reporters import markdown as markdown_reporter
    from tare.reporters import profile as reporter
    from tare.reporters.console import console

    if not rows:
        if not is_filtered:
            streams.tell(_why_none(recording, names))
        return
    if _subject_of(names) is not None:
        from tare.reporters import tables as tables_reporter

        sheet = tables_reporter.sheet(rows, names, recording.worlds)
    else:
        total_ns = total_mpi_ns(recording.processes)
        sheet = reporter.sheet(rows, cast("list[Key]", names), total_ns, recording.worlds)
    found_efficiencies = _efficiencies(recording, replay=replay)
    if markdown:
        if paths:
            reporter.add_paths(sheet, rows)
        markdown_reporter.write(sys.stdout, sheet)
        streams.say()
        markdown_reporter.write(sys.stdout, reporter.efficiency_sheet(found_efficiencies))
        return
    out = console()
    reporter.show_efficiencies(out, found_efficiencies)
    reporter.show(out, sheet, rows, found - len(rows), with_paths=paths)
    reporter.show_unreturned(out, recording)


def _subject_of(names: list[str]) -> tables.Subject | None:
    try:
        return tables.subject_of(names)
    except Incompatible as error:
        raise UsageError(f"--by {','.join(names)}: {error}") from error


def _rows_of(run: Run, subject: tables.Subject, names: list[str], chosen: sums.Chosen) -> list[Row]:
    try:
        return tables.rows(run, subject, names, chosen)
    except Incompatible as error:
        raise UsageError(
            f"--by {','.join(names)}: {error}: leave out --function and --communicator"
        ) from error
