"""`tare profile`: the sums of a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from dataclasses import fields as dataclass_fields
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, cast

from tare import streams
from tare.analysis import code_times, files, hybrid, rank_differences, regions, sampled_parts, stacks, tables
from tare.analysis import profile as sums
from tare.analysis.efficiency import Efficiency, efficiencies, replayed
from tare.analysis.profile import Chosen, Key
from tare.analysis.rows import fields
from tare.commands import AnyMember, Json, OnlyRanks, RunDirectory, choice, print_json
from tare.commands.reading import conclude, open_readable
from tare.errors import NOTHING_MEASURED, CommandError, Incompatible, UsageError
from tare.options import Option
from tare.runs.run import Run

if TYPE_CHECKING:
    from tare._native import Site
    from tare._tables import ProfileRow
    from tare.reporters.sheet import Sheet

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
    "phase": {Sort.TIME: ("time_ns",), Sort.CALLS: ("timed_calls",), Sort.BYTES: ("bytes",)},
    "region": {Sort.WAITING: ("idle_ns",), Sort.TIME: ("time_ns",), Sort.CALLS: ("calls",)},
    "file": {Sort.TIME: ("time_ns",), Sort.CALLS: ("calls",), Sort.BYTES: ("bytes",)},
}
ROWS: dict[tables.Subject, Callable[[Run, list[str], Chosen], Sequence[Any]]] = {
    "peer": tables.peer_rows,
    "phase": tables.phase_rows,
    "region": tables.region_rows,
    "file": tables.file_rows,
}
# Rows whose own order says more.
IN_ORDER = (["rank"], ["size"])

RowKeys = Annotated[
    str,
    Option(
        metavar="KEYS",
        help="What each row stands for: site, line, function, size, communicator or rank, or several of "
        "them, like function,size. Also peer (alone, or with rank or communicator), phase (alone, or "
        "with rank), region (of OpenMP; alone, or with rank or thread) and file (alone, or with rank). With "
        "samples of stacks, function and line (alone, or with rank or thread) have the program's own, too; "
        "with a trace, its own alone with phase, iteration or between (calls of MPI).",
    ),
]
SortKey = Annotated[
    Sort | None, Option(help="Sort by this, largest first. By default time; ranks and sizes in their order.")
]


def profile(
    run: RunDirectory,
    by: RowKeys = "site",
    sort: SortKey = None,
    limit: Annotated[int, Option(min=0, help="Print at most N rows; 0 prints all.")] = 0,
    function: Annotated[
        list[str] | None, Option(help="Only this function, like MPI_Send (may be repeated).")
    ] = None,
    rank: OnlyRanks = None,
    communicator: Annotated[
        list[str] | None, Option(help="Only this communicator (may be repeated).")
    ] = None,
    world: Annotated[
        list[int] | None, Option(help="Only this world, if the run has several (may be repeated).")
    ] = None,
    paths: Annotated[bool, Option("--paths", help="Print the call path of every site.")] = False,
    replay: Annotated[
        bool,
        Option("--replay", help="Also of a large trace, compute the time on an ideal network."),
    ] = False,
    member: AnyMember = None,
    json: Json = False,
    csv: Annotated[bool, Option("--csv", help="Print CSV.")] = False,
    markdown: Annotated[bool, Option("--markdown", help="Print a Markdown table.")] = False,
) -> None:
    """Print calls, time and bytes by call site, rank, size and more.

    docs/profile.md explains the columns and the figures above them.

    Example: tare profile app-20260131-120000 --by function --limit 10
    """
    if json + csv + markdown > 1:
        raise UsageError("choose one of --json, --csv and --markdown")
    names = choice.keys(by, (*sums.KEYS, *tables.SUBJECTS, "thread", "iteration", "between"))
    if paths and "site" not in names:
        raise UsageError("--paths goes with --by site")
    chosen = Chosen(
        frozenset(function or ()),
        frozenset(rank or ()),
        frozenset(communicator or ()),
        frozenset(world or ()),
    )
    recording = open_readable(run, member)
    if sampled_parts.is_by_part(names):
        if chosen.functions or chosen.communicators or sort not in (None, Sort.TIME):
            raise UsageError(
                f"--by {by} does not go with --function, --communicator and other orders than time"
            )
        _profile_parts(recording, run, names, chosen, limit, as_json=json, csv=csv, markdown=markdown)
        return
    if parts := [name for name in names if name in ("iteration", "between")]:
        raise UsageError(f"--by {parts[0]} goes with function or line alone: --by function,{parts[0]}")
    of_code = code_times.is_by_code(names) and bool(stacks.samples(recording, chosen))
    by_thread = of_code and "thread" in names
    subject = None if by_thread else _subject_of(names)
    # So that the profiles are read once, for the table and for the processes that the checks need.
    if subject is None and not by_thread and chosen.may_be_there():
        recording.expect_profile(names, **chosen.arguments())
    _check(recording, chosen)
    if by_thread:
        found = _Table(names, None, [], [], 0, recording.sites, chosen)
    else:
        found = _table(recording, names, subject, chosen, sort, limit)
    if json:
        content = _json_of_all(recording, replay=replay) | {"rows": found.records()}
        if of_code:
            times = code_times.by(recording, names, chosen)
            content["functions"] = [asdict(each) for each in times[: limit or None]]
            if "rank" in names:
                content["differences"] = [asdict(each) for each in _differences(recording, chosen)]
        print_json(SCHEMA, run, content)
    elif csv and of_code:
        from tare.reporters import csv as csv_reporter

        times = code_times.by(recording, names, chosen)
        columns = [each.name for each in dataclass_fields(code_times.CodeTime)]
        csv_reporter.write_rows(sys.stdout, columns, [asdict(each) for each in times[: limit or None]])
    elif csv:
        from tare.reporters import csv as csv_reporter
        from tare.reporters.paths import in_cell

        csv_reporter.write_rows(sys.stdout, found.columns, [in_cell(row) for row in found.records()])
    elif of_code:
        _show_code(recording, found, chosen, sort, limit, markdown=markdown)
    elif found.rows:
        _show(recording, found, names, markdown=markdown, paths=paths, replay=replay)
    elif chosen == Chosen():
        streams.tell(_why_none(recording, names))
    conclude(recording)
    if not found.rows and not of_code and chosen != Chosen():
        raise CommandError(f"no {_counted(names)} of this run matches all these options")


def _profile_parts(
    recording: Run,
    run: RunDirectory,
    names: list[str],
    chosen: Chosen,
    limit: int,
    *,
    as_json: bool,
    csv: bool,
    markdown: bool,
) -> None:
    """The program's own time in parts of the run: phases, iterations, between calls."""
    from tare.reporters import code_times as reporter
    from tare.reporters import csv as csv_reporter
    from tare.reporters import markdown as markdown_reporter
    from tare.reporters.console import console
    from tare.reporters.terminal import show_sheet

    _check(recording, chosen)
    try:
        found = sampled_parts.by(recording, names, chosen)
    except Incompatible as error:
        raise CommandError(f"--by {','.join(names)}: {error}") from error
    rows = found[: limit or None]
    sheet = reporter.part_sheet(rows, names)
    if as_json:
        content = _json_of_all(recording, replay=False) | {
            "rows": [],
            "functions": [each.record() for each in rows],
        }
        print_json(SCHEMA, run, content)
    elif csv:
        records = [each.record() for each in rows]
        csv_reporter.write_rows(sys.stdout, list(records[0]) if records else [], records)
    elif markdown:
        markdown_reporter.write(sys.stdout, sheet)
    elif not rows:
        streams.tell("no sample was taken in a part of the run that is chosen")
    else:
        out = console()
        show_sheet(out, sheet)
        if len(found) > len(rows):
            out.line(f"… {len(found) - len(rows):,} more rows; --limit 0 shows all")
        [part] = set(names) & set(sampled_parts.PARTS)
        if part == "phase" and not sampled_parts.has_marked_phases(recording):
            part = "detected"
        out.paragraph(f"{reporter.NOTE_OF_PARTS}.")
        out.paragraph(f"{reporter.NOTES_OF_PARTS[part]}.")
    conclude(recording)


def _json_of_all(recording: Run, *, replay: bool) -> dict[str, Any]:
    """What JSON has above the rows, whatever these are."""
    return {
        "efficiency": [asdict(each) for each in _efficiencies(recording, replay=replay)],
        "openmp": [asdict(each) for each in hybrid.of_run(recording)],
    }


def _check(recording: Run, chosen: Chosen) -> None:
    choice.check_worlds(recording, sorted(chosen.worlds))
    choice.check_ranks(recording, sorted(chosen.ranks))
    choice.check_communicators(recording, sorted(chosen.communicators))
    choice.check_functions(recording, sorted(chosen.functions))


def _efficiencies(recording: Run, *, replay: bool) -> list[Efficiency]:
    processes = recording.processes
    return replayed(efficiencies(processes), processes, lambda: recording.replayed_worlds, always=replay)


@dataclass(frozen=True)
class _Table:
    """The rows to print, in order."""

    keys: list[str]
    subject: tables.Subject | None  # None: rows are sums of the profile
    columns: list[str]
    rows: Sequence[Any]
    left_out: int  # rows beyond the limit
    sites: Sequence[Site]
    chosen: Chosen

    @property
    def calls(self) -> Sequence[ProfileRow]:
        """The rows, if they can have a call site."""
        return () if self.subject or self.keys == ["rank"] else self.rows

    def records(self) -> list[dict[str, Any]]:
        """The rows as JSON has them."""
        if self.calls:
            return [sums.record(row, self.columns, self.sites) for row in self.calls]
        return [fields(row, self.columns) for row in self.rows]

    def sheet(self, recording: Run) -> Sheet:
        """The rows as text."""
        from tare.reporters import profile
        from tare.reporters import tables as reporter

        if self.subject:
            return reporter.sheet(self.subject, self.rows, self.keys, recording.worlds)
        if self.keys == ["rank"]:
            return profile.rank_sheet(recording, self.rows, self.chosen)
        return profile.sheet(recording, self.rows, cast("list[Key]", self.keys), self.chosen)


def _table(
    recording: Run,
    names: list[str],
    subject: tables.Subject | None,
    chosen: Chosen,
    sort: Sort | None,
    limit: int,
) -> _Table:
    rows: Sequence[Any]
    if subject is None:
        keys = cast("list[Key]", names)
        columns = sums.columns(keys)
        rows = _ordered(sums.summed(recording, keys, chosen), keys, columns, sort)
    else:
        columns = tables.columns(subject, names)
        try:
            rows = _by_sum(ROWS[subject](recording, names, chosen), subject, names, sort)
        except Incompatible as error:
            raise UsageError(
                f"--by {','.join(names)}: {error}: leave out --function and --communicator"
            ) from error
    shown = rows[: limit or None]
    return _Table(names, subject, columns, shown, len(rows) - len(shown), recording.sites, chosen)


def _ordered(
    rows: list[ProfileRow], keys: list[Key], columns: list[str], sort: Sort | None
) -> list[ProfileRow]:
    if sort is None and keys in IN_ORDER:
        column = "size_to" if keys == ["size"] else "rank"
        return sorted(rows, key=lambda row: (row.world, getattr(row, column) or 0))
    column = COLUMNS[sort or Sort.TIME]
    if rows and column not in columns:
        raise UsageError(f"--sort {sort} does not go with --by {','.join(keys)}")
    return sums.ordered(rows, column, 0)


def _by_sum(
    rows: Sequence[Any], subject: tables.Subject, names: list[str], sort: Sort | None
) -> Sequence[Any]:
    known = TABLE_COLUMNS[subject]
    columns = known.get(sort or next(iter(known)))
    if columns is None:
        raise UsageError(f"--sort {sort} does not go with --by {','.join(names)}")
    return sorted(rows, key=lambda row: sum(getattr(row, column) for column in columns), reverse=True)


def _counted(names: list[str]) -> str:
    if "region" in names:
        return "parallel region of OpenMP"
    if "file" in names:
        return "file"
    if "phase" in names:
        return "time of a phase"
    return "message between ranks" if "peer" in names else "call of MPI"


def _why_none(recording: Run, names: list[str]) -> str:
    if not recording.processes:
        return NOTHING_MEASURED
    return f"the profile of this run holds no {_counted(names)}"


def _show(
    recording: Run, found: _Table, names: list[str], *, markdown: bool, paths: bool, replay: bool
) -> None:
    from tare.reporters import markdown as markdown_reporter
    from tare.reporters import openmp
    from tare.reporters import profile as reporter
    from tare.reporters.console import console

    sheet = found.sheet(recording)
    found_efficiencies = _efficiencies(recording, replay=replay)
    found_hybrid = hybrid.of_run(recording)
    if markdown:
        if paths:
            reporter.add_paths(sheet, found.calls, found.sites)
        markdown_reporter.write(sys.stdout, sheet)
        streams.say()
        markdown_reporter.write(sys.stdout, reporter.efficiency_sheet(found_efficiencies))
        if found_hybrid:
            streams.say()
            markdown_reporter.write(sys.stdout, openmp.sheet(found_hybrid))
        return
    out = console()
    reporter.show_efficiencies(out, found_efficiencies)
    openmp.show(out, found_hybrid)
    sites = found.sites if paths or "site" in names else None
    reporter.show(out, sheet, found.calls, found.left_out, sites, with_paths=paths)
    if found.subject == "file":
        for sentence in files.limits(recording, found.rows):
            out.paragraph(f"{sentence}.")
    elif recording.has_counted_time:
        if "phase" in names:
            out.paragraph(reporter.PHASES_NOTE)
        elif found.subject == "region":
            out.paragraph(reporter.REGIONS_NOTE)
        else:
            reporter.show_what_was_counted(out, found.calls, names)
    if not found.subject:
        reporter.show_sources(out, recording, names, found.chosen)
    if found.subject == "region":
        for sentence in regions.limits(found.rows, recording.rows(recording.regions)):
            out.paragraph(f"{sentence}.")
    reporter.show_unreturned(out, recording)
    reporter.draw(out, recording, names)


def _show_code(
    recording: Run,
    table: _Table,
    chosen: Chosen,
    sort: Sort | None,
    limit: int,
    *,
    markdown: bool,
) -> None:
    """The functions or lines of the program among those of MPI and of other sources of events.

    `table`: of the calls alone.
    """
    from tare.reporters import code_times as reporter
    from tare.reporters import markdown as markdown_reporter
    from tare.reporters import profile as calls_reporter
    from tare.reporters.console import console
    from tare.reporters.terminal import show_sheet

    if sort not in (None, Sort.TIME, Sort.CALLS):
        raise UsageError(f"--sort {sort} does not go with the functions of the program")
    names = table.keys
    found = code_times.by(recording, names, chosen)
    if "rank" in names:
        found = [
            each for each in found if each.time_ns
        ]  # others have time in the functions that they call alone
    total_ns = reporter.total_ns(found)
    if sort is Sort.CALLS:
        found.sort(key=lambda each: each.calls or 0, reverse=True)
    sheet = reporter.sheet(found[: limit or None], names, recording.worlds, total_ns)
    if markdown:
        markdown_reporter.write(sys.stdout, sheet)
        return
    out = console()
    show_sheet(out, sheet)
    if limit and len(found) > limit:
        out.line(f"… {len(found) - limit:,} more rows; --limit 0 shows all")
    if recording.has_counted_time and table.calls:
        calls_reporter.show_what_was_counted(out, table.calls, names)
    calls_reporter.show_unreturned(out, recording)
    if "rank" in names:
        ranks = rank_differences.ranks_of(recording)
        for sentence in reporter.sentences(_differences(recording, chosen), ranks):
            out.paragraph(f"{sentence}.")
        if any(each.rank_mean_ns is not None for each in found):
            out.paragraph(reporter.NOTE_OF_RANKS)
    out.paragraph(reporter.NOTE)
    for sentence in stacks.limits(recording):
        out.paragraph(f"{sentence}.")


def _differences(recording: Run, chosen: Chosen) -> list[rank_differences.More]:
    """The functions in which ranks that are chosen differ from the mean of all."""
    found = rank_differences.of_functions(
        stacks.samples(recording, Chosen(worlds=chosen.worlds)),
        rank_differences.ranks_of(recording),
        recording.sites,
    )
    return [each for each in found if not chosen.ranks or each.rank in chosen.ranks]


def _subject_of(names: list[str]) -> tables.Subject | None:
    try:
        return tables.subject_of(names)
    except Incompatible as error:
        raise UsageError(f"--by {','.join(names)}: {error}") from error
