"""Events, flushes and bytes by phase and rank, of runs whose traces are made up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import duckdb
import pandas as pd
import pytest
from made import made
from made_up_runs import described, outcome, rows_of, sections, stored
from tare import _native
from tare.analysis.rows import changed
from tare.lab.study import phased
from tare.lab.study.counts import Counts, RankCounts
from tare.lab.study.phased import InPhase
from tare.lab.study.plan import Cell
from tare.lab.study.runner import Outcome
from tare.lab.study.sections import Table
from tare.lab.study.store import FILE
from tare.runs.run import Run

TITLE = "Events, flushes and bytes by phase"
STUDY = """
[workload.smg]
command = "true"
[mpi.x]
launch = "env -n {{ranks}}"
[factors]
tool = {tools}
"""
# Table 2 of Mohror and Karavanic, by rank; bytes are 24 for each event that was flushed.
EVENTS = {
    "Struct Interface": (1_018, 1_158, 1_158, 970),
    "SMG Setup": (2_598_632, 3_019_360, 3_173_376, 2_419_444),
    "SMG Solve": (3_851_161, 3_793_449, 4_074_823, 3_455_449),
    None: (10, 10, 10, 10),
}
FLUSHES = {
    "Struct Interface": (0, 0, 0, 0),
    "SMG Setup": (39, 46, 48, 36),
    "SMG Solve": (59, 57, 62, 53),
    None: (0, 0, 0, 0),
}
FLUSH_BYTES = 24 * 65_536


def table_2(ranks: int = 4) -> tuple[InPhase, ...]:
    """The values of the paper's table; ranks beyond the table's have what rank 1 has."""
    return tuple(
        InPhase(rank, phase, events[of], FLUSHES[phase][of], FLUSH_BYTES * FLUSHES[phase][of])
        for rank in range(ranks)
        for of in (rank if rank < 4 else 1,)
        for phase, events in EVENTS.items()
        if phase != "Struct Interface" or rank != 7  # which never was in it
    )


def traced(
    tmp_path: Path, phases: Sequence[InPhase], tools: Sequence[str] = ("none", "tare", "tare-trace")
) -> Path:
    """Three blocks; the trace of the second is not read for phases."""

    def run_of(block: int, cell: Cell) -> Outcome:
        traced = cell.level("tool") == "tare-trace"
        counts = Counts(
            1000 if cell.level("tool") != "none" else 0,
            events=1000 if traced else 0,
            ranks=(RankCounts(0, 1000, 1000, 1, 0.1, 100),) if traced else (),
            phases=tuple(phases) if traced and block != 2 else (),
        )
        return replace(outcome(10**9, None), counts=counts)

    return stored(described(tmp_path, STUDY.format(tools=list(tools))), (1, 2, 3), run_of)


def rows(path: Path, title: str) -> list[dict[str, Any]]:
    (found,) = sections(path, TITLE)
    (table,) = (part for part in found.parts if isinstance(part, Table) and part.title == title)
    return rows_of(table)


def test_table_2_stands_in_the_report(tmp_path: Path) -> None:
    path = traced(tmp_path, table_2())
    summary = rows(path, "By phase, over ranks")
    assert [row["phase"] for row in summary] == [
        "Struct Interface",
        "SMG Setup",
        "SMG Solve",
        "(in no phase)",
    ]
    assert {(row["run"], row["runs"], row["ranks"]) for row in summary} == {("tare-trace", 2, 4)}
    setup = summary[1]
    assert setup["events, mean"] == sum(EVENTS["SMG Setup"]) / 4
    assert (setup["fewest .. most events"], setup["ranks with these events"]) == (
        (2_419_444, 3_173_376),
        (3, 2),
    )
    assert (setup["flushes, mean"], setup["fewest .. most flushes"]) == (42.25, (36, 48))
    assert setup["ranks with these flushes"] == setup["ranks with these bytes"] == (3, 2)
    assert setup["least .. most bytes"] == (36 * FLUSH_BYTES, 48 * FLUSH_BYTES)
    single = {(row["phase"], row["rank"]): row for row in rows(path, "By phase and rank")}
    assert len(single) == 16
    solve = single["SMG Solve", 2]
    assert (solve["events"], solve["flushes"], solve["bytes"]) == (4_074_823, 62, 62 * FLUSH_BYTES)


def test_of_many_ranks_the_extremes_are_named(tmp_path: Path) -> None:
    path = traced(tmp_path, table_2(100))
    interface, setup, *_ = rows(path, "By phase, over ranks")
    assert (setup["ranks"], setup["ranks with these events"]) == (100, (3, 2))
    assert (interface["fewest .. most events"], interface["ranks with these events"]) == ((0, 1_158), (7, 1))
    (found,) = sections(path, TITLE)
    assert len(found.parts) == 1


def test_many_ranks_of_a_program_without_phases(tmp_path: Path) -> None:
    path = traced(tmp_path, [InPhase(rank, None, 100 + rank, 0, 0) for rank in range(40)])
    (row,) = rows(path, "By phase, over ranks")
    assert (row["phase"], row["ranks"], row["fewest .. most events"]) == ("(in no phase)", 40, (100, 139))


def test_what_is_not_known_is_told(tmp_path: Path) -> None:
    (row,) = rows(traced(tmp_path, ()), "By phase, over ranks")
    assert (row["run"], row["phase"], row["runs"], row["ranks"]) == ("tare-trace", "(not known)", 0, None)


def test_results_of_before_are_readable(tmp_path: Path) -> None:
    path = traced(tmp_path, table_2())
    with duckdb.connect(str(tmp_path / "results" / FILE)) as connection:
        connection.execute("DROP TABLE phases")
    assert [row["phase"] for row in rows(path, "By phase, over ranks")] == ["(not known)"]


def test_without_a_trace_of_tare_there_is_no_such_section(tmp_path: Path) -> None:
    assert not sections(traced(tmp_path, (), ("none", "tare")), TITLE)


class MadeUpRun:
    """A run of two ranks, each with a thread; rank 0 marks phases."""

    worlds = 1
    # Start, duration, function or None, name, begin (of phases), bytes (of flushes).
    TRACE = (
        (100, 10, "MPI_Init", None, None, None),
        (200, 0, None, "a", True, None),
        (210, 10, "MPI_Send", None, None, None),
        (225, 0, None, "b", True, None),
        (230, 10, "MPI_Send", None, None, None),
        (240, 50, "tare:flush", None, None, 30),  # of 30 bytes, in b, although it ends in no phase
        (245, 0, None, "a", False, None),  # a, around b, ends first
        (250, 10, "MPI_Send", None, None, None),  # still in b
        (270, 0, None, "b", False, None),
        (280, 0, None, "mine", None, None),  # an event of the program, no phase
        (290, 20, "MPI_Pcontrol", None, None, None),  # begins a once more, and counts for it
        (300, 0, None, "a", True, None),
        (305, 5, "tare:loss", None, None, None),  # no event of the program
        (320, 9, "tare:drain", None, None, 7),
        (400, 0, None, "a", False, None),
        (410, 10, "MPI_Finalize", None, None, None),
    )
    EXPECTED = (
        InPhase(0, "a", 6, 1, 7),  # two begins, two ends, a send, MPI_Pcontrol
        InPhase(0, "b", 4, 1, 30),
        InPhase(0, None, 3, 0, 0),
        InPhase(1, "a", 0, 0, 0),
        InPhase(1, "b", 0, 0, 0),
        InPhase(1, None, 2, 0, 0),
    )

    def __init__(self) -> None:
        trace = {"policy": "block"}
        of_zero = made(_native.Cost, flushes=1, drains=1, flush_bytes=30, drain_bytes=7)
        self.processes = [
            made(
                _native.Process, rank=0, size=2, trace=made(_native.Trace, **trace, records=13), cost=of_zero
            ),
            made(
                _native.Process,
                rank=1,
                size=2,
                trace=made(_native.Trace, **trace, records=2),
                cost=_native.Cost(),
            ),
        ]
        self.entries = {"a": 2, "b": 1}
        self.read = 0

    def phases(self) -> list[Any]:
        rows: list[tuple[int, str | None, int]] = [(rank, None, 0) for rank in (0, 1)]
        rows += [(0, name, entries) for name, entries in self.entries.items()]
        return [SimpleNamespace(rank=rank, phase=name, entries=entries) for rank, name, entries in rows]

    def rows(self, table: list[Any]) -> list[Any]:
        return table

    def event_table(self, *, columns: Sequence[str]) -> pd.DataFrame:
        self.read += 1
        of_zero = [
            (0, 0, start, duration, function, None if function else "phase" if begin is not None else "event",
             name, begin, size)
            for start, duration, function, name, begin, size in self.TRACE
        ]  # fmt: skip
        of_one = [
            (1, 0, at, 10, function, None, None, None, None)
            for at, function in ((100, "MPI_Init"), (400, "MPI_Finalize"))
        ]
        names = ("rank", "thread", "start_ns", "duration_ns", "function", "kind", "name", "begin", "bytes")
        frame = pd.DataFrame(of_zero + of_one, columns=list(names))
        return frame[list(columns)].astype({"bytes": "Int64", "begin": "boolean"})


def by_phase(run: MadeUpRun, whole: bool = True) -> tuple[InPhase, ...]:
    return phased.of_run(cast("Run", run), whole)


def test_each_event_counts_for_the_innermost_phase() -> None:
    assert by_phase(MadeUpRun()) == MadeUpRun.EXPECTED


def test_a_program_without_phases_is_known_without_its_trace() -> None:
    run = MadeUpRun()
    run.entries = {}
    assert by_phase(run, whole=False) == (InPhase(0, None, 13, 2, 37), InPhase(1, None, 2, 0, 0))
    assert run.read == 0


def test_a_trace_with_phases_is_read_only_where_there_is_time() -> None:
    run = MadeUpRun()
    assert (by_phase(run, whole=False), run.read) == ((), 0)


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("trace", "policy", None),
        ("trace", "written", False),
        ("trace", "dropped", 1),
        ("trace", "overwritten_bytes", 1),
        ("trace", "kept_newest", True),
        ("trace", "records", 14),  # one is not in the trace
        ("cost", "flush_bytes", 31),
    ],
)
def test_of_an_incomplete_trace_nothing_is_said(part: str, field: str, value: object) -> None:
    run = MadeUpRun()
    of_zero = run.processes[0]
    parts = {"trace": of_zero.trace, "cost": of_zero.cost}
    parts[part] = changed(parts[part], **{field: value})
    run.processes[0] = made(_native.Process, rank=0, size=2, **parts)
    assert by_phase(run) == ()


def test_of_ranks_or_phases_that_are_missing_nothing_is_said() -> None:
    run = MadeUpRun()
    del run.processes[1]
    assert by_phase(run) == ()
    run = MadeUpRun()
    run.entries["a"] = 3  # the trace has two
    assert by_phase(run) == ()
