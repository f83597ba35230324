"""The profile as text: a sheet of its rows, and the efficiencies above it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tare import units
from tare.analysis.efficiency import NO_TRACE, TOO_MANY_RECORDS
from tare.analysis.profile import call_path
from tare.analysis.ranks import total_mpi_ns, total_unreturned_ns
from tare.functions import OUTSIDE_NET
from tare.reporters import drawing, paths, profile_drawings, scheduling, terminal
from tare.reporters import totals as total_sheet
from tare.reporters.sheet import Heading, Sheet
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare._native import Site
    from tare._tables import ProfileRow
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
OF_PLACE = (
    Heading("Function", text=True, key=True),
    Heading("Caller", text=True, optional=True, key=True),
    Heading("Where", text=True, key=True),
)
OF_KEY: dict[Key, tuple[Heading, ...]] = {
    "site": OF_PLACE,
    "line": OF_PLACE,
    "function": (Heading("Function", text=True, key=True),),
    "size": (Heading("Size", key=True),),
    "communicator": (Heading("Communicator", text=True, key=True), Heading("Ranks", optional=True)),
    "rank": (Heading("Rank", key=True),),
}
FIGURES = (
    Heading("Calls"), Heading("Time"), Heading("Of MPI"), Heading("Bytes"),
    Heading("Imbalance", optional=True), Heading("Mean", optional=True), Heading("Longest", optional=True),
)  # fmt: skip
# Only where requests have been waited for.
IN_WAITS = Heading("In waits", optional=True)
# Where some calls were only counted: all calls, and half the widths of intervals as shares.
OF_WHOLE_RUN = (
    Heading("All calls"), Heading("±"), Heading("All time"), Heading("±"),
    Heading("All bytes", optional=True), Heading("±", optional=True),
)  # fmt: skip
MEASURED_ONLY = "Calls are all calls; the rest is that of the spells that were measured (docs/budget.md)"
WHOLE_NOTE = (
    f"{MEASURED_ONLY}. All: an estimate for the whole run, ± half of its 95 % interval; ?: that is not known"
)
BY_OTHERS_NOTE = f"{MEASURED_ONLY}; by site, line or function the whole run is estimated"
OF_A_RANK = (Heading("Calls"), Heading("MPI time"), Heading("Bytes"), Heading("MPI share"))
LABEL_WIDTH = 24
# A share of the time that is not worth mentioning.
MIN_UNKNOWN = 0.01
MIN_UNRETURNED = 0.01


def sheet(recording: Run, rows: Sequence[ProfileRow], keys: Sequence[Key]) -> Sheet:
    """The table of rows of the profile of the run."""
    total_ns, worlds, sites = total_mpi_ns(recording.processes), recording.worlds, recording.sites
    if "site" in keys:
        keys = [key for key in keys if key != "line"]
    if {"site", "line"} & set(keys):
        keys = [key for key in keys if key != "function"]
    between = "site" in keys and any(call_path(row.site, sites).path_shown for row in rows)
    headings = [heading for key in keys for heading in (*OF_KEY[key], *_between(key, between))]
    waited = any(row.waited_ns for row in rows)
    headings += FIGURES
    headings += [IN_WAITS] if waited else []
    whole = has_whole_run(rows)
    headings += OF_WHOLE_RUN if whole else ()
    if worlds > 1:
        headings.append(Heading("World", key=True))
    result = Sheet(headings)
    for row in rows:
        cells: list[str] = []
        for key in keys:
            cells += (*_key_cells(row, key), *_through(row, key, between, sites))
        cells += _figures(row, total_ns)
        cells += [units.duration(row.waited_ns) if row.waited_ns else NOTHING] if waited else []
        cells += _of_whole_run(row) if whole else []
        result.rows.append(cells + ([str(row.world)] if worlds > 1 else []))
    callers = next((column for column, each in enumerate(headings) if each.title == "Caller"), None)
    if callers is not None and all(row[callers] == NOTHING for row in result.rows):
        return result.without(callers)
    return result


def rank_sheet(rows: Sequence[ProfileRow], worlds: int) -> Sheet:
    """One row for each process."""
    world = [Heading("World", key=True)] if worlds > 1 else []
    result = Sheet([*OF_KEY["rank"], *OF_A_RANK, *world])
    for row in rows:
        result.rows.append(
            [
                terminal.rank(row.rank),
                units.count(row.calls),
                units.duration(row.time_ns),
                units.size(row.bytes) if row.bytes else NOTHING,
                units.percent(row.mpi_share),
                *([str(row.world)] if worlds > 1 else []),
            ]
        )
    return result


def _between(key: Key, between: bool) -> tuple[Heading, ...]:
    return (Heading("Through", text=True, key=True),) if between and key == "site" else ()


def _through(row: ProfileRow, key: Key, between: bool, sites: Sequence[Site]) -> list[str]:
    """The function by which libraries make calls for the program, if libraries do."""
    return [paths.through(row.function, call_path(row.site, sites))] if between and key == "site" else []


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
    if list(keys) == ["size"]:
        profile_drawings.sizes(out, recording)
    elif list(keys) == ["rank"]:
        profile_drawings.ranks(out, recording)
    elif "peer" in keys:
        profile_drawings.peers(out, recording)


def has_whole_run(rows: Sequence[ProfileRow]) -> bool:
    """Whether some rows say what they have in the whole run, where calls were only counted."""
    return any(row.whole_calls is not None for row in rows)


def show_what_was_counted(out: Console, rows: Sequence[ProfileRow]) -> None:
    """Says what the rows are of, for a run in which some calls were only counted."""
    out.paragraph(WHOLE_NOTE if has_whole_run(rows) else BY_OTHERS_NOTE)


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
        ranks = f"{efficiency.ranks:,} rank{'s' if efficiency.ranks != 1 else ''}"
        out.line(f"{name}{ranks}, net time {units.duration(efficiency.net_ns)}", bold=True)
        for label, text in _efficiency_lines(efficiency):
            out.line(f"  {label:<{LABEL_WIDTH}}{text}"[: out.width])
        if out.draws and (named := _parts(efficiency)):
            drawing.parts(out, named)
    out.line()


def _parts(found: Efficiency) -> list[tuple[str, float]]:
    """What the time of the ranks goes to, on average."""
    computing, most = found.parallel_efficiency, found.communication_efficiency
    if computing is None or most is None:
        return []
    return [("computing", computing), ("imbalance", max(most - computing, 0)), ("communication", 1 - most)]


def _efficiency_lines(found: Efficiency) -> Iterator[tuple[str, str]]:
    yield "MPI share", _share(found.mpi_share)
    for label, share, what in (
        ("descheduled", found.descheduled_share, scheduling.DESCHEDULED),
        ("blocked", found.blocked_share, scheduling.BLOCKED),
    ):
        if share is not None and share >= scheduling.MIN_SHARE:
            yield label, f"{_share(share)}  of the time: {what}"
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


def _key_cells(row: ProfileRow, key: Key) -> list[str]:
    if key in ("site", "line"):
        return [row.function, terminal.caller(row), terminal.place(row)]
    if key == "size":
        if row.size_from is None or row.size_to is None:
            return [NOTHING]
        return [units.size_range(row.size_from, row.size_to)]
    if key == "communicator":
        size = row.communicator_size
        return [row.communicator or NOTHING, NOTHING if size is None else f"{size:,}"]
    if key == "rank":
        return [NOTHING if row.rank is None else terminal.rank(row.rank)]
    return [row.function]


def _figures(row: ProfileRow, total_ns: int) -> list[str]:
    timed = row.timed
    within = timed and row.function not in OUTSIDE_NET
    return [
        units.count(row.calls),
        _time(row),
        units.percent(row.time_ns / total_ns) if within and total_ns else NOTHING,
        units.size(row.bytes) if row.bytes else NOTHING,
        units.duration(row.imbalance_ns) if row.imbalance_ns is not None and timed else NOTHING,
        units.duration(row.mean_ns) if timed else NOTHING,
        units.duration(row.max_ns) if timed else NOTHING,
    ]


def _time(row: ProfileRow) -> str:
    if not row.timed:
        return "counted" if row.counted else NOTHING
    return ("~" if row.estimated_calls else "") + units.duration(row.time_ns)


def _of_whole_run(row: ProfileRow) -> list[str]:
    if not row.whole_calls:
        return [NOTHING] * len(OF_WHOLE_RUN)
    cells = [units.count(row.whole_calls), total_sheet.error(row.whole_calls_error, row.whole_calls)]
    if row.whole_time_ns is None:
        return [*cells, *[NOTHING] * 4]
    cells += [
        units.duration(row.whole_time_ns),
        total_sheet.error(row.whole_time_error_ns, row.whole_time_ns),
    ]
    if not row.whole_bytes:
        return [*cells, NOTHING, NOTHING]
    return [*cells, units.size(row.whole_bytes), total_sheet.error(row.whole_bytes_error, row.whole_bytes)]
