"""Polls: MPI_Test and similar functions, probes that do not wait, found or not."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c, mpich4, openmpi4
from measured import PROGRAMS, Measurement, measure
from tare.analysis.efficiency import efficiencies, replayed
from tare.runs.run import open_run

POLLS = {
    "MPI_Test", "MPI_Testany", "MPI_Testsome", "MPI_Testall", "MPI_Iprobe", "MPI_Improbe",
    "MPI_Request_get_status",
}  # fmt: skip


@pytest.fixture(params=[openmpi4(), mpich4()], ids=lambda env: env.name)
def mpi(request: pytest.FixtureRequest) -> MpiEnvironment:
    """What a poll does depends on the handles of the family alone."""
    return request.param  # type: ignore[no-any-return]


def polled(
    tare: Path, mpi: MpiEnvironment, tmp_path: Path, misses: int, rounds: int, *options: str
) -> tuple[Measurement, dict[str, Any]]:
    """What tare measured, and the truth."""
    program = compile_c(mpi, [PROGRAMS / "polls.c"], tmp_path / "polls")
    measured = measure(tare, mpi, 1, [program, str(misses), str(rounds)], tmp_path / "run", *options)
    assert measured.ended.returncode == 0, measured.ended.stderr
    return measured, json.loads(measured.ended.stdout)


def check_counts(measured: Measurement, truth: dict[str, Any]) -> None:
    calls = measured.calls()
    assert {name: calls[name] for name in POLLS} == {name: truth[name] for name in POLLS}
    (peer,) = measured.profile("peer")
    assert (peer["received_messages"], peer["received_bytes"]) == (truth["messages"], truth["bytes"])


@pytest.mark.parametrize("misses", [1, 300])
def test_what_polls_complete_is_known(mpi: MpiEnvironment, tare: Path, tmp_path: Path, misses: int) -> None:
    measured, truth = polled(tare, mpi, tmp_path, misses, 5)
    check_counts(measured, truth)
    of = {row["function"]: row for row in measured.profile("function")}
    assert of["MPI_Irecv"]["bytes"] + of["MPI_Recv"]["bytes"] + of["MPI_Mrecv"]["bytes"] == truth["bytes"]
    assert of["MPI_Irecv"]["waited_ns"] > 0


def test_the_time_of_quick_polls_is_estimated_and_their_number_is_not(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    measured, truth = polled(tare, mpi, tmp_path, 50_000, 3)
    check_counts(measured, truth)
    polls = [row for row in measured.profile("function") if row["function"] in POLLS]
    quick = [row for row in polls if row["estimated_calls"] > 0.5 * row["calls"]]
    assert quick  # which functions are, depends on the library
    for row in polls:
        assert row["estimated_calls"] < row["calls"]
        assert row["min_ns"] <= row["mean_ns"] <= row["max_ns"]
    # The loops that the polls are in take their time and tare's.
    in_vain_ns = 1e9 * truth["in_vain_s"]
    assert 0.1 * in_vain_ns < sum(row["time_ns"] for row in polls) < 1.1 * in_vain_ns
    (rank,) = measured.info()["ranks"]
    assert rank["mpi_ns"] <= rank["net_ns"]
    assert not [
        row for row in measured.profile("function") if row not in polls and row.get("estimated_calls")
    ]


def test_every_poll_is_in_the_trace_and_so_is_what_it_completed(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    measured, truth = polled(tare, mpi, tmp_path, 100, 5, "--trace")
    check_counts(measured, truth)
    events = measured.events()
    calls = Counter(row["function"] for row in events)
    assert {name: calls[name] for name in POLLS} == {name: truth[name] for name in POLLS}
    started = {row["request"]: row for row in events if row["function"] == "MPI_Irecv"}
    completed = [
        request
        for row in events
        if row["function"].startswith(("MPI_Test", "MPI_Wait"))
        for request in row.get("requests", [row] if "request" in row else [])
        if request["request"] in started
    ]
    assert Counter(request["request"] for request in completed) == Counter(list(started))
    for request in completed:
        tag = started[request["request"]]["tag"]
        assert (request["tag"], request["bytes"]) == (tag, 8 if tag == 99 else 8 * (tag + 1))


@pytest.mark.parametrize("trace", [False, True], ids=["profile", "trace"])
def test_polling_in_vain_is_waiting_and_what_is_computed_meanwhile_is_not(
    mpi: MpiEnvironment, trace: bool, tare: Path, tmp_path: Path
) -> None:
    program = compile_c(mpi, [PROGRAMS / "poll_waits.c"], tmp_path / "poll_waits")
    measured = measure(tare, mpi, 2, [program, "200"], tmp_path / "run", *(["--trace"] if trace else []))
    assert measured.ended.returncode == 0, measured.ended.stderr
    truth = json.loads(measured.ended.stdout)
    assert truth["cpu_s"] > 0.02 and truth["computed_s"] > 0.02
    polls = [
        row
        for row in measured.profile("function,rank")
        if row["rank"] == 1 and row["function"] in ("MPI_Test", "MPI_Iprobe")
    ]
    polled_s = 1e-9 * sum(row["time_ns"] for row in polls)
    # A rank that loses its core between polls looks as if it computed, and so does writing the trace.
    flushed_s = 1e-9 * measured.info()["cost"]["flush_ns"]
    assert 0.85 * (truth["cpu_s"] - flushed_s) < polled_s < truth["span_s"] + 0.1 * truth["computed_s"]


@pytest.mark.parametrize("trace", [False, True], ids=["profile", "trace"])
def test_matched_probes_in_vain_are_waiting_where_messages_are_sampled(
    mpi: MpiEnvironment, trace: bool, tare: Path, tmp_path: Path
) -> None:
    """What sampling does between two of them is waiting, too."""
    program = compile_c(mpi, [PROGRAMS / "poll_waits.c"], tmp_path / "poll_waits")
    options = ["--sample", "random:1", *(["--trace"] if trace else [])]
    duration_ms = "20" if trace else "300"
    measured = measure(tare, mpi, 2, [program, duration_ms, "improbe"], tmp_path / "run", *options)
    assert measured.ended.returncode == 0, measured.ended.stderr
    truth = json.loads(measured.ended.stdout)
    (polls,) = [row for row in measured.profile("function,rank") if row["function"] == "MPI_Improbe"]
    flushed_s = 1e-9 * measured.info()["cost"]["flush_ns"]
    assert 0.85 * (truth["cpu_s"] - flushed_s) < 1e-9 * polls["time_ns"] < 1.05 * truth["span_s"]
    assert not polls.get("estimated_calls")
    if trace:
        events = [row for row in measured.events() if row["function"] == "MPI_Improbe"]
        gaps = [
            after["start_ns"] - before["start_ns"] - before["duration_ns"]
            for before, after in pairwise(events)
        ]
        assert sum(gap <= 8 for gap in gaps) > 0.9 * len(gaps) > 900, (
            "each begins where the one before it ended"
        )


# Which rank computes most is told by times, which another program can spoil.
@pytest.mark.alone
@pytest.mark.flaky(reruns=2)
@pytest.mark.parametrize(
    "options",
    [
        pytest.param([], id="plain"),
        pytest.param(["--sample", "random:0.1"], id="sampled", marks=pytest.mark.long),
    ],
)
def test_profile_and_trace_agree_on_a_program_that_only_polls(
    mpi: MpiEnvironment, options: list[str], tare: Path, tmp_path: Path
) -> None:
    """One run: what the events add up to is in the profile, and the replay finds the same rank waiting."""
    program = compile_c(mpi, [PROGRAMS / "poll_waits.c"], tmp_path / "poll_waits")
    measured = measure(tare, mpi, 2, [program, "30"], tmp_path / "run", "--trace", *options)
    assert measured.ended.returncode == 0, measured.ended.stderr
    profile = {(row["rank"], row["function"]): row for row in measured.profile("function,rank")}
    times: Counter[tuple[int, str]] = Counter()
    calls: Counter[tuple[int, str]] = Counter()
    for row in measured.events():
        times[row["rank"], row["function"]] += row["duration_ns"]
        calls[row["rank"], row["function"]] += 1
    assert calls[1, "MPI_Test"] > 1000
    for key in ((1, "MPI_Test"), (1, "MPI_Iprobe"), (0, "MPI_Send")):
        assert profile[key]["calls"] == calls[key]
        # Each time is rounded to the clock's unit of the trace.
        assert abs(profile[key]["time_ns"] - times[key]) <= 0.001 * times[key] + 4 * calls[key]
    recording = open_run(measured.directory)
    (found,) = replayed(
        efficiencies(recording.processes), recording.processes, lambda: recording.replayed_worlds, always=True
    )
    assert found.not_replayed is None and found.ideal_ns is not None
    serialisation, transfer = found.serialisation_efficiency, found.transfer_efficiency
    assert serialisation is not None and transfer is not None
    assert serialisation * transfer == pytest.approx(found.communication_efficiency, rel=0.05)
    # Rank 0, which sleeps outside MPI, is what the other one waits for.
    assert found.most_computing_rank == 0
    outside = {rank["rank"]: 1 - rank["mpi_share"] for rank in measured.info()["ranks"]}
    assert outside[0] > outside[1], "a rank that polls without success does not compute"
