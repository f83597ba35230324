"""The profile as text: a sheet of its rows, and the efficiencies above it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tare import units
from tare.analysis import profile
from tare.analysis.efficiency import NO_TRACE, TOO_MANY_RECORDS, parts
from tare.analysis.profile import Chosen, call_path
from tare.analysis.ranks import total_mpi_ns, total_unreturned_ns
from tare.functions import OUTSIDE_NET
from tare.reporters import paths, scheduling, terminal
from tare.reporters import totals as total_sheet
from tare.reporters.sheet import WORLD, Column, Heading, Sheet
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare._native import Site
    from tare._tables import ProfileRow
    from tare.analysis.code_times import CodeTime
    from tare.analysis.efficiency import Efficiency
    from tare.analysis.profile import Key
    from tare.reporters.console import Console
    from tare.runs.run import Run

# What makes a replay possible, for the reasons that the user can change.
REMEDIES = {NO_TRACE: "tare run --trace", TOO_MANY_RECORDS: "--replay"}
OVERFLOW = "other"
OVERFLOW_NOTE = (
    "other: calls of a thread whose table had no row left for them; they are counted, but their function and "
    "call site are not known (docs/profile.md)"
)
FUNCTION = Column("Function", text=True, key=True, cell=lambda row: row.function)
OF_PLACE = (
    FUNCTION,
    Column("Caller", text=True, optional=True, key=True, cell=terminal.caller),
    Column("Where", text=True, key=True, cell=terminal.place),
)
OF_KEY: dict[Key, tuple[Column, ...]] = {
    "site": OF_PLACE,
    "line": OF_PLACE,
    "function": (FUNCTION,),
    "size": (Column("Size", key=True, cell=lambda row: _size(row)),),
    "communicator": (
        Column("Communicator", text=True, key=True, cell=lambda row: row.communicator or NOTHING),
        Column("Ranks", optional=True, cell=lambda row: _grouped(row.communicator_size)),
    ),
    "rank": (Column("Rank", key=True, cell=lambda row: _rank(row)),),
}
# Only where requests have been waited for.
IN_WAITS = Column("In waits", optional=True, cell=lambda row: _duration(row.waited_ns or None))


def _whole(title: str, what: str, error: str, shown: Callable[[Any], str]) -> tuple[Column, Column]:
    """What the calls of a row have in the whole run, and half the width of its interval as a share."""

    def value(row: ProfileRow | CodeTime) -> Any:
        return getattr(row, what) if row.whole_calls else None

    def width(row: ProfileRow | CodeTime) -> str:
        return total_sheet.error(getattr(row, error), value(row)) if value(row) else NOTHING

    is_optional = what != "whole_time_ns"
    return (
        Column(title, optional=is_optional, cell=lambda row: shown(value(row)) if value(row) else NOTHING),
        Column("±", optional=is_optional, cell=width),
    )


# Where some calls were only counted.
OF_WHOLE_RUN = (
    *_whole("All calls", "whole_calls", "whole_calls_error", units.count),
    *_whole("All time", "whole_time_ns", "whole_time_error_ns", units.duration),
    *_whole("All bytes", "whole_bytes", "whole_bytes_error", units.size),
)
MEASURED_ONLY = "Calls are all calls; the rest is that of the spells that were measured (docs/budget.md)"
WHOLE_NOTE = (
    f"{MEASURED_ONLY}. All: an estimate for the whole run, ± half of its 95 % interval; ?: that is not known"
)
BY_OTHERS_NOTE = f"{MEASURED_ONLY}; by site, line or function the whole run is estimated"
REGIONS_NOTE = "Calls and their time are those of the spells that were measured (docs/budget.md)"
PHASES_NOTE = (
    "Time is all time; calls and their time are those of the spells that were measured (docs/budget.md)"
)
OF_A_RANK = (
    Column("Calls", cell=lambda row: units.count(row.calls)),
    Column("MPI time", cell=lambda row: units.duration(row.time_ns)),
    Column("Bytes", cell=lambda row: units.size_or_nothing(row.bytes)),
    Column("MPI share", cell=lambda row: terminal.share(row.mpi_share)),
)
# If functions of other sources are chosen.
OF_A_RANK_OF_OTHERS = (OF_A_RANK[0], replace(OF_A_RANK[1], title="Time"), OF_A_RANK[2])
MPI_ALONE_NOTE = "Rows are of MPI alone; calls of other sources are in rows by site, line or function"
MIXED_NOTE = (
    "Rows are of MPI and of other sources, without parts of OpenMP that contain other calls (docs/profile.md)"
)
LABEL_WIDTH = 24
SHARE_WIDTH = 9  # with the gap behind it
# A share of the time that is not worth mentioning.
MIN_UNKNOWN = 0.01
MIN_UNRETURNED = 0.01


def sheet(
    recording: Run, rows: Sequence[ProfileRow], keys: Sequence[Key], chosen: Chosen | None = None
) -> Sheet:
    """The table of rows of the profile of the run, of calls that are chosen."""
    sites = recording.sites
    if "site" in keys:
        keys = [key for key in keys if key != "line"]
    if {"site", "line"} & set(keys):
        keys = [key for key in keys if key != "function"]
    columns = [column for key in keys for column in OF_KEY[key]]
    if "site" in keys and any(call_path(row.site, sites).path_shown for row in rows):
        columns.insert(columns.index(OF_PLACE[-1]) + 1, _through(sites))
    is_of_mpi = {"site", "line", "function"} & {*keys} or profile.is_of_mpi(
        recording, keys, chosen or Chosen()
    )
    of_all = figures(total_mpi_ns(recording.processes) if is_of_mpi else None)
    columns += [each for each in of_all if not each.optional]
    columns += OF_WHOLE_RUN if has_whole_run(rows) else ()
    columns += [each for each in of_all if each.optional]
    columns += [IN_WAITS] if any(row.waited_ns for row in rows) else []
    result = Sheet.of([*columns, *([WORLD] if recording.worlds > 1 else ())], rows)
    callers = next((at for at, each in enumerate(columns) if each.title == "Caller"), None)
    if callers is not None and all(row[callers] == NOTHING for row in result.rows):
        return result.without(callers)
    return result


def rank_sheet(recording: Run, rows: Sequence[ProfileRow], chosen: Chosen) -> Sheet:
    """One row for each process."""
    is_of_mpi = profile.is_of_mpi(recording, ["rank"], chosen)
    figures_of_rank = OF_A_RANK if is_of_mpi else OF_A_RANK_OF_OTHERS
    columns = [*OF_KEY["rank"], *figures_of_rank, *([WORLD] if recording.worlds > 1 else ())]
    return Sheet.of(columns, rows)


def _through(sites: Sequence[Site]) -> Column:
    """The function by which libraries make calls for the program, if libraries do."""
    return Column(
        "Through",
        text=True,
        key=True,
        cell=lambda row: paths.through(row.function, call_path(row.site, sites)),
    )


def add_paths(shown: Sheet, rows: Sequence[ProfileRow], sites: Sequence[Site]) -> None:
    """Adds the paths as one more column."""
    shown.headings.append(Heading("Path", text=True))
    for cells, row in zip(shown.rows, rows, strict=True):
        cells.append(paths.one_line(call_path(row.site, sites)))


def show(
    out: Console,
    shown: Sheet,
    rows: Sequence[ProfileRow],
    left_out: int,
    sites: Sequence[Site] | None = None,
    *,
    with_paths: bool = False,
) -> None:
    """Prints the sheet of `rows`; `left_out`: the number of further rows.

    With `sites`, the path is printed below rows that look the same; `with_paths`, below all rows.
    """
    below = None if sites is None else [list(paths.lines(call_path(row.site, sites))) for row in rows]
    terminal.show_sheet(out, shown, below=below, below_same_only=not with_paths)
    if left_out:
        out.line(f"… {left_out:,} more rows; --limit 0 shows all")
    if any(row.function == OVERFLOW for row in rows):
        out.paragraph(OVERFLOW_NOTE)


def draw(out: Console, recording: Run, keys: Sequence[str]) -> None:
    """Draws sizes, ranks or peers of all of the run on a terminal; nothing elsewhere."""
    if not out.draws:
        return
    from tare.reporters import profile_drawings

    if list(keys) == ["size"]:
        profile_drawings.sizes(out, recording)
    elif list(keys) == ["rank"]:
        profile_drawings.ranks(out, recording)
    elif "peer" in keys:
        profile_drawings.peers(out, recording)


def has_whole_run(rows: Sequence[ProfileRow] | Sequence[CodeTime]) -> bool:
    """Whether some rows say what they have in the whole run, where calls were only counted."""
    return any(row.whole_calls is not None for row in rows)


def show_what_was_counted(out: Console, rows: Sequence[ProfileRow], keys: Sequence[str]) -> None:
    """Says what the rows are of, for a run in which some calls were only counted."""
    if has_whole_run(rows):
        out.paragraph(WHOLE_NOTE)
    else:
        out.paragraph(MEASURED_ONLY if {"site", "line", "function"} & {*keys} else BY_OTHERS_NOTE)


def show_sources(out: Console, recording: Run, keys: Sequence[str], chosen: Chosen) -> None:
    """Says what sources of events the rows are of, where a row is of several functions."""
    if (
        profile.has_others(recording)
        and not chosen.functions
        and set(keys) <= {"size", "communicator", "rank"}
    ):
        out.paragraph(f"{MPI_ALONE_NOTE if profile.is_of_mpi(recording, keys, chosen) else MIXED_NOTE}.")


def show_unreturned(out: Console, recording: Run) -> None:
    """Time in MPI that no row has, where it matters."""
    unreturned_ns, total_ns = total_unreturned_ns(recording.processes), total_mpi_ns(recording.processes)
    if unreturned_ns <= MIN_UNRETURNED * total_ns:
        return
    text = (
        f"Not in these rows: {units.duration(unreturned_ns)}, {units.percent(unreturned_ns / total_ns)} of "
        "all time in MPI, in calls that have not returned; `tare where` shows them"
    )
    out.paragraph(text)


def show_efficiencies(out: Console, found: Sequence[Efficiency]) -> None:
    """Prints the efficiencies of each world, with a drawing if the console takes one."""
    for efficiency in found:
        name = f"World {efficiency.world}: " if len(found) > 1 else ""
        of = f"{efficiency.ranks:,} of " if efficiency.ranks < efficiency.size else ""
        ranks = of + units.number_of(efficiency.size if of else efficiency.ranks, "rank")
        out.line(f"{name}{ranks}, net time {units.duration(efficiency.net_ns)}", bold=True)
        for label, text in _efficiency_lines(efficiency):
            out.paragraph(text[SHARE_WIDTH:], f"  {label:<{LABEL_WIDTH}}{text[:SHARE_WIDTH]}")
        if out.draws and (named := _parts(efficiency)):
            from tare.reporters import drawing

            drawing.parts(out, named)
    if found:
        out.line()


def _parts(found: Efficiency) -> list[tuple[str, float]]:
    """What the time of the ranks goes to, on average; waiting and transfer are one."""
    shares = list(parts(found).items())
    return [*shares[:2], ("communication", sum(share for _, share in shares[2:]))] if shares else []


def _efficiency_lines(found: Efficiency) -> Iterator[tuple[str, str]]:
    yield "MPI share", _share(found.mpi_share)
    for label, share, what in (
        ("descheduled", found.descheduled_share, scheduling.DESCHEDULED),
        ("blocked", found.blocked_share, scheduling.BLOCKED),
    ):
        if share is not None and share >= scheduling.MIN_SHARE:
            yield label, f"{_share(share)}  of the time at least: {what}"
    if found.ranks == 1:
        return
    most = found.most_computing_rank
    yield "parallel efficiency", f"{_share(found.parallel_efficiency)}  product of the next two"
    yield (
        "  load balance",
        _share(found.load_balance) + (f"  rank {most} computes longest" if most is not None else ""),
    )
    yield "  communication", _share(found.communication_efficiency)
    if found.not_replayed is not None:
        remedy = REMEDIES.get(found.not_replayed)
        reason = f"{found.not_replayed}: {remedy}" if remedy else found.not_replayed
        yield "    its two factors", f"{NOTHING:>7}  {reason}"
        return
    yield "    serialisation", f"{_share(found.serialisation_efficiency)}{_unknown(found)}"
    yield "    transfer", _share(found.transfer_efficiency)


def _unknown(found: Efficiency) -> str:
    share = found.unknown_share
    if share is None or share < MIN_UNKNOWN:
        return ""
    return f"  {units.percent(share)} of the time could not be replayed"


def efficiency_sheet(found: Sequence[Efficiency]) -> Sheet:
    """The figures at the top as a table."""
    several = len(found) > 1
    headings = [Heading("World")] * several + [Heading("Figure", text=True), Heading("Value", text=True)]
    rows = [
        [str(each.world)] * several + [label.strip(), " ".join(text.split())]
        for each in found
        for label, text in _efficiency_lines(each)
    ]
    return Sheet(headings, rows)


def _share(share: float | None) -> str:
    return f"{units.percent(share):>7}" if share is not None else f"{NOTHING:>7}"


def figures(total_ns: int | None) -> list[Column]:
    """The figures of every row; `total_ns`: all time in MPI, None if rows have other calls among those."""
    of_mpi = [] if total_ns is None else [Column("Of MPI", cell=lambda row: _of_mpi(row, total_ns))]
    return [
        Column("Calls", cell=lambda row: units.count(row.calls)),
        Column("Time", cell=_time),
        *of_mpi,
        Column("Bytes", cell=lambda row: units.size_or_nothing(row.bytes)),
        Column("Imbalance", optional=True, cell=lambda row: _duration(row.imbalance_ns, row.timed)),
        Column("Mean", optional=True, cell=lambda row: _duration(row.mean_ns, row.timed)),
        Column("Longest", optional=True, cell=lambda row: _duration(row.max_ns, row.timed)),
    ]


def _size(row: ProfileRow) -> str:
    if row.size_from is None or row.size_to is None:
        return NOTHING
    return units.size_range(row.size_from, row.size_to)


def _rank(row: ProfileRow) -> str:
    return NOTHING if row.rank is None else terminal.rank(row.rank, getattr(row, "pid", None))


def _grouped(number: int | None) -> str:
    return NOTHING if number is None else f"{number:,}"


def _of_mpi(row: ProfileRow, total_ns: int) -> str:
    within = row.timed and row.function not in OUTSIDE_NET
    return units.percent(row.time_ns / total_ns) if within and total_ns else NOTHING


def _duration(time_ns: float | None, is_known: bool = True) -> str:
    return units.duration(time_ns) if is_known and time_ns is not None else NOTHING


def _time(row: ProfileRow) -> str:
    if not row.timed:
        return "counted" if row.counted == row.calls else NOTHING
    return ("~" if row.estimated_calls else "") + units.duration(row.time_ns)
