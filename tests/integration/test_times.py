"""`--times`: clocks that are shifted by construction, and a run whose buffers are written all the time."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import otf2
import pytest
import tare as tare_package
from exporting import measured
from otf2.enums import GroupType, Paradigm, RegionRole

BEHIND_NS = 1_000_000  # the clock of rank 1
LATENCY_NS = 20_000
MESSAGES = 10


def write_skewed_archive(to: Path) -> None:
    """Rank 0 sends messages to rank 1, which answers the last; both leave a barrier together."""
    with otf2.writer.open(str(to), timer_resolution=1_000_000_000) as archive:
        of = archive.definitions
        node = of.system_tree_node("node")
        locations = [
            of.location("thread", group=of.location_group(f"rank {rank}", system_tree_parent=node))
            for rank in range(2)
        ]
        of.group("MPI", GroupType.COMM_LOCATIONS, paradigm=Paradigm.MPI, members=locations)
        members = of.group("world", GroupType.COMM_GROUP, paradigm=Paradigm.MPI, members=(0, 1))
        world = of.comm("MPI_COMM_WORLD", members)
        regions = {
            name: of.region(name, region_role=RegionRole.POINT2POINT, paradigm=Paradigm.MPI)
            for name in ("MPI_Send", "MPI_Recv")
        }
        writers = [archive.event_writer_from_location(location) for location in locations]

        def call(rank: int, name: str, start_ns: int, end_ns: int) -> None:
            shift = BEHIND_NS if rank == 1 else 0
            writer = writers[rank]
            writer.enter(start_ns - shift, regions[name])
            record = writer.mpi_send if name == "MPI_Send" else writer.mpi_recv
            record(end_ns - shift, 1 - rank, world, msg_tag=1, msg_length=8)
            writer.leave(end_ns - shift, regions[name])

        for message in range(MESSAGES):
            sent_ns = 5_000_000 + message * 100_000
            call(0, "MPI_Send", sent_ns, sent_ns + 1000)
            call(1, "MPI_Recv", sent_ns - 10_000, sent_ns + LATENCY_NS)
        answered_ns = sent_ns + 50_000
        call(1, "MPI_Send", answered_ns, answered_ns + 1000)
        call(0, "MPI_Recv", answered_ns - 40_000, answered_ns + LATENCY_NS)


def output(tare: Path, *arguments: Path | str) -> str:
    return subprocess.check_output([tare, *arguments], text=True, timeout=60)


def messages(run_dir: Path, times: Any) -> list[tuple[int, int, int, int]]:
    found = tare_package.open(run_dir, times=times).messages  # noqa: F841 (DuckDB finds it by its name)
    with duckdb.connect() as connection:
        return connection.execute(
            "SELECT source, send_enter_ns, receive_enter_ns, receive_completion_leave_ns FROM found "
            "ORDER BY ALL"
        ).fetchall()


def test_shifted_clocks_are_found_and_corrected(tare: Path, tmp_path: Path) -> None:
    write_skewed_archive(tmp_path / "skewed")
    imported = tmp_path / "run"
    output(tare, "import", tmp_path / "skewed", "-o", imported)
    violations = json.loads(output(tare, "sql", imported, "FROM clock_violations", "--json"))["rows"]
    assert violations == [
        {
            "world": 0,
            "rank": 1,
            "other_rank": 0,
            "messages": MESSAGES,
            "collectives": 0,
            "most_ns": BEHIND_NS - LATENCY_NS,
        }
    ]
    recorded, corrected = (messages(imported, times) for times in ("recorded", "corrected"))
    assert len(corrected) == MESSAGES + 1
    assert sum(received < sent for _, sent, _, received in recorded) == MESSAGES
    assert all(received >= sent for _, sent, _, received in corrected)
    # Rank 0, whose clock was right, stays where it was; but for the answer, which is not violated.
    sends = [[sent for source, sent, *_ in of if source == 0] for of in (recorded, corrected)]
    assert sends[0] == sends[1]
    told = json.loads(output(tare, "explain", imported, "--times", "corrected", "--json"))
    assert told["times"] == "corrected"
    (sentence,) = [each for each in told["sentences"] if each.startswith("Clocks are corrected")]
    assert f"{MESSAGES} messages" in sentence and "rank 1 is behind that of rank 0" in sentence
    assert "980 µs" in sentence
    # SQL reads the same times.
    query = "SELECT count(*) AS n FROM messages WHERE receive_completion_leave_ns < send_enter_ns"
    for times, left in (("recorded", MESSAGES), ("corrected", 0)):
        (row,) = json.loads(output(tare, "sql", imported, query, "--times", times, "--json"))["rows"]
        assert row == {"n": left}


@pytest.fixture(scope="module")
def flushing(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with buffers so small that it writes them often."""
    return measured(tare, tmp_path_factory.mktemp("flushing"), "matched.c", 2, "60").directory


def events(run_dir: Path, times: Any) -> list[tuple[Any, ...]]:
    found = tare_package.open(run_dir, times=times).event_table(  # noqa: F841 (DuckDB finds it by its name)
        columns=["rank", "function", "start_ns", "duration_ns"]
    )
    with duckdb.connect() as connection:
        return connection.execute("SELECT rank, function, start_ns, duration_ns FROM found").fetchall()


def test_flushes_and_wrappers_are_taken_out(tare: Path, flushing: Path) -> None:
    recorded, compensated = (events(flushing, times) for times in ("recorded", "compensated"))
    assert len(recorded) == len(compensated)
    flushes = [
        sum(duration for _, function, _, duration in of if function == "tare:flush")
        for of in (recorded, compensated)
    ]
    assert flushes[0] > 0 and flushes[1] == 0
    opened = tare_package.open(flushing, times="compensated")
    assert opened.retimed is not None and opened.retimed.compensation is not None
    compensation = opened.retimed.compensation
    assert compensation.flush_ns == flushes[0]
    assert compensation.wrapper_ns > 0
    ends = [max(start + duration for _, _, start, duration in of) for of in (recorded, compensated)]
    assert ends[0] - ends[1] == compensation.earlier_ns > 0
    # Calls keep their order in each thread, and none is received before it is sent.
    for rank in (0, 1):
        starts = [start for of, _, start, _ in compensated if of == rank]
        names = [[function for of, function, *_ in some if of == rank] for some in (recorded, compensated)]
        assert names[0] == names[1]
        assert len(starts) == len(names[0])
    # Wrappers are taken out to within those of 16 calls.
    slack_ns = 16 * max(process.cost.call_ns for process in opened.processes)
    found = messages(flushing, "compensated")
    early = [sent - received for _, sent, _, received in found if received < sent - slack_ns]
    # A receive that stands behind one from any source can be known too late for its call to be moved.
    assert len(early) <= len(found) // 50
    assert "Measuring is taken out of all times" in output(
        tare, "explain", flushing, "--times", "compensated"
    )


def test_the_page_says_which_times_it_shows(tare: Path, flushing: Path, tmp_path: Path) -> None:
    pages = []
    for times in ("recorded", "compensated"):
        made = tmp_path / f"{times}.html"
        output(tare, "report", flushing, "-o", made, "--times", times)
        pages.append(made)
    from tare.page import content
    from tare.runs.retiming import Times
    from tare.runs.run import open_run

    notes = [
        content.of_run(open_run(flushing, None, Times(times)))["overview"]["notes"]
        for times in ("recorded", "compensated")
    ]
    said = [[note for note in of if "taken out" in note] for of in notes]
    assert said[0] == [] and len(said[1]) == 1
