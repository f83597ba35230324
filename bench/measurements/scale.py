"""A run of 100,000 ranks: how long `tare profile` and `tare info` take to answer, and their peak memory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import traces
from programs import built
from report import Row, Table
from tare.analysis.intervals import median_interval

from tools import ROOT, TARE, BenchError

RANKS = 100_000
SITES = 200
LIMIT_S = 10.0
LIMIT_GIB = 2.0
# Words behind `tare VERB RUN`.
VIEWS: dict[str, tuple[str, ...]] = {
    **{f"profile --by {by}": ("--by", by, "--limit", "20") for by in ("site", "function", "rank")},
    "info --json": ("--json",),
}
TIMEOUT_S = 600


def measure(rounds: int) -> list[Table]:
    directory = ROOT / "build" / "bench"
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="many-ranks-", dir=directory) as run:
        size_gib = make(Path(run))
        samples = {view: [_read(Path(run), view) for _ in range(rounds)] for view in VIEWS}
    note = f"{size_gib:.1f} GiB of files, in the page cache"
    return [
        _table("Time to answer", "s", 0, LIMIT_S, samples, rounds, note),
        _table("Peak memory, mapped files included", "GiB", 1, LIMIT_GIB, samples, rounds, note),
    ]


def make(run: Path) -> float:
    """Writes the run; returns its size."""
    if shutil.disk_usage(run).free < 4 << 30:
        raise BenchError(f"{run.parent} has no room for a run of {RANKS:,} ranks: free 4 GiB")
    traces.describe(run, "solver", traced=False)
    subprocess.run([built("bench/many_ranks"), run, str(RANKS), str(SITES)], check=True, timeout=TIMEOUT_S)
    return sum(path.stat().st_size for path in run.iterdir()) / 2**30


def _read(run: Path, view: str) -> tuple[float, float]:
    """Seconds and GiB of one."""
    began = time.monotonic()
    child = subprocess.Popen(
        [TARE, view.split()[0], run, *VIEWS[view]], stdout=subprocess.DEVNULL, stderr=sys.stderr
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise BenchError(f"tare {view} failed on a run of {RANKS:,} ranks")
    return time.monotonic() - began, usage.ru_maxrss / 2**20


def _table(
    title: str,
    unit: str,
    which: int,
    limit: float,
    samples: dict[str, list[tuple[float, float]]],
    rounds: int,
    note: str,
) -> Table:
    values = {view: [sample[which] for sample in of] for view, of in samples.items()}
    rows = [Row(label, median(of), median_interval(of), limit) for label, of in values.items()]
    title = f"{title}, {RANKS:,} ranks of {SITES} call sites"
    return Table(title, unit, unit, rows, rounds, over="median", notes=[note], samples=values, last_column="")
