"""Functions or lines of a run as text: those of the program, by samples of stacks, among calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from tare import units
from tare.reporters import names, terminal
from tare.reporters.profile import OF_WHOLE_RUN, has_whole_run
from tare.reporters.sheet import WORLD, Column, Sheet
from tare.streams import visible
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare.analysis.code_times import CodeTime
    from tare.analysis.rank_differences import More
    from tare.analysis.sampled_parts import CallSite, PartTime

NOTE = (
    "Rows with a number of calls: the time in these calls. Others: processor time, by samples of the "
    "stacks; ±: half of its 95 % interval. Whole: with the functions that they call (docs/stacks.md)"
)
NOTE_OF_PARTS = (
    "Processor time outside of calls, by samples of the stacks in the trace; ±: half of its 95 % interval"
)
NOTES_OF_PARTS = {
    "phase": "Phases are those that the program marks",
    "detected": "The program marks no phases, so these are what the trace shows (tare phases)",
    "iteration": "Phases and iterations are what the trace shows (tare phases)",
    "between": "Since, until: the calls of MPI before and after, of any thread of the rank",
}
NOTE_OF_RANKS = (
    "More: the time beyond the mean of the ranks. Real: whether that is no chance, corrected for the number "
    "of comparisons; of calls, there is no chance in it"
)
SENTENCES = 10
VERDICTS = {True: "yes", False: "no", None: NOTHING}


def sheet(rows: Sequence[CodeTime], keys: Sequence[str], worlds: int, total_ns: int) -> Sheet:
    """One line for each row; `total_ns`: what shares are of."""
    columns: list[Column] = [
        Column("Function", text=True, key=True, cell=lambda row: visible(names.of_code(row.function)))
    ]
    if "line" in keys:
        columns.append(Column("Where", text=True, cell=_line))
    columns.append(Column("In", text=True, optional=True, cell=_where))
    if {"rank", "thread"} & set(keys):
        columns += [WORLD] if worlds > 1 else []
        columns.append(Column("Rank", cell=lambda row: terminal.rank(row.rank, row.pid)))
    if "thread" in keys:
        columns.append(Column("Thread", cell=lambda row: str(row.thread)))
    columns += [
        Column(
            "Calls", optional=True, cell=lambda row: NOTHING if row.calls is None else units.count(row.calls)
        ),
        Column("Time", cell=lambda row: units.duration(row.time_ns)),
        Column("±", cell=lambda row: units.duration(row.error_ns) if row.error_ns else NOTHING),
        *(OF_WHOLE_RUN if has_whole_run(rows) else ()),
    ]
    mean = Column(
        "Rank mean",
        optional=True,
        cell=lambda row: NOTHING if row.rank_mean_ns is None else units.duration(row.rank_mean_ns),
    )
    if "rank" in keys:
        if all(row.rank_mean_ns is None for row in rows):
            return Sheet.of(columns, rows)
        columns += [
            mean,
            Column("More", cell=lambda row: NOTHING if row.more_ns is None else signed(row.more_ns)),
            Column(
                "± of it",
                cell=lambda row: units.duration(row.more_error_ns) if row.more_error_ns else NOTHING,
            ),
            Column("Real", cell=lambda row: VERDICTS[row.more_is_certain]),
        ]
        return Sheet.of(columns, rows)
    columns += [
        Column(
            "Share",
            cell=lambda row: (
                units.percent(row.time_ns / total_ns) if total_ns and not row.contains_others else NOTHING
            ),
        ),
        Column("Whole", optional="line" in keys, cell=lambda row: units.duration(row.with_callees_ns)),
    ]
    if "thread" not in keys and any(
        row.rank_max_ns is not None and row.rank_max_ns < row.time_ns for row in rows
    ):  # there are several ranks
        columns += [
            mean,
            Column("Longest", optional=True, cell=lambda row: units.duration(row.rank_max_ns)),
            Column("Of rank", optional=True, cell=lambda row: _rank(row.rank_max)),
        ]
    return Sheet.of(columns, rows)


def part_sheet(rows: Sequence[PartTime], keys: Sequence[str]) -> Sheet:
    """One line for each function or line in a part of the run."""
    columns: list[Column] = [
        Column("Function", text=True, key=True, cell=lambda row: visible(names.of_code(row.function)))
    ]
    if "line" in keys:
        columns.append(Column("Where", text=True, cell=_line))
    columns.append(
        Column(
            "In",
            text=True,
            optional=True,
            cell=lambda row: visible(PurePath(row.file or row.object or NOTHING).name),
        )
    )
    if "between" in keys:
        columns += [
            Column("Since", text=True, cell=lambda row: _call(row.since)),
            Column("Until", text=True, cell=lambda row: _call(row.until)),
        ]
    else:
        columns.append(Column("Phase", text=True, cell=lambda row: visible(row.phase or NOTHING)))
    if "iteration" in keys:
        columns.append(
            Column(
                "Iteration", cell=lambda row: NOTHING if row.iteration is None else units.count(row.iteration)
            )
        )
    columns += [
        Column("Time", cell=lambda row: units.duration(row.time_ns)),
        Column("±", cell=lambda row: units.duration(row.error_ns)),
        Column("Samples", cell=lambda row: units.count(row.samples)),
        Column("Ranks", optional=True, cell=lambda row: units.count(row.ranks)),
    ]
    return Sheet.of(columns, rows)


def total_ns(rows: Sequence[CodeTime]) -> int:
    """The time that shares are of: without constructs whose time other rows have, too."""
    return sum(row.time_ns for row in rows if not row.contains_others)


def sentences(found: Sequence[More], ranks: dict[int, int], most: int = SENTENCES) -> Iterator[str]:
    """Functions of the program in which ranks differ from their mean; `ranks`: how many a world has."""
    several = len(ranks) > 1
    for each in found[:most]:
        what = "more" if each.more_ns >= 0 else "less"
        of_world = f" of world {each.world}" if several else ""
        yield (
            f"Rank {each.rank}{of_world} spends {units.duration(abs(each.more_ns))} "
            f"(± {units.duration(each.error_ns)}) {what} in {visible(names.of_code(each.function))} than "
            f"the mean of the {ranks[each.world]:,} ranks"
        )
    if len(found) > most:
        left = units.number_of(len(found) - most, "more such difference", "more such differences")
        yield f"There {'is' if len(found) == most + 1 else 'are'} {left}"


def signed(time_ns: float) -> str:
    """A difference of times, with its sign."""
    return f"{'-' if time_ns < 0 else '+'}{units.duration(abs(time_ns))}"


def _call(call: CallSite | None) -> str:
    if call is None:
        return NOTHING
    at = f":{call.line}" if call.line else ""
    return f"{call.function} {visible(names.of_code(call.caller))}{at}" if call.caller else call.function


def _rank(rank: int | None) -> str:
    return NOTHING if rank is None or rank < 0 else str(rank)


def _line(row: CodeTime) -> str:
    if row.file and row.line:
        return visible(f"{PurePath(row.file).name}:{row.line}")
    return NOTHING


def _where(row: CodeTime) -> str:
    if row.source != "program":
        return row.source
    return visible(PurePath(row.file or row.object or NOTHING).name)
