"""The summary of runs that are not the ordinary one."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import fake_native
import pytest
from fake_recording import fake_recording, shown
from some_run import metadata
from tare import units
from tare.analysis import ranks
from tare.analysis.rows import changed
from tare.reporters import summary
from tare.reporters.console import console
from tare.runs.metadata import Missing
from tare.runs.run import Run


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A complete run; tests change its processes."""
    return fake_recording(tmp_path, monkeypatch)


def set_processes(recording: Run, processes: list[Any]) -> None:
    recording.__dict__["processes"] = processes


def change_totals(recording: Run, cost: dict[str, Any] | None = None, **trace: Any) -> None:
    """Changes the totals of all ranks."""
    native: Any = recording._native
    native.cost = changed(native.cost, **(cost or {}))
    native.trace = changed(native.trace, **trace)


def test_many_ranks_are_summarised(recording: Run) -> None:
    states = ["killed" if rank % 2 else "finished" for rank in range(40)]
    set_processes(recording, [fake_native.process(rank, rank * 10**6, states[rank]) for rank in range(40)])
    text = shown(recording)
    assert "40 on 1 host, 20 finished, 20 killed (ranks 1, 3, 5, 7 and 16 more)" in text
    assert "% (rank 39)" in text
    assert "Net time" not in text


def test_the_ranks_that_failed_stand_behind_how_they_ended(recording: Run) -> None:
    states = ["finished", "killed", "running", "exited", "killed"]
    set_processes(recording, [fake_native.process(rank, 10**6, states[rank]) for rank in range(5)])
    recording.__dict__["missing"] = [Missing(world=0, size=6, ranks=[(5, 5)])]
    text = " ".join(shown(recording).split())
    assert (
        "5 of 6 on 1 host, 1 finished, 1 exited (rank 3), 2 killed (ranks 1, 4), 1 running, 1 missing" in text
    )
    assert "missing (" not in text


def test_a_rank_that_was_saved_while_it_ran_has_no_end(recording: Run) -> None:
    """It did not end first because less of it is known; nor are the others certain to have."""
    of = [fake_native.process(rank, 10**6, "killed", until="end", signal=9) for rank in range(2)]
    of.append(fake_native.process(2, 10**6, "unknown", saved=True, wall_ns=10**9))
    set_processes(recording, of)
    assert "first end" in shown(recording)
    recording.__dict__["saved"] = [Missing(world=0, size=3, ranks=[(2, 2)], host="n2")]
    text = " ".join(shown(recording).split())
    assert "3 on 1 host, 2 killed (ranks 0, 1), 1 unknown" in text
    assert "first end" not in text and "counted until the last call began" not in text
    assert "! rank 2 of 3 was saved while it ran: the rest has not come from n2" in text


def test_processes_without_a_rank_have_their_numbers(recording: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    states = ["finished", "killed", "killed"]
    alone = {"abi": "none", "mpi": "", "size": -1}
    set_processes(
        recording,
        [
            changed(fake_native.process(rank, 0, state), rank=-1, pid=4711 + rank, **alone)
            for rank, state in enumerate(states)
        ],
    )
    have_locations(monkeypatch, [{**fake_native.location(-1, 1), "pid": 4711 + rank} for rank in range(3)])
    lines = info(recording)
    said = " ".join(" ".join(lines).split())
    assert "3 on 1 host, 1 finished, 2 killed (processes 4712, 4713)" in said
    at = lines.index("Locations (a thread, with its buffer)")
    assert [line.split()[0] for line in lines[at + 1 : at + 5]] == ["Process", "4711", "4712", "4713"]


def test_worlds_are_told_apart_where_there_are_several(recording: Run) -> None:
    assert "World" not in shown(recording)
    set_processes(recording, [fake_native.process(0, 10**8, world=world) for world in range(2)])
    assert "World" in shown(recording)


def test_losses_are_shown(recording: Run) -> None:
    assert "DROPPED" not in shown(recording)
    change_totals(recording, records=5, bytes=50, dropped=1234)
    assert "DROPPED    1,234 records were lost" in shown(recording)


def test_threads_that_were_not_measured_are_shown(recording: Run) -> None:
    process = changed(fake_native.process(0, 10**8), unmeasured_threads=3)
    assert "UNMEASURED" not in shown(recording)
    set_processes(recording, [process])
    assert "UNMEASURED 3 threads" in shown(recording)


def test_what_there_was_no_room_for_is_shown(recording: Run) -> None:
    processes = [fake_native.process(rank, 10**8) for rank in range(3)]
    assert "REDUCED" not in shown(recording)
    processes[0] = changed(processes[0], reduced=["buffer"])
    processes[2] = changed(processes[2], reduced=["buffer", "profile"])
    set_processes(recording, processes)
    told = shown(recording)
    assert "REDUCED    2 of 3 processes have a smaller event buffer than asked for" in told
    assert "REDUCED    1 of 3 processes have a small profile table" in told


def test_calls_that_did_not_return_are_shown(recording: Run) -> None:
    process = changed(fake_native.process(0, 10**8), left_calls=2)
    assert "2 calls by" not in shown(recording)
    set_processes(recording, [process])
    assert "left       2 calls by an exception" in shown(recording)


def test_calls_that_returned_an_error_are_shown(recording: Run) -> None:
    process = changed(fake_native.process(0, 10**8), failed_calls=2)
    assert "returned an error" not in shown(recording)
    set_processes(recording, [process])
    assert "failed     2 calls of MPI returned an error" in shown(recording)


def test_calls_in_callbacks_are_shown(recording: Run) -> None:
    process = changed(fake_native.process(0, 10**8), callback_calls=2)
    assert "callbacks  " not in shown(recording)
    set_processes(recording, [process])
    assert "callbacks  2 calls of communication made in them, in no table" in shown(recording)


def test_events_of_the_program_are_weighed(recording: Run) -> None:
    change_totals(recording, {"own_events": 7000, "event_ns": 12.5})
    assert "own events 7,000, 12.5 ns each" in shown(recording)


def test_what_a_flight_recorder_kept_is_shown(recording: Run) -> None:
    assert " --limit 20" in shown(recording)
    change_totals(recording, policy="overwrite", overwritten_bytes=1)
    assert "the newest 6 records, 60 B" in shown(recording)
    assert " --last 20" in shown(recording)
    change_totals(recording, written=False)
    assert "not written (--write none)" in shown(recording)


def test_long_names_are_cut_not_wrapped(recording: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = "hypre_" + "VeryLong" * 20
    sites = [changed(site, caller=caller) for site in fake_native.SITES]
    monkeypatch.setattr(fake_native, "SITES", sites)
    recording.meta.command = ["./app", "x" * 300]
    lines = shown(recording).splitlines()
    (row,) = [line for line in lines if "app.c:40" in line]
    assert "MPI_Send" in row
    assert "…" in row


def test_places_are_cut_at_their_beginning(recording: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    file = "/src/" + "very_long_" * 20 + "solver.c"
    monkeypatch.setattr(fake_native, "SITES", [changed(site, file=file) for site in fake_native.SITES])
    assert "_solver.c:40 " in shown(recording)


def test_a_full_disk_is_named(recording: Run) -> None:
    change_totals(recording, dropped=1234, kept_newest=True, no_space=True, overwritten_bytes=9)
    text = " ".join(shown(recording).split())
    assert "DROPPED 1,234 records: no space on" in text
    assert "KEPT the records before those, and the newest" in text


def test_end_by_an_unnamed_signal(recording: Run) -> None:
    recording.meta = metadata(exit_code=None, signal=64)
    assert recording.ending.startswith("killed by ")
    assert units.signal_name(40) == "signal 40"


def info(recording: Run) -> list[str]:
    recording.meta.command = ["./app"]
    out = io.StringIO()
    summary.info(console(out, cut=True), recording)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 80, lines
    return lines


def have_locations(monkeypatch: pytest.MonkeyPatch, locations: list[dict[str, Any]]) -> None:
    monkeypatch.setattr(fake_native, "LOCATIONS", locations)


def test_locations_have_a_line_each(recording: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    have_locations(
        monkeypatch,
        [
            fake_native.location(0, 20_000),
            fake_native.location(1, 0, 1, dropped=70),
        ],
    )
    lines = info(recording)
    at = lines.index("Locations (a thread, with its buffer)")
    assert [line.split() for line in lines[at + 1 : at + 4]] == [
        ["Rank", "Thread", "Calls", "Records", "Dropped", "Flushes", "Flushing", "On", "disk", "B/record"],
        ["0", "0", "14", "20,000", "0", "20", "40.0", "µs", "195", "KiB", "10.0"],
        ["1", "1", "14", "0", "70", "0", "40.0", "µs", "0", "B", "-"],
    ]


def test_many_locations_are_folded(recording: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    have_locations(
        monkeypatch,
        [fake_native.location(rank, 1000 * rank, thread) for rank in range(40) for thread in range(2)],
    )
    lines = info(recording)
    at = lines.index("Locations (a thread, with its buffer)")
    table = [line.split() for line in lines[at + 1 : at + 9]]
    assert table[0] == ["Of", "80", "Least", "at", "rank", "Mean", "Most", "at", "rank", "In", "all"]
    assert table[2] == ["Records", "0", "0", "19,500", "39,000", "39", "1.56", "M"]
    assert table[7] == ["B/record", "10.0", "1", "10.0", "10.0", "1", "10.0"]


def test_locations_are_not_shown_where_they_are_the_ranks(
    recording: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    have_locations(monkeypatch, [fake_native.location(0, 0), fake_native.location(1, 0)])
    assert "Locations (a thread, with its buffer)" not in info(recording)


def test_the_account_of_calls_without_mpi(recording: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of other sources are recorded, and cost, too."""
    monkeypatch.setattr(ranks, "use_mpi", lambda processes: False)
    lines = info(recording)
    at = lines.index("Cost of measuring (all processes)")
    labels = [line[2:13].strip() for line in lines[at + 1 :]]
    assert labels[:2] == ["recorded", "wrappers"]
    (in_all,) = (line for line in lines if line.startswith("  in all"))
    assert in_all.endswith("% of recorded time")
    assert not any(line.startswith("  hooks") for line in lines)
