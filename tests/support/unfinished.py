"""Runs that go on, or hang, until the test ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from environments import MpiEnvironment
from verbs import ask

RANKS = 2
STANDING_S = 1.5  # so long a call must have lasted until it is looked at
TIMEOUT_S = 60


@contextmanager
def started(
    tare: Path, mpi: MpiEnvironment, command: list[str], run_dir: Path, *options: str
) -> Iterator[subprocess.Popen[bytes]]:
    """The run in the directory, until the end of the block, when all of it is killed. `tare run`."""
    launch = [str(tare), "run", "-q", *options, "-o", str(run_dir), "--"]
    process = subprocess.Popen(
        [*launch, *mpi.mpiexec, "-n", str(RANKS), *command],
        env=mpi.environ(),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        # A rank that sees its launcher die may exit by itself. One that is stopped cannot.
        signal_ranks(tare, run_dir, signal.SIGSTOP)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=TIMEOUT_S)
        kill_ranks(tare, run_dir)


@contextmanager
def hanging(
    tare: Path, mpi: MpiEnvironment, command: list[str], run_dir: Path, *options: str
) -> Iterator[dict[str, Any]]:
    """The run as `tare where` sees it once every rank has been where it is for a while."""
    with started(tare, mpi, command, run_dir, *options):
        yield settled(tare, run_dir)


def kill_ranks(tare: Path, run_dir: Path) -> None:
    """Those that the launcher has left behind."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if not signal_ranks(tare, run_dir, signal.SIGKILL):
            return


def signal_ranks(tare: Path, run_dir: Path, number: signal.Signals) -> list[int]:
    """Sends a signal to the ranks that run; which these are, by process."""
    running = [row["pid"] for row in where(tare, run_dir)["rows"] if row["state"] == "running"]
    for pid in running:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
    return running


def yield_to_others(pids: Iterable[int]) -> None:
    """Lets others have the processors first, of ranks that wait for ever in a loop."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, pid, 10)


def settled(tare: Path, run_dir: Path) -> dict[str, Any]:
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        time.sleep(0.5)
        if not (run_dir / "meta.json").exists():
            continue
        found = where(tare, run_dir)
        yield_to_others(row["pid"] for row in found["rows"] if row["state"] == "running")
        of_ranks = [row for row in found["rows"] if row["rank"] >= 0 and row["thread"] == 0]
        rows = [row for row in of_ranks if row["function"] is not None]
        stand = all((row["for_ns"] or 0) > STANDING_S * 1e9 or row["state"] != "running" for row in rows)
        if len(rows) == RANKS and stand:
            return found
    raise AssertionError(f"{RANKS} ranks have not settled: {found['rows']}")


def where(tare: Path, run_dir: Path) -> dict[str, Any]:
    done = ask(tare, "where", "--json", run_dir)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert result["schema"] == "tare.where/1"
    return result
