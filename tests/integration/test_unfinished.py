"""`tare profile`, `info` and `events` on runs that go on, hang, or were killed (programs/alive.c)."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, Measurement
from on_mpi import both_debian
from unfinished import RANKS, TIMEOUT_S, hanging, started
from verbs import ask

ROUNDS = 300
# What is read lies in the segment, whatever the MPI: two of them show that.
pytestmark = both_debian


@pytest.fixture
def alive(mpi: MpiEnvironment, tmp_path: Path) -> Path:
    return compile_c(mpi, [PROGRAMS / "alive.c"], tmp_path / "alive", "-g")


def reader(tare: Path, run_dir: Path) -> Measurement:
    return Measurement(tare, run_dir, subprocess.CompletedProcess([], 0, "", ""))


def read_until(run: Measurement, allreduces: int) -> dict[str, int]:
    """The calls of the run once it has made so many."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if (run.directory / "meta.json").exists():
            calls = run.calls()
            if calls.get("MPI_Allreduce", 0) >= allreduces:
                return calls
        time.sleep(0.2)
    raise AssertionError(f"no {allreduces} calls of MPI_Allreduce")


def test_a_run_that_goes_on(tare: Path, mpi: MpiEnvironment, alive: Path, tmp_path: Path) -> None:
    run = reader(tare, tmp_path / "run")
    with started(tare, mpi, [str(alive)], run.directory, "--trace") as tare_run:
        early = read_until(run, 10)
        late = read_until(run, early["MPI_Allreduce"] + 100)
        assert late["MPI_Init"] == RANKS
        # No rank can be more than a round ahead of the other.
        assert abs(late["MPI_Sendrecv"] - late["MPI_Allreduce"]) <= RANKS
        before, info, after = run.profile("rank"), run.info(), run.profile("rank")
        assert {rank["state"] for rank in info["ranks"]} == {"running"}
        assert info["exit_code"] is None
        assert [location["rank"] for location in info["locations"]] == list(range(RANKS))
        for rank in range(RANKS):
            location = info["locations"][rank]
            assert before[rank]["calls"] <= location["calls"] <= after[rank]["calls"]
            # All that is timed is recorded, and can be read; records are counted last, while calls go on.
            assert location["calls"] - location["counted"] - 1 <= location["records"] <= after[rank]["calls"]
            assert location["dropped"] == 0
        functions = {row["function"] for row in run.events("--limit", "50")}
        assert {"MPI_Init", "MPI_Allreduce", "MPI_Sendrecv"} <= functions
        text = ask(tare, "info", run.directory).stdout
        assert f"{RANKS} running" in text
        assert max(map(len, text.splitlines())) <= 80
        for is_alone in (False, True):  # its ranks go on without `tare run`
            if is_alone:
                tare_run.kill()
                tare_run.wait(TIMEOUT_S)
            explain: list[str | Path] = [tare, "explain", run.directory]
            text = subprocess.run(explain, capture_output=True, text=True, timeout=60).stdout
            assert text.startswith(" 1. The run is still going on"), text


def test_a_run_that_hangs_and_is_killed(tare: Path, mpi: MpiEnvironment, alive: Path, tmp_path: Path) -> None:
    """The same calls while it hangs, when it was killed, and when its segments were collected."""
    run = reader(tare, tmp_path / "run")
    done = {"MPI_Init": RANKS, "MPI_Allreduce": RANKS * ROUNDS, "MPI_Sendrecv": RANKS * ROUNDS}
    with hanging(tare, mpi, [str(alive), str(ROUNDS)], run.directory, "--trace", "--buffer", "16K") as found:
        assert {row["function"] for row in found["rows"]} == {"MPI_Recv"}
        check(run, "running", done)
        # They hang in MPI, though no call that lasted has returned.
        assert all(rank["mpi_share"] > 0.5 for rank in run.info()["ranks"])
    check(run, "killed", done)
    # With its `tare run`, so nobody knows when.
    assert {rank["until"] for rank in run.info()["ranks"]} == {"last_seen"}
    subprocess.run([tare, "recover", run.directory], check=True, timeout=60)
    check(run, "killed", done)


def check(run: Measurement, state: str, done: dict[str, int]) -> None:
    calls = run.calls()
    assert {function: calls.get(function, 0) for function in done} == done
    assert calls.get("MPI_Recv", 0) == 0, "it has not returned"
    info = run.info()
    assert [rank["state"] for rank in info["ranks"]] == [state] * RANKS
    assert len(info["locations"]) == RANKS
    for location in info["locations"]:
        # Look-ups are only counted.
        assert (location["calls"] - location["counted"]) * RANKS == sum(done.values())
        assert location["records"] == location["calls"] - location["counted"]
        assert location["flushes"] > 0
        assert location["bytes"] > 0
        assert location["bytes_per_record"] == location["bytes"] / location["records"]
    events = [row["function"] for row in run.events()]
    assert {function: events.count(function) for function in done} == done
