"""`tare run --monitor=pull`: ranks offload when a user asks for a round, and not otherwise."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import tare as package
from environments import MpiEnvironment, openmpi4
from on_mpi import both_families
from patience import wait_until
from rounds_of_run import of_event
from tare.errors import CommandError
from tare.runs.requests import MEETING_PLACE
from test_monitor import RANKS, cost_of, live, program, running

__all__ = ["program"]


@contextmanager
def pulled(mpi: MpiEnvironment, tare: Path, folder: Path, argv: list[object]) -> Iterator[Path]:
    """A run that can be asked for rounds, while it goes on. Then the program is told to end, by a file."""
    run, end = folder / "run", folder / "end"
    with running(tare, mpi, run, [*argv, end], "--monitor=pull") as job:
        wait_until((run / MEETING_PLACE).is_dir)
        yield run
        end.touch()
        assert job.wait(60) == 0


@both_families
def test_each_request_is_a_round_of_all_ranks(
    mpi: MpiEnvironment, program: Path, tare: Path, tmp_path: Path
) -> None:
    with pulled(mpi, tare, tmp_path, [program, "calls", "200"]) as run:
        first = package.request_round(run, timeout=60)
        second = package.request_round(run, timeout=60)
        assert second > first
        assert [made.round for made in live(run)] == [first, second]
        found = package.open(run).sql("SELECT DISTINCT round FROM rounds ORDER BY round")
        assert found is not None and found.fetchall() == [(first,), (second,)]
    rounds = live(run)
    assert [made.round for made in rounds] == [first, second], "nobody asked for others"
    for made in rounds:
        assert list(made.ranks) == list(range(RANKS)) and not made.lost
    calls = [of_event(made, "MPI_Allreduce").calls.least for made in rounds]
    assert 0 < calls[0] < calls[1]
    assert cost_of(tare, run)["offloads"] == 2 * RANKS
    with pytest.raises(CommandError, match="has ended"):
        package.request_round(run)


def test_top_asks(tare: Path, tmp_path: Path, program: Path, mpi: MpiEnvironment) -> None:
    with pulled(mpi, tare, tmp_path, [program, "calls", "200"]) as run:
        package.request_round(run, timeout=60)
        shown = subprocess.run(
            [tare, "top", "--json", run], capture_output=True, text=True, timeout=120, check=True
        )
        found = json.loads(shown.stdout)
        assert found["rounds"] >= 3, "two of them are its own: rates are of two rounds"
        assert found["ranks"] == RANKS
        (row,) = [row for row in found["rows"] if row["event"] == "MPI_Allreduce"]
        assert row["calls_per_s"] > 0
    # Of a run that has ended nobody asks.
    shown = subprocess.run([tare, "top", run], capture_output=True, text=True, timeout=120, check=True)
    assert "has ended" in shown.stdout


def test_ranks_that_make_no_call_are_waited_for_in_vain(
    tare: Path, tmp_path: Path, program: Path, mpi: MpiEnvironment
) -> None:
    with (
        pulled(mpi, tare, tmp_path, [program, "quiet", "5"]) as run,
        pytest.raises(CommandError, match="no rank has made an MPI call"),
    ):
        package.request_round(run, timeout=0.5)


def test_a_run_that_takes_no_requests_says_how_to_start_one(
    tare: Path, tmp_path: Path, program: Path, mpi: MpiEnvironment
) -> None:
    run = tmp_path / "run"
    with running(tare, mpi, run, [program, "points", "5"], "--monitor=points") as job:
        assert job.wait(60) == 0
    with pytest.raises(CommandError, match="--monitor=pull"):
        package.request_round(run)


@pytest.fixture
def mpi() -> MpiEnvironment:
    return openmpi4()
