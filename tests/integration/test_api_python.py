"""The API in Python: what a program records appears in its run, under `tare run` and without."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from environments import PYTHON
from measured import PROGRAMS
from tare.page import content
from tare.runs.run import open_run
from verbs import ask

PROGRAM = [str(PYTHON), str(PROGRAMS / "api_calls.py")]
# As in api_calls.py
THREADS, ROUNDS = 3, 50
SETUP = [
    {"kind": "phase", "name": "setup", "begin": True},
    {"kind": "marker", "name": "here"},
    {"kind": "counter", "name": "heap", "value": 12.5, "unit": "bytes"},
    {"kind": "counter", "name": "heap", "value": None, "unit": "bytes"},
    {"kind": "event", "name": "step", "parameters": [-1, 2**32 - 1, 3.25]},
    {"kind": "event", "name": "empty", "parameters": []},
    {"kind": "packed", "name": "sent", "parameters": [1, 2**40]},
    {"kind": "raw", "name": "note", "text": "ä\n"},
    {"kind": "raw", "name": "note", "text": "\\xff"},
    {"kind": "phase", "name": "setup", "begin": False},
]
RAISES = [
    {"kind": "region", "name": "raises", "begin": True},
    {"kind": "region", "name": "raises", "begin": False},
]
ROUND = [("solve", True), ("inner", True), ("inner", False), ("solve", False)]
EVENTS = len(SETUP) + THREADS * ROUNDS * len(ROUND) + len(RAISES)
TIMEOUT_S = 60


def execute(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def read(tare: Path, verb: str, run: Path, *options: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(execute(tare, verb, run, "--json", *options))
    return content


def assert_complete(tare: Path, run: Path) -> None:
    """Everything that api_calls.py records, once and in order."""
    rows = [row for row in read(tare, "events", run)["rows"] if "kind" in row]
    assert {row.pop("rank") for row in rows} == {-1} and len({row.pop("pid") for row in rows}) == 1
    assert {row.pop("world") for row in rows} == {0}
    for row in rows:
        row.pop("thread_name", None)  # the system's, which Python may set too
    by_thread: dict[int, list[dict[str, Any]]] = {}
    last_ns = 0
    for row in rows:
        assert row["start_ns"] >= last_ns
        last_ns = row.pop("start_ns")
        by_thread.setdefault(row.pop("thread"), []).append(row)
    assert by_thread.pop(0) == SETUP + RAISES
    # A short-lived thread may have taken over the place of another.
    for found in by_thread.values():
        assert {row["kind"] for row in found} == {"region"}
        assert [(row["name"], row["begin"]) for row in found] == ROUND * (len(found) // len(ROUND))
    assert sum(map(len, by_thread.values())) == THREADS * ROUNDS * len(ROUND)


def test_under_tare_run(tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert execute(tare, "run", "--quiet", "--trace", "-o", run, "--", *PROGRAM) == "recorded\n"
    assert_complete(tare, run)
    info = read(tare, "info", run)
    assert (info["trace"]["records"], info["trace"]["dropped"]) == (EVENTS, 0)
    assert info["exit_code"] == 0


def test_start_does_nothing_under_tare_run(tare: Path, tmp_path: Path) -> None:
    run, other = tmp_path / "run", tmp_path / "other"
    execute(tare, "run", "--quiet", "--trace", "-o", run, "--", *PROGRAM, str(other))
    assert_complete(tare, run)
    assert not other.exists()


def test_without_trace_nothing_is_recorded(tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert execute(tare, "run", "--quiet", "-o", run, "--", *PROGRAM) == "nothing\n"
    assert read(tare, "events", run)["rows"] == []


def test_without_tare_run_nothing_is_recorded(tmp_path: Path) -> None:
    assert execute(*PROGRAM, cwd=tmp_path) == "nothing\n"
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_its_own(tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert execute(*PROGRAM, str(run)) == "recorded\n"
    assert_complete(tare, run)
    info = read(tare, "info", run)
    assert info["trace"] == info["ranks"][0]["trace"]
    assert info["trace"]["records"] == EVENTS
    cost = info["cost"]
    assert cost["own_events"] == EVENTS
    assert cost["event_ns"] > 1
    assert abs(cost["wrapper_ns"] - EVENTS * cost["event_ns"]) <= 1
    assert f"own events {EVENTS:,}, " in execute(tare, "info", run)
    assert [(row["rank"], row["state"], row["exit_code"]) for row in info["ranks"]] == [(-1, "finished", 0)]
    assert "every process has ended" in execute(tare, "info", run)
    assert read(tare, "profile", run)["rows"] == []


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A program that has recorded to tmp_path/run, and kills itself once it is told."""
    command = [*PROGRAM, str(tmp_path / "run"), "wait"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "recorded\n"
        yield program
        program.kill()


def test_while_it_runs_and_after_sigkill(tare: Path, tmp_path: Path, waiting: subprocess.Popen[str]) -> None:
    run = tmp_path / "run"
    states = []
    for _ in range(2):
        assert_complete(tare, run)
        (process,) = read(tare, "info", run)["ranks"]
        states.append(process["state"])
        if waiting.returncode is None:
            waiting.communicate("\n", TIMEOUT_S)
    assert states == ["running", "killed"]
    meta = json.loads((run / "meta.json").read_text())
    segments = (Path(meta["segment_dir"]), f"tare-{meta['run_id']}-*")
    assert len(list(segments[0].glob(segments[1]))) == 1
    assert "took over 1 process, " in execute(tare, "recover", run)
    assert list(segments[0].glob(segments[1])) == []
    assert_complete(tare, run)


def test_what_is_said_of_a_program_without_mpi(tare: Path, tmp_path: Path) -> None:
    """Nothing of calls and MPI; the cost of many threads is compared with the time of all of them."""
    run = tmp_path / "run"
    command: list[str | Path] = [tare, "run", "--trace", "-o", run, "--", *PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    for shown in (done.stderr, execute(tare, "info", run)):
        assert "processes  1 on 1 host, 1 finished" in shown
        account = shown.split("Cost of measuring (all processes)")[1].split("Run directory")[0]
        for absent in (
            "MPI",
            "wrappers",
            "weighed",
            "calls timed",
            "look-up",
            "hooks",
            "net time",
            " 0.0 ns",
        ):
            assert absent not in account, account
        (share,) = re.findall(r"in all +([\d.]+) % of recorded time", account)
        assert 0 < float(share) <= 100
        assert "MPI share" not in shown and "Net time" not in shown
    (process,) = read(tare, "info", run)["ranks"]
    assert (process["calls"], process["counted"], process["mpi_ns"]) == (0, 0, 0)
    assert process["cost"]["net_share"] <= 1
    assert "This run has no recorded call of any process" in execute(tare, "explain", run)
    page = content.of_run(open_run(run))["overview"]
    assert (page["uses_mpi"], page["mpi_share"]) == (False, None)


def test_choosing_by_name(tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    execute(*PROGRAM, str(run))
    chosen = ("--function", "inner", "--function", "note")
    names = Counter(row["name"] for row in read(tare, "events", run, *chosen)["rows"])
    assert names == {"inner": 2 * THREADS * ROUNDS, "note": 2}
    nothing = ask(tare, "events", run, "--rank", "0")
    assert (nothing.returncode, nothing.stderr) == (
        1,
        "tare: --rank: the processes of this run have no ranks, as none has called MPI\n",
    )


def test_the_table(tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    execute(*PROGRAM, str(run))
    lines = execute(tare, "events", run, "--limit", str(len(SETUP))).splitlines()
    # How many columns of what only MPI calls have follow depends on the width.
    cells = [" ".join(line.split()[1:]).rstrip("- ") for line in lines[1:]]
    ((process, *_),) = {tuple(each.split()[:2]) for each in cells}
    assert process == "process"
    cells = [" ".join(each.split()[2:]) for each in cells]
    assert cells[:3] == ["0 setup phase begins", "0 here marker", "0 heap 12.5 bytes"]
    assert cells[4] == "0 step (-1, 4294967295, 3.25)"
    assert cells[7] == '0 note "ä\\n"'


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    wanted = tmp_path / "no" / "such"
    done = subprocess.run([*PROGRAM, str(wanted)], capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 1
    assert f"FileNotFoundError: [Errno 2] No such file or directory: '{wanted}'" in done.stderr


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ('tare.event("e", "x")', "ValueError"),
        ('tare.event("e", "i" * 11)', "ValueError"),
        ('tare.event("e", "i")(1.5)', "TypeError"),
        ('tare.event("e", "i")(1, 2)', "TypeError"),
        ('tare.event("e", "i"), tare.event("e", "d")', "ValueError"),
        ('tare.packed("p")(*range(11))', "TypeError"),
        ('tare.raw("r")(1)', "TypeError"),
        ("tare.region(1)", "TypeError"),
        ("tare.no_such", "AttributeError"),
    ],
)
def test_mistakes_are_told(statement: str, error: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TARE_")}
    done = subprocess.run(
        [PYTHON, "-c", f"import tare; {statement}"], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 1
    assert f"\n{error}: " in done.stderr


def test_import_is_light() -> None:
    code = "import sys, tare; tare.region; print({'typer', 'rich', 'tare._native'} & set(sys.modules))"
    assert execute(PYTHON, "-c", code) == "set()\n"
