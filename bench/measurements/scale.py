"""A run of 100,000 ranks on 1,000 nodes: how long verbs take to answer, their peak memory, how both grow."""

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
FEWER = 10_000  # what they are compared with, to see how times grow
SITES = 200
LIMIT_S = 10.0
LIMIT_GIB = 2.0
LIMIT_GROWTH = RANKS / FEWER * 1.1
SQL = "SELECT function, sum(calls) FROM profile GROUP BY function"
# Words behind `tare`; RUN is the run. Those in SLOWER read each rank more than once, or write as much.
RUN = "RUN"
VIEWS: dict[str, tuple[str, ...]] = {
    **{
        f"profile --by {by}": ("profile", RUN, "--by", by, "--limit", "20")
        for by in ("site", "function", "rank")
    },
    "info --json": ("info", RUN, "--json"),
    "explain": ("explain", RUN),
    "where": ("where", RUN),
    "sql": ("sql", RUN, SQL),
    "recover": ("recover", RUN),
    "diff": ("diff", RUN, RUN),
    "report": ("report", RUN, "-o", os.devnull),
}
SLOWER = {"sql": 3, "recover": 3, "diff": 4, "report": 3}
TIMEOUT_S = 600


def measure(rounds: int) -> list[Table]:
    directory = ROOT / "build" / "bench"
    directory.mkdir(parents=True, exist_ok=True)
    samples: dict[int, dict[str, list[tuple[float, float]]]] = {}
    for ranks in (FEWER, RANKS):
        with tempfile.TemporaryDirectory(prefix="many-ranks-", dir=directory) as run:
            size_gib = make(Path(run), ranks)
            samples[ranks] = {view: [_read(Path(run), view) for _ in range(rounds)] for view in VIEWS}
    note = f"{size_gib:.1f} GiB of files, in the page cache"
    growth = {
        view: [more[0] / fewer[0] for more, fewer in zip(samples[RANKS][view], of, strict=True)]
        for view, of in samples[FEWER].items()
    }
    rows = [Row(view, median(of), median_interval(of), LIMIT_GROWTH) for view, of in growth.items()]
    return [
        _table("Time to answer", "s", 0, LIMIT_S, samples[RANKS], rounds, note),
        _table("Peak memory, mapped files included", "GiB", 1, LIMIT_GIB, samples[RANKS], rounds, note),
        Table(
            f"Time to answer, {RANKS:,} ranks over {FEWER:,}", "times", "times", rows, rounds,
            over="median", notes=[], samples=growth, last_column="",
        ),
    ]  # fmt: skip


def make(run: Path, ranks: int = RANKS) -> float:
    """Writes the run; returns its size in GiB."""
    if shutil.disk_usage(run).free < 4 << 30:
        raise BenchError(f"{run.parent} has no room for a run of {RANKS:,} ranks: free 4 GiB")
    traces.describe(run, "solver", traced=False)
    subprocess.run([built("bench/many_ranks"), run, str(ranks), str(SITES)], check=True, timeout=TIMEOUT_S)
    return sum(path.stat().st_size for path in run.iterdir()) / 2**30


def _read(run: Path, view: str) -> tuple[float, float]:
    """Seconds and GiB of one."""
    began = time.monotonic()
    words = [str(run) if word == RUN else word for word in VIEWS[view]]
    child = subprocess.Popen([TARE, *words], stdout=subprocess.DEVNULL, stderr=sys.stderr)
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
    rows = [
        Row(label, median(of), median_interval(of), limit * SLOWER.get(label, 1))
        for label, of in values.items()
    ]
    title = f"{title}, {RANKS:,} ranks of {SITES} call sites"
    return Table(title, unit, unit, rows, rounds, over="median", notes=[note], samples=values, last_column="")
