"""The measurements can at least be started: they run seldom, and import what changes often."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

from environments import ROOT


def test_every_measurement_is_there() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "bench" / "run.py", "--help"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    for file in (ROOT / "bench" / "measurements").glob("[a-z]*.py"):
        assert f" {file.stem}: " in text, f"bench/run.py does not know {file.name}"


def test_samples_are_judged_by_what_many_of_them_cost() -> None:
    code = (
        "from tare.analysis.intervals import Interval; from report import Row; "
        "from measurements import stacks; "
        "row = stacks.at_default_rate(Row('', 9.0, Interval(1.22, 0.61, 2.44, 10, 0.95))); "
        "print([round(x, 3) for x in (row.over.median, row.over.low, row.over.high, row.limit)], row.verdict)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "bench", capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "[0.5, 0.25, 1.0, 0.5] met (uncertain)\n", done.stderr


MEASURED = """
import sys
import run
from report import Row, Table
from tools import BenchError


def table(title):
    return Table(title, "s", "s", [Row("one", 1.0, None)], 1)


def fails(rounds):
    yield table("first")
    raise BenchError("no result")


run.PLAIN.update(files=fails, frames=lambda rounds: [table("second")])
sys.argv = ["run.py", "--only", "files", "--only", "frames", "-o", sys.argv[1]]
sys.exit(run.main())
"""


def test_a_measurement_that_fails_leaves_the_others(tmp_path: Path) -> None:
    out = tmp_path / "all.json"
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, out], cwd=ROOT / "bench", capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1, done.stderr
    assert "bench: files: no result" in done.stderr
    assert "not measured to the end: files" in done.stdout
    assert [title for title in ("first", "second") if title not in done.stdout] == []
    assert {"first", "second"} <= set(re.findall(r'"title": "(\w+)"', out.read_text("utf-8")))


KNOWN_ROUNDS = """
from interleave import Rounds
from tools import Outcome, Tool

one, other = Tool("one"), Tool("other")
of = [Outcome(str(number), 1.0) for number in range(6)]
rounds = Rounds(3, {one: of[:3], other: of[3:]})
known = rounds.known(lambda outcome: outcome is not of[1] and outcome is not of[5])
print(known.count, known.outcomes[one] == of[:1], known.outcomes[other] == of[3:4])
"""


def test_rounds_without_a_result_are_left_out() -> None:
    done = subprocess.run(
        [sys.executable, "-c", KNOWN_ROUNDS], cwd=ROOT / "bench", capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "1 True True\n", done.stderr


def test_made_runs_can_be_read(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; import traces; run = Path(sys.argv[1]); "
        "traces.describe(run, 'made', traced=True); import tare; print(tare.open(run).meta.state)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path], cwd=ROOT / "bench", capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "ended\n", done.stderr


GRID = """
import grid

made = [
    {"ranks": ranks, "fan_out": 8, "events": events, "boi_ns": 1e4 * ranks + events,
     "boi_trials_ns": [1e4, 2e4, 3e4], "boi_trials_confirmed": 2,
     "arrivals_below_boi": [{"percent": 4.0}, {"percent": -2.0}],
     "limiting_overhead_percent": 12.3, "direct_offload_ns": 100.0 * ranks}
    for ranks in (8, 64) for events in (16, 64)
]
page = grid.with_numbers(grid.PAGE.read_text(), made)
assert grid.with_numbers(page, made) == page
print(page)
"""


def test_the_page_of_the_grid_takes_what_is_measured() -> None:
    done = subprocess.run(
        [sys.executable, "-c", GRID], cwd=ROOT / "bench", capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "| ranks | fan-out | 16 | 64 |\n|---|---|---|---|\n| 8 | 8 | 0.080 | 0.080 |" in done.stdout
    assert "| 8 | 12 | 12 |" in done.stdout and "8 of the 12 were confirmed" in done.stdout
    assert "arrived at intervals 2 % shorter than it" in done.stdout and "every 0.64 ms here" in done.stdout
    assert "takes 0.8 to 6.4 µs" in done.stdout


TRIALS = """
import report, trials
from interleave import Rounds
from tools import PROFILE, TRACE, Outcome

def ran(overhead, half_width):
    known = overhead is not None
    ends = {"low": overhead - half_width, "high": overhead + half_width} if known else {"why": "too short"}
    found = {"overhead": overhead, **ends}
    return Outcome("", 1.0, info={"trial": found})

table = report.Table("t", "s", "%", [], 8)
weighing = trials.WEIGHED
outcomes = {weighing[PROFILE]: [ran(0.022, 0.012), ran(0.018, 0.016)], weighing[TRACE]: 2 * [ran(None, 0)]}
trials.add(table, Rounds(2, outcomes), {PROFILE: 2.5, TRACE: 6.0})
profile, trace = table.rows
print(profile.label, round(profile.over.median, 6), round(profile.over.low, 6), profile.verdict)
print(trace.label, trace.over, repr(trace.verdict))
print(*table.notes, sep="\\n")
report.show(table)
"""


def test_trials_stand_beside_whole_runs() -> None:
    """Together, with their interval; one that is not determined says why, and judges nothing."""
    done = subprocess.run(
        [sys.executable, "-c", TRIALS], cwd=ROOT / "bench", capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()[:4] == [
        "profile, by trial 2.0 1.0 met (uncertain)",
        "profile and trace, by trial None ''",
        "profile, by trial: trials of 2 runs of the whole program",
        "profile and trace, by trial: not determined: too short",
    ], done.stderr


LOADED = """
import sys; from measurements import truth
with truth._load():
    print("loaded", flush=True)
    sys.stdin.read()
"""


def test_load_ends_with_a_measurement_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LOADED],
        cwd=ROOT / "bench",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as measuring:
        assert measuring.stdout is not None and measuring.stdout.readline() == "loaded\n"
        (load,) = Path(f"/proc/{measuring.pid}/task/{measuring.pid}/children").read_text().split()
        watched = os.pidfd_open(int(load))
        measuring.kill()
        has_ended = bool(select.select([watched], [], [], 30)[0])
        if not has_ended:
            signal.pidfd_send_signal(watched, signal.SIGKILL)
        os.close(watched)
    assert has_ended
