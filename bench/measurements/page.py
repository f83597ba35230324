"""The page: how long `tare report` and the first view take, its size, and how fast `tare view` answers."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from statistics import median

import traces
from report import Row, Table
from tare.analysis.intervals import median_interval

from measurements import scale
from tools import ROOT, TARE, BenchError

SMALL, MIDDLE, LARGE = 1_000_000, 10_000_000, 100_000_000
REPORT_S, PAGE_MB, FIRST_VIEW_S, ZOOM_MS = 20.0, 15.0, 3.0, 150.0
MANY_S, MANY_GIB = 15.0, 3.0
COLUMNS = 1400
TIMEOUT_S = 600


def measure(rounds: int) -> list[Table]:
    directory = ROOT / "build" / "bench"
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="page-", dir=directory) as scratch:
        place = Path(scratch)
        many = _many_ranks(place / "many", rounds)
        small, middle = (traces.make(place / str(events), events) for events in (SMALL, MIDDLE))
        reports = [_report(middle, place / "middle.html") for _ in range(rounds)]
        size_mb = (place / "middle.html").stat().st_size / 1e6
        _report(small, place / "small.html")
        first = [_first_view(place / "small.html") for _ in range(rounds)]
        zooms = _zooms(traces.make(place / str(LARGE), LARGE))
    seconds = {
        f"tare report, {MIDDLE:,} events": (reports, REPORT_S),
        f"first view in Chromium, {SMALL:,} events": (first, FIRST_VIEW_S),
        "tare report, 100,000 ranks of 200 call sites": ([each[0] for each in many], MANY_S),
    }
    return [
        _table("The page: times", "s", seconds, rounds),
        _table("The page: its size", "MB", {f"{MIDDLE:,} events": ([size_mb], PAGE_MB)}, rounds),
        _table("The page: memory", "GiB", {"100,000 ranks": ([each[1] for each in many], MANY_GIB)}, rounds),
        _table(
            f"tare view: the slowest of the answers to a zoom, {LARGE:,} events",
            "ms",
            {name: (values, ZOOM_MS) for name, values in zooms.items()},
            1,
        ),
    ]


def _table(title: str, unit: str, values: dict[str, tuple[list[float], float]], rounds: int) -> Table:
    rows = [Row(label, median(of), median_interval(of), limit) for label, (of, limit) in values.items()]
    samples = {label: of for label, (of, _) in values.items()}
    return Table(title, unit, unit, rows, rounds, over="median", samples=samples, last_column="")


def _report(run: Path, to: Path) -> float:
    began = time.monotonic()
    subprocess.run([TARE, "report", run, "-o", to], check=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT_S)
    return time.monotonic() - began


def _many_ranks(run: Path, rounds: int) -> list[tuple[float, float]]:
    """Seconds and GiB."""
    run.mkdir()
    scale.make(run)
    found = []
    for _ in range(rounds):
        began = time.monotonic()
        child = subprocess.Popen([TARE, "report", run, "-o", f"{run}.html"], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise BenchError("tare report failed on a run of 100,000 ranks")
        found.append((time.monotonic() - began, usage.ru_maxrss / 2**20))
    shutil.rmtree(run)
    return found


def _first_view(page: Path) -> float:
    """The time until the page says that all that is in view is shown; the browser runs already."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        raise BenchError("chromium is not installed: tools/apt.sh test")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": COLUMNS, "height": 900})
        began = time.monotonic()
        opened.goto(page.as_uri())
        opened.wait_for_selector("html[data-ready]", timeout=TIMEOUT_S * 1000)
        taken = time.monotonic() - began
        browser.close()
    return taken


def _zooms(run: Path) -> dict[str, list[float]]:
    """The slowest answers, of windows all over the run, by how much of it they show."""
    process = subprocess.Popen(
        [TARE, "view", run], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        if not url:
            raise BenchError("tare view has not started")
        length = LARGE // traces.RANKS // 5 * 50_000

        def answer(part: int, number: int) -> float:
            start = (length - length // part) * number // 10
            window = f"from={start}&to={start + length // part}"
            query = f"first=0&rows={traces.RANKS}&group=1&{window}&columns={COLUMNS}"
            began = time.monotonic()
            with urllib.request.urlopen(f"{url}data/recorded/picture?{query}", timeout=TIMEOUT_S) as got:
                got.read()
            return 1e3 * (time.monotonic() - began)

        return {
            f"1/{part:,} of the run": [max(_times(answer, part))]
            for part in (1, 10, 100, 1000, 10_000, 1_000_000)
        }
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)


def _times(answer: Callable[[int, int], float], part: int) -> list[float]:
    return [answer(part, number) for number in range(10)]
