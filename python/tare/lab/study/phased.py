"""What a trace of tare holds of the phases that the program marks: events, flushes and bytes of each rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare import databases
from tare.runs import sql

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from tare.runs.run import Run

# Begins of phases in a run, above which they are not looked at: those of all threads are held in memory.
MAX_BEGINS = 1_000_000
VECTORS = 100  # of 2048 rows each: so much of a trace is held in memory
COLUMNS = ("rank", "thread", "start_ns", "duration_ns", "function", "kind", "name", "begin", "bytes")
BOUNDS = "SELECT rank, thread, start_ns, name, \"begin\" FROM trace WHERE kind = 'phase'"
# A call counts where it ends, as in the profile: MPI_Pcontrol counts for the phase that it begins.
REST = """
SELECT rank, thread, is_flush, CASE WHEN is_flush THEN 0 ELSE 1 END AS events,
    CASE WHEN is_flush THEN start_ns ELSE start_ns + coalesce(duration_ns, 0) END AS at_ns,
    CASE WHEN is_flush THEN coalesce(bytes, 0) ELSE 0 END AS bytes
FROM (SELECT *, coalesce(function IN ('tare:flush', 'tare:drain'), false) AS is_flush FROM trace)
WHERE kind IS DISTINCT FROM 'phase' AND (is_flush OR NOT coalesce(starts_with(function, 'tare:'), false))
"""


@dataclass(frozen=True)
class InPhase:
    """What one rank recorded and wrote in one phase, without the phases nested in it."""

    rank: int
    phase: str | None  # None: outside all phases
    events: int
    flushes: int  # by threads and by tared
    bytes: int  # bytes that these wrote


@dataclass
class _Course:
    """The phases of a thread one after another; the first stretch is that before any phase."""

    since_ns: list[int] = field(default_factory=list)  # when each stretch but the first begins
    phases: list[str | None] = field(default_factory=lambda: [None])  # the innermost phase of each stretch
    outer: list[str | None] = field(default_factory=list)  # the phases around the present one

    def switch(self, at_ns: int, name: str, begins: bool) -> None:
        """A phase begins or ends, by the rules of the recorder (src/recorder/phases.cpp)."""
        phase = self.phases[-1]
        if begins:
            self.outer.append(phase)
            phase = name
        elif phase == name and self.outer:
            phase = self.outer.pop()
        elif name in self.outer:
            del self.outer[len(self.outer) - 1 - self.outer[::-1].index(name)]
        self.since_ns.append(at_ns)
        self.phases.append(phase)


def of_run(recording: Run, whole: bool) -> tuple[InPhase, ...]:
    """A row for each rank and phase, and for each rank outside of phases; none if the numbers are not known.

    `whole`: the trace may be read, which takes long. It is needed only if the program marks phases.
    """
    if not _holds_all(recording):
        return ()
    totals = {
        process.rank: InPhase(
            process.rank,
            None,
            process.trace.records,
            process.cost.flushes + process.cost.drains,
            process.cost.flush_bytes + process.cost.drain_bytes,
        )
        for process in recording.processes
    }
    sums = recording.rows(recording.phases())
    if any(each.phase == "other" for each in sums):
        return ()  # a thread had no room for all its phases
    begins: Counter[tuple[int, str]] = Counter()
    for each in sums:
        if each.phase is not None:
            begins[each.rank, each.phase] += each.entries
    if not begins:
        return tuple(totals.values())
    if not whole or begins.total() > MAX_BEGINS:
        return ()
    return _in_trace(recording, totals, begins)


def _holds_all(recording: Run) -> bool:
    """Whether every rank of a single world has left a trace from which nothing is missing."""
    processes = recording.processes
    return (
        bool(processes)
        and [each.rank for each in processes] == list(range(processes[0].size))
        and recording.worlds == 1
        and all(
            trace.policy is not None
            and trace.written
            and not (trace.dropped or trace.overwritten_bytes or trace.kept_newest)
            for trace in (each.trace for each in processes)
        )
    )


def _in_trace(
    recording: Run, totals: dict[int, InPhase], begins: Counter[tuple[int, str]]
) -> tuple[InPhase, ...]:
    connection = sql.connect({"trace": recording.event_table(columns=COLUMNS)})
    try:
        with databases.errors("the phases of its trace cannot be read"):
            return _compared(connection, totals, begins)
    finally:
        connection.close()


def _compared(
    connection: DuckDBPyConnection, totals: dict[int, InPhase], begins: Counter[tuple[int, str]]
) -> tuple[InPhase, ...]:
    """Empty if the trace does not have all that the profiles have counted."""
    courses, bounds, begun = _courses(connection)
    if begun != begins:
        return ()
    names = list(dict.fromkeys(phase for _, phase in bounds))
    found = {(rank, phase): [bounds[rank, phase], 0, 0] for rank in totals for phase in (*names, None)}
    for key, numbers in _counted(connection, courses):
        if key in found:
            found[key] = [sum(pair) for pair in zip(found[key], numbers, strict=True)]
    rows = tuple(InPhase(rank, phase, *numbers) for (rank, phase), numbers in found.items())
    sums = {rank: [0, 0, 0] for rank in totals}
    for row in rows:
        sums[row.rank] = [
            sum(pair) for pair in zip(sums[row.rank], (row.events, row.flushes, row.bytes), strict=True)
        ]
    agrees = all(sums[rank] == [each.events, each.flushes, each.bytes] for rank, each in totals.items())
    return rows if agrees else ()


def _courses(
    connection: DuckDBPyConnection,
) -> tuple[dict[tuple[int, int], _Course], Counter[tuple[int, str | None]], Counter[tuple[int, str]]]:
    """The courses by rank and thread; the numbers of begins and ends, and of begins, by rank and phase."""
    courses: dict[tuple[int, int], _Course] = {}
    bounds: Counter[tuple[int, str | None]] = Counter()
    begun: Counter[tuple[int, str]] = Counter()
    rows = connection.execute(BOUNDS).fetchall()
    for rank, thread, at_ns, name, begins in sorted(rows, key=lambda row: row[:3]):
        courses.setdefault((rank, thread), _Course()).switch(at_ns, name, begins)
        bounds[rank, name] += 1
        begun[rank, name] += begins
    return courses, bounds, begun


def _counted(
    connection: DuckDBPyConnection, courses: dict[tuple[int, int], _Course]
) -> Iterator[tuple[tuple[int, str | None], tuple[int, int, int]]]:
    """Events, flushes and bytes by rank and phase, without begins and ends; several for each."""
    import numpy as np

    connection.execute(REST)
    while len(chunk := connection.fetch_df_chunk(VECTORS)):
        for (rank, thread), rows in chunk.groupby(["rank", "thread"]):
            course = courses.get((rank, thread), _Course())
            stretches = np.searchsorted(course.since_ns, rows["at_ns"].to_numpy(), side="right")
            sums = rows[["events", "is_flush", "bytes"]].groupby(stretches).sum()
            for at, events, flushes, written in sums.itertuples():
                yield (int(rank), course.phases[at]), (int(events), int(flushes), int(written))
