"""`tare run --monitor=auto`: the interval finds its sweet spot on the live job, and stays there."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from environments import ROOT, MpiEnvironment, compile_c, mpich5, openmpi4
from measured import PROGRAMS
from tare.runs.rounds import Pace, Round, RoundFile

RANKS = 2
LEAST_MS = 50
MS = 1_000_000
PATIENCE_S = 180
LIBRARY = ROOT / "build" / "release" / "src" / "recorder"


@pytest.mark.parametrize("mpi", [openmpi4(), mpich5()], ids=lambda env: env.name, indirect=True)
def test_the_interval_follows_what_the_tree_can_take(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """tared has a tenth of a processor for a while: the interval steps up, and comes back."""
    flags = (f"-I{ROOT / 'include'}", f"-L{LIBRARY}", "-ltare_record", f"-Wl,-rpath,{LIBRARY}")
    program = compile_c(mpi, [PROGRAMS / "monitored.c"], tmp_path / "monitored", *flags)
    run, end = tmp_path / "run", tmp_path / "end"
    command = [
        tare, "run", "--quiet", f"--monitor=auto:{LEAST_MS}ms", "-o", run,
        "--", *mpi.mpiexec, "-n", RANKS, program, "calls", "500", end,
    ]  # fmt: skip
    job = subprocess.Popen(
        [str(word) for word in command], env=mpi.environ(), start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        wait_until(lambda: any(pace.boi_ns > 0 for pace in paces(run)))
        wait_until(lambda: 0 < paces(run)[-1].interval_ns <= 4 * LEAST_MS * MS)
        found = paces(run)[-1]
        assert found.rest_ns > 0 and found.interval_ns >= LEAST_MS * MS
        with squeezed(tared_of(run)):
            wait_until(lambda: paces(run)[-1].interval_ns >= 4 * found.interval_ns)
        wait_until(lambda: paces(run)[-1].interval_ns <= found.interval_ns)
        reached = rounds(run)[-1].round
        wait_until(lambda: rounds(run)[-1].round > reached + 10 * LEAST_MS)
        end.touch()
        output, _ = job.communicate(timeout=PATIENCE_S)
        assert job.returncode == 0 and output.count("ok") == RANKS, output
    finally:
        with suppress(ProcessLookupError):  # it has ended
            os.killpg(job.pid, signal.SIGKILL)
        job.communicate()
    check(rounds(run), paces(run))


def check(found: list[Round], decided: list[Pace]) -> None:
    """Between two decisions all ranks made the rounds that the first one says, and no others."""
    for pace, following in itertools.pairwise(decided):
        assert following.from_round > pace.from_round
        every = pace.interval_ns // MS
        between = [made for made in found if pace.from_round <= made.round < following.from_round]
        assert all((made.round - pace.from_round) % every == 0 for made in between)
    whole = [made for made in found if len(made.ranks) == RANKS]
    # While tared is stopped, ranks drop what has no room, each for itself.
    assert len(whole) > len(found) / 2


@contextmanager
def squeezed(pid: int) -> Iterator[None]:
    """It runs for 50 ms of each half second."""
    ends = threading.Event()

    def squeeze() -> None:
        while not ends.is_set():
            os.kill(pid, signal.SIGSTOP)
            ends.wait(0.45)
            os.kill(pid, signal.SIGCONT)
            ends.wait(0.05)

    thread = threading.Thread(target=squeeze)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, "it does not come to that"
        time.sleep(0.1)


def read(run: Path) -> tuple[list[Round], list[Pace]]:
    for path in run.glob("monitor-*.tare"):
        file = RoundFile(path)
        return list(file.read()), file.paces
    return [], []


def rounds(run: Path) -> list[Round]:
    return read(run)[0]


def paces(run: Path) -> list[Pace]:
    return read(run)[1]


def tared_of(run: Path) -> int:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"/tared") and str(run).encode() in words:
            return int(process.name)
    pytest.fail("there is no tared")
