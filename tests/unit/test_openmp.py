"""Regions of OpenMP and POP's efficiencies of hybrid programs, computed by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from made import made
from tare._native import Process
from tare.analysis import tables
from tare.analysis.efficiency import efficiencies
from tare.analysis.hybrid import (
    MORE_THREADS,
    NO_ROOM,
    NOT_ALL,
    NOT_ENDED,
    hybrid_efficiencies,
    useful_of_threads,
)
from tare.analysis.regions import limits, summed
from tare.analysis.rows import changed
from tare.reporters import openmp
from tare.reporters.tables import sheet

NO_PLACE = {"object": None, "offset": None, "tail_call": None}


def row(rank: int, thread: int, line: int, **values: int) -> Any:
    """A row of the table `regions`; without values, the thread was not in the region."""
    known = dict.fromkeys(("regions", "regions_ns", "calls", "team_ns", "work_ns", "idle_ns", "wait_ns"), 0)
    known |= {
        "world": 0,
        "rank": rank,
        "pid": 100 + rank,
        "thread": thread,
        "site": line,
        "start_ns": 5,
    } | values
    return SimpleNamespace(file="a.c", line=line, caller="solve", **NO_PLACE, **known)


# Rank 0: a region of 10 calls, 400 ns. Thread 0 works 400 ns in it, thread 1 100 ns. Rank 1: half idle.
ROWS = [
    row(0, 0, 7, regions=10, regions_ns=400, calls=10, team_ns=400, work_ns=400),
    row(0, 1, 7, calls=10, team_ns=400, work_ns=100),
    row(1, 0, 7, regions=5, regions_ns=100, calls=5, team_ns=100, work_ns=50),
    row(1, 1, 7, calls=5, team_ns=100, work_ns=50),
    row(1, 0, 9, regions=1, regions_ns=50, calls=1, team_ns=50, work_ns=50),
]
PROCESSES = [
    made(
        Process, world=0, rank=rank, pid=100 + rank, start_ns=5, size=2, net_ns=1000, threads_ns=1000,
        mpi_ns=mpi_ns, has_results=True, state="finished",
    )
    for rank, mpi_ns in enumerate((100, 600))
]  # fmt: skip


def test_regions_by_line() -> None:
    first, second = summed(ROWS)
    assert (first.line, first.calls, first.time_ns, first.threads) == (7, 15, 500, 4)
    assert (first.team_ns, first.work_ns, first.idle_ns, first.idle_share) == (1000, 600, 400, 0.4)
    assert (first.work_mean_ns, first.work_max_ns) == (150, 400)
    assert (first.work_max_rank, first.work_max_thread) == (0, 0)
    assert (second.line, second.threads, second.idle_share) == (9, 1, 0)


def test_processes_without_a_rank_are_told_apart() -> None:
    rows = [row(-1, 0, 7, calls=1, team_ns=time_ns, pid=pid) for pid, time_ns in ((8, 10), (9, 20))]
    for keys in (["region", "thread"], ["region", "rank"]):
        found = summed(rows, keys)
        assert {each.pid: each.team_ns for each in found} == {8: 10, 9: 20}
        cells = {cell for line in sheet("region", found, keys, 1).rows for cell in line}
        assert {"process 8", "process 9"} <= cells
        assert "pid" in tables.columns("region", keys)


def test_regions_by_rank_and_thread() -> None:
    by_rank = {(each.rank, each.line): each for each in summed(ROWS, ["rank"])}
    assert by_rank[0, 7].idle_share == pytest.approx(300 / 800)
    assert by_rank[1, 7].idle_share == 0.5
    assert by_rank[1, 7].calls == 5
    by_thread = {(each.rank, each.thread, each.line): each for each in summed(ROWS, ["rank", "thread"])}
    assert by_thread[0, 1, 7].idle_share == 0.75
    assert by_thread[0, 1, 7].calls == 10
    assert by_thread[0, 1, 7].time_ns == 400


def test_a_region_that_has_not_ended_is_told() -> None:
    assert limits(summed(ROWS), ROWS) == []
    assert len(limits(summed([*ROWS, row(1, 1, 12)]), ROWS)) == 1, "not even its threads are known"
    open_row = row(1, 1, 11, calls=1, team_ns=30, work_ns=30)
    [said] = limits(summed([*ROWS, open_row]), ROWS)
    assert said.startswith("Regions of 0 calls have not ended")
    [found] = hybrid_efficiencies(efficiencies(PROCESSES), PROCESSES, [*ROWS, open_row])
    assert (found.why_none, found.parallel_efficiency) == (NOT_ENDED, None)


def test_regions_for_which_there_was_no_room_are_told_and_are_no_row() -> None:
    lost = row(1, 0, 0, regions=3, calls=3)
    lost.line = lost.file = lost.caller = None
    rows = [*ROWS, lost]
    assert summed(rows) == summed(ROWS)
    [said] = limits(summed(rows), rows)
    assert said.startswith("The profile table had no room for all regions")
    [found] = hybrid_efficiencies(efficiencies(PROCESSES), PROCESSES, rows)
    assert (found.why_none, found.load_balance) == (NO_ROOM, None)


def test_threads_have_their_ranks() -> None:
    keys = ["region", "thread"]
    found = summed(ROWS, keys)
    assert {"rank", "thread"} <= set(tables.columns("region", keys))
    shown = sheet("region", found, keys, 1)
    at = [heading.title for heading in shown.headings].index("Rank")
    assert sorted(row[at] for row in shown.rows) == ["0", "0", "1", "1", "1"]


def test_useful_time_of_threads() -> None:
    # 900 ns outside MPI, of which 400 in the region, in which it works all the time.
    assert useful_of_threads(PROCESSES[0], ROWS[:2]) == [900, 100]
    # 400 ns outside MPI, of which it idles 50.
    assert useful_of_threads(PROCESSES[1], ROWS[2:]) == [350, 50]
    # A region in a region: 30 ns, of which its thread works 20.
    nested = [
        row(0, 1, 7, calls=1, team_ns=100, work_ns=100),
        row(0, 1, 8, regions=1, regions_ns=30, calls=1, work_ns=20),
    ]
    assert useful_of_threads(PROCESSES[0], nested) == [900, 90]
    # A thread of the program's own.
    own = [row(0, 1, 7, regions=2, regions_ns=80, calls=2, work_ns=50)]
    assert useful_of_threads(PROCESSES[0], own) == [900, 50]


def test_hybrid_efficiencies() -> None:
    found = efficiencies(PROCESSES)
    (hybrid,) = hybrid_efficiencies(found, PROCESSES, ROWS)
    assert (hybrid.world, hybrid.pid, hybrid.threads) == (0, None, 4)
    # Useful: 900, 100, 350 and 50 of 1000 ns. For MPI: 900 and 400.
    assert hybrid.parallel_efficiency == pytest.approx(1400 / 4000)
    assert hybrid.load_balance == pytest.approx(350 / 900)
    assert hybrid.communication_efficiency == pytest.approx(0.9)
    assert found[0].parallel_efficiency == pytest.approx(0.65)
    assert hybrid.openmp_parallel_efficiency == pytest.approx(0.35 / 0.65)
    assert hybrid.openmp_load_balance == pytest.approx((350 / 900) / (650 / 900))
    assert hybrid.openmp_communication_efficiency == pytest.approx(1)
    # Regions may be in what was not recorded.
    for unseen in ({"counted_ns": 500}, {"pauses": 1}, {"state": "killed"}):
        partly = [PROCESSES[0], changed(PROCESSES[1], **unseen)]
        (unknown,) = hybrid_efficiencies(found, partly, ROWS)
        assert (unknown.parallel_efficiency, unknown.why_none) == (None, NOT_ALL)
    figures, texts = zip(*openmp.sheet([hybrid]).rows, strict=True)
    factors = ("load balance", "communication")
    assert list(figures) == [
        name
        for product in ("MPI and OpenMP", "OpenMP alone")
        for name in (product, *(f"{product}: {each}" for each in factors))
    ]
    assert texts[0].startswith("35.0 %") and texts[3].startswith("53.8 %")


def test_a_program_without_mpi_has_the_efficiencies_of_openmp() -> None:
    alone = made(
        Process,
        world=0,
        rank=-1,
        pid=99,
        start_ns=5,
        state="finished",
        net_ns=1000,
        threads_ns=1000,
        has_results=True,
    )
    rows = [
        row(-1, 0, 7, pid=99, regions=10, regions_ns=400, calls=10, work_ns=300),
        row(-1, 1, 7, pid=99, calls=10, work_ns=100),
    ]
    (found,) = hybrid_efficiencies([], [alone], rows)
    assert (found.world, found.pid, found.threads) == (None, 99, 2)
    assert found.openmp_parallel_efficiency == pytest.approx((900 + 100) / 2000)
    assert found.openmp_load_balance == pytest.approx(500 / 900)
    assert found.openmp_communication_efficiency == pytest.approx(0.9)


def test_programs_that_a_process_runs_one_after_another_have_their_own() -> None:
    programs = [
        made(
            Process, world=0, rank=-1, pid=99, start_ns=start_ns, state="finished",
            net_ns=1000, threads_ns=1000, has_results=True,
        )
        for start_ns in (5, 6)
    ]  # fmt: skip
    rows = [
        row(
            -1, thread, 7, pid=99, start_ns=start_ns, regions=1 - thread, regions_ns=1000 * (1 - thread),
            calls=1, work_ns=work_ns,
        )
        for start_ns, of_threads in ((5, (1000, 500)), (6, (1000, 1000)))
        for thread, work_ns in enumerate(of_threads)
    ]  # fmt: skip
    found = hybrid_efficiencies([], programs, rows)
    assert [each.threads for each in found] == [2, 2]
    assert [each.openmp_parallel_efficiency for each in found] == [0.75, 1]


def test_without_regions_there_are_none() -> None:
    assert hybrid_efficiencies(efficiencies(PROCESSES), PROCESSES, []) == []


def test_they_are_not_known_if_several_threads_call_mpi() -> None:
    several = [
        made(
            Process,
            world=0,
            rank=0,
            pid=100,
            start_ns=5,
            size=1,
            net_ns=1000,
            threads_ns=2000,
            mpi_ns=100,
            has_results=True,
        )
    ]
    (found,) = hybrid_efficiencies(efficiencies(several), several, ROWS[:2])
    assert found.why_none == MORE_THREADS
    assert found.parallel_efficiency is None
    assert openmp.sheet([found]).rows == [["parallel efficiency", f"- {MORE_THREADS}"]]
