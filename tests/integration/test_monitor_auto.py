"""`tare run --monitor=auto`: the interval finds its sweet spot on the live job, and stays there."""

from __future__ import annotations

import bisect
import itertools
import json
import os
import signal
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from environments import MpiEnvironment, compile_c, mpich5, openmpi4
from measured import PROGRAMS, WITH_API, Measurement, compile_monitored, measure
from on_mpi import both_families
from patience import wait_until
from run_processes import tared_of
from tare._native import Pace, Round
from tare.runs.rounds import RoundFile

RANKS = 2
DEPTH = 4  # snapshots of a rank that wait, under lossy
STOPPED_S = 0.45
NS_PER_S = 1_000_000_000
MIN_MS = 50
MS = 1_000_000
PATIENCE_S = 180


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What these runs find is not for those of whoever runs the tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("mpi", "spec", "mode"),
    [
        pytest.param(openmpi4(), f"auto:{MIN_MS}ms", "calls", id="openmpi-clock"),
        pytest.param(mpich5(), f"points,every=auto:{MIN_MS}ms", "steps", id="mpich-points"),
        pytest.param(mpich5(), f"auto:{MIN_MS}ms", "calls", id="mpich-clock", marks=pytest.mark.long),
        pytest.param(
            openmpi4(), f"points,every=auto:{MIN_MS}ms", "steps", id="openmpi-points", marks=pytest.mark.long
        ),
    ],
    indirect=["mpi"],
)
def test_the_interval_follows_what_the_tree_can_take(
    mpi: MpiEnvironment, spec: str, mode: str, tare: Path, tmp_path: Path
) -> None:
    """tared has a tenth of a processor for a while: the interval steps up, and comes back."""
    by_clock = mode == "calls"
    program = compile_monitored(mpi, tmp_path)
    run, end = tmp_path / "run", tmp_path / "end"
    command = [
        tare, "run", "--quiet", f"--monitor={spec}", "-o", run,
        "--", *mpi.mpiexec, "-n", RANKS, program, mode, "500", end,
    ]  # fmt: skip
    with started(command, mpi) as job:
        wait_until(lambda: any(pace.boi_ns > 0 for pace in paces(run)))
        wait_until(lambda: 0 < paces(run)[-1].interval_ns <= 4 * MIN_MS * MS)
        found = paces(run)[-1]
        # Points of the program are not equally far apart, so their interval is an estimate.
        assert found.rest_ns > 0 and found.interval_ns >= MIN_MS * MS * (1 if by_clock else 0.5)
        tared = tared_of(run)
        begin_ns = time.time_ns()
        with squeezed(tared):
            wait_until(lambda: paces(run)[-1].interval_ns >= 4 * found.interval_ns)
            # A while of it at that interval.
            slow = paces(run)[-1].from_round
            wait_until(lambda: sum(made.round > slow for made in rounds(run)) > 20)
        end_ns = time.time_ns()
        wait_until(lambda: paces(run)[-1].interval_ns <= found.interval_ns * (1 if by_clock else 1.5))
        reached = paces(run)[-1].from_round
        wait_until(lambda: sum(made.round > reached for made in rounds(run)) > 10)
        end.touch()
        output, _ = job.communicate(timeout=PATIENCE_S)
        assert job.returncode == 0 and output.count("ok") == RANKS, output
    check(rounds(run), paces(run), by_clock)
    in_between = [made for made in rounds(run) if begin_ns <= made.first_ns <= end_ns]
    check_queues(in_between)
    check_whole(in_between, paces(run), 4 * found.interval_ns)
    cost = Measurement(tare, run, subprocess.CompletedProcess([], 0)).info()["cost"]
    # No rank has waited for tared, which was stopped again and again, each time for longer than an offload.
    assert cost["offload_wait_ns"] == 0 and cost["offload_max_ns"] < STOPPED_S * NS_PER_S / 2
    assert cost["offloads"] > 0


@both_families
def test_a_rank_that_comes_to_no_point_slows_nobody_down(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    """Its rounds are not whole at any interval."""
    program = compile_monitored(mpi, tmp_path)
    run, end = tmp_path / "run", tmp_path / "end"
    command = [
        tare, "run", "--quiet", f"--monitor=auto:{MIN_MS}ms", "-o", run,
        "--", *mpi.mpiexec, "-n", RANKS, program, "absent", "500", end,
    ]  # fmt: skip

    def stays_without_it() -> bool:
        found, decided = read(run)
        if not decided or decided[-1].boi_ns <= 0 or decided[-1].interval_ns != MIN_MS * MS:
            return False
        since = [made for made in found if made.round >= decided[-1].from_round]
        return len(since) > 60 and all(str(made.lost) == "1" for made in since)

    with started(command, mpi) as job:
        wait_until(stays_without_it)
        end.touch()
        output, _ = job.communicate(timeout=PATIENCE_S)
        assert job.returncode == 0 and output.count("ok") == RANKS, output


@pytest.mark.parametrize(
    ("mpi", "when"),
    [
        pytest.param(openmpi4(), "points", id="openmpi-points"),
        pytest.param(mpich5(), "region:step", id="mpich-region"),
        pytest.param(mpich5(), "points", id="mpich-points", marks=pytest.mark.long),
        pytest.param(openmpi4(), "region:step", id="openmpi-region", marks=pytest.mark.long),
    ],
    indirect=["mpi"],
)
def test_points_of_the_program_are_left_out(
    mpi: MpiEnvironment, when: str, tare: Path, tmp_path: Path
) -> None:
    """The same ones on all ranks; what an offload costs an iteration is known then."""
    program = compile_c(mpi, [PROGRAMS / "asks.c"], tmp_path / "asks", *WITH_API)
    spec = f"--monitor={when},every=auto:20ms"
    measured = measure(tare, mpi, RANKS, [program, when], tmp_path / "run", spec, timeout_s=PATIENCE_S)
    assert measured.ended.returncode == 0, measured.ended.stderr
    found, decided = read(measured.directory)
    assert decided[-1].boi_ns > 0 and len(decided) >= 3
    whole = [made for made in found if len(made.ranks) == RANKS]
    assert len(whole) > 0.9 * len(found)
    left_out = 0
    for pace, following in itertools.pairwise(decided):
        between = [made for made in found if pace.from_round <= made.round < following.from_round]
        apart = [later.round - made.round for made, later in itertools.pairwise(between)]
        every = min(apart, default=1)
        assert all((made.round - pace.from_round) % every == 0 for made in between)
        left_out += sum(apart) - len(apart)
    assert left_out > 0
    for line in measured.ended.stdout.splitlines():
        now = json.loads(line)["now"]
        assert now["boi"] > 0 and now["overall_cost_deviation"] >= 0 and abs(now["overall_cost"]) < 1


def check(found: list[Round], decided: list[Pace], by_clock: bool) -> None:
    """All ranks made, between two decisions, the rounds that the first one says, and no others."""
    for pace, following in itertools.pairwise(decided):
        assert following.from_round > pace.from_round
        between = [made.round for made in found if pace.from_round <= made.round < following.from_round]
        every = pace.interval_ns // MS if by_clock else steady_gap(between)
        assert all((number - pace.from_round) % every == 0 for number in between)
    whole = [made for made in found if len(made.ranks) == RANKS]
    # While tared is stopped, ranks drop what has no room, each for itself.
    assert len(whole) > len(found) / 2


def steady_gap(numbers: list[int]) -> int:
    """The number of points between rounds of which none was lost; 1 if that cannot be told.

    How many points of the program are left out is not stored.
    """
    gaps = [later - number for number, later in itertools.pairwise(numbers)]
    return gaps[0] if len(gaps) > 3 and len(set(gaps)) == 1 else 1


def check_queues(found: list[Round]) -> None:
    """Rounds on the way, as each one arrives: while tared is squeezed they do not add up."""
    begun = sorted(made.first_ns for made in found)
    come = sorted(made.arrived_ns for made in found)
    queues = [bisect.bisect_right(begun, time_ns) - number for number, time_ns in enumerate(come)]
    half = len(queues) // 2
    assert half > 5
    # What a ring has room for, and what tared has taken out of it.
    assert max(queues) <= 2 * DEPTH
    assert statistics.mean(queues[half:]) <= statistics.mean(queues[:half]) + 1


def check_whole(found: list[Round], decided: list[Pace], interval_ns: int) -> None:
    """All rounds at intervals of at least so long are whole, but those of the start: there rings are full."""
    slow = 0
    for pace, following in itertools.pairwise(decided):
        if pace.interval_ns < interval_ns:
            continue
        between = [made for made in found if pace.from_round <= made.round < following.from_round]
        assert all(len(made.ranks) == RANKS for made in between[2 * DEPTH :])
        slow += len(between[2 * DEPTH :])
    assert slow > 0


@contextmanager
def started(command: Sequence[object], mpi: MpiEnvironment) -> Iterator[subprocess.Popen[str]]:
    job = subprocess.Popen(
        [str(word) for word in command], env=mpi.environ(), start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        yield job
    finally:
        with suppress(ProcessLookupError):  # it has ended
            os.killpg(job.pid, signal.SIGKILL)
        job.communicate()


@contextmanager
def squeezed(pid: int) -> Iterator[None]:
    """It runs for 50 ms of each half second."""
    ends = threading.Event()

    def squeeze() -> None:
        while not ends.is_set():
            os.kill(pid, signal.SIGSTOP)
            ends.wait(STOPPED_S)
            os.kill(pid, signal.SIGCONT)
            ends.wait(0.05)

    thread = threading.Thread(target=squeeze)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def read(run: Path) -> tuple[list[Round], list[Pace]]:
    for path in run.glob("monitor-*.tare"):
        file = RoundFile(path)
        return list(file.read()), file.paces
    return [], []


def rounds(run: Path) -> list[Round]:
    return read(run)[0]


def paces(run: Path) -> list[Pace]:
    return read(run)[1]
