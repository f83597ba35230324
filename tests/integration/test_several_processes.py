"""Processes without MPI, several in one run: each is told from the others, and lives as long as it lives."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from browser import Opened
from tare.page import content, timeline
from tare.runs.run import open_run
from verbs import ask

CANVAS = "#timeline canvas.lanes"
SPINS = """
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
__attribute__((noinline)) void spin(double until) { while (now() < until) ; }
int main(void) {
  const int file = open("/dev/null", O_WRONLY);
  spin(0.3);
  return write(file, "x", 1) == 1 ? 0 : 1;
}
"""
# Colors of pixels: of a row, at 0 to 1 of the width.
COLORS = """(places) => {
  const canvas = document.querySelector("#timeline canvas.lanes");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const height = canvas.height / tare.timeline.count();
  return places.map(([row, at]) => {
    const pixel = 4 * (Math.floor(height * (row + 0.3)) * canvas.width + Math.floor(at * canvas.width));
    return [...data.slice(pixel, pixel + 4)].join();
  });
}"""


@pytest.fixture(scope="module")
def run(tare: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two processes, one after the other."""
    folder = tmp_path_factory.mktemp("several")
    (folder / "spins.c").write_text(SPINS)
    subprocess.run(["gcc", "-O1", "-g", "spins.c", "-o", "spins"], cwd=folder, check=True)
    command: list[Path | str] = [
        tare,
        "run",
        "-q",
        "--trace",
        "--with",
        "files,stacks",
        "-o",
        folder / "run",
        "--",
    ]
    command += ["sh", "-c", "./spins && ./spins"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("", "")
    return folder / "run"


def asked(tare: Path, *verb: Path | str) -> Any:
    done = ask(tare, *verb, check=True)
    return json.loads(done.stdout)


def test_calls_have_their_process(tare: Path, run: Path) -> None:
    pids = {process.pid for process in open_run(run).processes}
    assert len(pids) == 2
    rows = asked(tare, "events", run, "--function", "write", "--json")["rows"]
    assert [row["rank"] for row in rows] == [-1, -1] and {row["pid"] for row in rows} == pids
    table = pa.table(open_run(run).event_table(functions=["write"]))
    assert set(table["pid"].to_pylist()) == pids
    done = ask(tare, "events", run, "--rank", "0")
    assert "the processes of this run have no ranks" in done.stderr and done.returncode == 1
    shown = ask(tare, "events", run, check=True)
    assert all(f"process {pid} " in shown.stdout for pid in pids)


def test_samples_between_calls_are_of_both(tare: Path, run: Path) -> None:
    rows = asked(tare, "profile", run, "--by", "function,between", "--json")["functions"]
    assert max(rows, key=lambda row: row["samples"])["ranks"] == 2


def test_the_page_of_two_such_runs_speaks_of_processes(run: Path) -> None:
    recorded = open_run(run)
    sides = content.of_run(recorded, recorded)["comparison"]["sides"]
    assert [(side["ranks"], side["uses_mpi"]) for side in sides] == [(2, False)] * 2


def test_the_timeline_shows_a_process_while_it_lives(
    browser: Any, tare: Path, run: Path, tmp_path: Path
) -> None:
    recorded = open_run(run)
    shown = recorded.timeline()
    assert shown is not None
    about = timeline.described(recorded, shown)
    (first, begin, first_end), (second, second_begin, end) = sorted(about["lives"], key=lambda life: life[1])
    assert begin < 1_000_000 and end == about["length_ns"] and first_end <= second_begin
    to = tmp_path / "page.html"
    subprocess.run([tare, "report", run, "-o", to], capture_output=True, timeout=120, check=True)
    opened = Opened(browser.new_page(viewport={"width": 1400, "height": 900}), to.as_uri())
    opened.page.locator(CANVAS).scroll_into_view_if_needed()
    opened.wait(f"document.querySelector('{CANVAS}').dataset.ready")
    middles = [(begin + first_end) / 2 / end, (second_begin + end) / 2 / end]
    places = [[row, at] for row in (first, second) for at in middles]
    colors = opened.page.evaluate(COLORS, places)
    assert colors[0] == colors[3] != colors[1] == colors[2]
    opened.page.evaluate(f"tare.timeline.panel.choose({first}, {about['length_ns'] - 1})")
    opened.wait(
        "document.querySelector('#timeline .chosen-part h3').textContent.startsWith('Behind the end')"
    )
    assert opened.complaints == []


def test_no_messages_are_missed_where_there_are_none(tare: Path, tmp_path: Path) -> None:
    """Records were dropped, but not of messages."""
    copies = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=20000", "status=none"]
    options = ["--trace", "--policy", "drop", "--buffer", "8K", "--with", "files"]
    subprocess.run(
        [tare, "run", "-q", *options, "-o", tmp_path / "run", "--", *copies], timeout=60, check=True
    )
    assert asked(tare, "info", tmp_path / "run", "--json")["trace"]["dropped"] > 0
    export: list[Path | str] = [tare, "export", tmp_path / "run", "--to", "otf2", "-o", tmp_path / "otf2"]
    done = subprocess.run(export, capture_output=True, text=True, timeout=60, check=True)
    assert "messages" not in done.stderr
