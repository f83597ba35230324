"""tared where rounds come once a second: the memory that it has had at most, and its share of a processor."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from programs import mpis, program
from report import Row, Table
from tare.analysis.intervals import median_interval

from tools import TARE, BenchError, MpiEnvironment, tared_of

LIMIT_MIB = 20.0
LIMIT_PERCENT = 1.0
RANKS = 2
WATCHED_S = 10.0
PATIENCE_S = 30.0
KIB_PER_MIB = 1024


def measure(rounds: int) -> list[Table]:
    mpi = mpis()[0]
    measured = [_run(mpi) for _ in range(rounds)]
    memory = [mib for mib, _ in measured]
    share = [percent for _, percent in measured]
    return [
        Table(
            "tared, rounds once a second: memory at most", "MiB", "MiB",
            [Row("tared", median(memory), median_interval(memory), LIMIT_MIB)],
            rounds, digits=1, over="in all",
        ),
        Table(
            "tared, rounds once a second: share of a processor", "%", "%",
            [Row("tared", median(share), median_interval(share), LIMIT_PERCENT)],
            rounds, digits=2, over="in all",
        ),
    ]  # fmt: skip


def _run(mpi: MpiEnvironment) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        argv = [program(mpi, "bcast_barrier"), "-i", "100000000", "-r", "1"]
        command = [TARE, "run", "--quiet", "--monitor=1s", "-o", run, "--", *mpi.mpiexec, "-n", RANKS, *argv]
        job = subprocess.Popen(
            [str(word) for word in command], env=mpi.environ(), start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            found = _storing(run)
            before, begin = _cpu_s(found), time.monotonic()
            time.sleep(WATCHED_S)
            took, passed = _cpu_s(found) - before, time.monotonic() - begin
            status = Path(f"/proc/{found}/status").read_text()
            (peak,) = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
            return int(peak) / KIB_PER_MIB, 100 * took / passed
        finally:
            os.killpg(job.pid, signal.SIGTERM)
            job.wait(PATIENCE_S)


def _storing(run: Path) -> int:
    """Its process, when the first round has been stored."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if any(run.glob("monitor-*.tare")):
            return tared_of(run)
        time.sleep(0.05)
    raise BenchError("tared stores no rounds")


def _cpu_s(pid: int) -> float:
    """The time as the scheduler counts it, in nanoseconds: ticks are longer than what is measured."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9
