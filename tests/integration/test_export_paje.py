"""`tare export --to paje`, read by PajeNG's pj_dump."""

from __future__ import annotations

import csv
import subprocess
from collections import Counter
from pathlib import Path

import pyarrow as pa
import tare as tare_package
from environments import PYTHON
from exporting import (
    HOSTILE_NAMES,
    exported,
    hostile_run,
    measured,
    rows,
    start_ns,
)
from measured import PROGRAMS

Row = list[str]
DIGITS = 9  # of times, in seconds


def nanoseconds(seconds: str) -> int:
    return round(float(seconds) * 1e9)


def dump(trace: Path) -> dict[str, list[Row]]:
    """Rows of pj_dump by what they are of; it fails on what it does not take for a correct trace."""
    command: list[str | Path] = ["pj_dump", "-u", "-l", str(DIGITS), trace]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, list[Row]] = {}
    for row in csv.reader(done.stdout.splitlines(), skipinitialspace=True):
        found.setdefault(row[0], []).append(row)
    return found


def read(tare: Path, run: Path, to: Path, *options: str) -> dict[str, list[Row]]:
    return dump(exported(tare, run, "paje", to, *options))


def test_every_call_and_message(tare: Path, tmp_path: Path) -> None:
    run = measured(tare, tmp_path, "persistent.c", 2, "20").directory
    found = read(tare, run, tmp_path / "out")
    calls = [row for row in rows(tare, run) if str(row["function"]).startswith("MPI_")]
    states = [row for row in found["State"] if row[7].startswith("MPI_")]
    assert Counter((row[1].split()[1], row[7]) for row in states) == Counter(
        (str(row["rank"]), str(row["function"])) for row in calls
    )
    # Of a rank: calls of two ranks may begin at the same time.
    by_start = sorted(states, key=lambda row: (row[1].split()[1], nanoseconds(row[3])))
    in_order = sorted(calls, key=lambda row: (str(row["rank"]), int(str(row["start_ns"]))))
    for row, call in zip(by_start, in_order, strict=True):
        assert abs(nanoseconds(row[5]) - int(str(call["duration_ns"]))) <= 2
    # A link begins and ends where its call does.
    matched = [
        one
        for one in pa.table(tare_package.open(run).messages).to_pylist()
        if one["send_enter_ns"] and one["receive_completion_leave_ns"]
    ]
    assert matched
    assert Counter((row[7].split()[1], row[8].split()[1]) for row in found["Link"]) == Counter(
        (str(one["source"]), str(one["destination"])) for one in matched
    )
    zero = min(int(str(row["start_ns"])) for row in calls) - min(nanoseconds(row[3]) for row in states)
    spans = sorted((nanoseconds(row[3]) + zero, nanoseconds(row[4]) + zero) for row in found["Link"])
    expected = sorted((one["send_enter_ns"], one["receive_completion_leave_ns"]) for one in matched)
    assert all(
        abs(found_ns - expected_ns) <= 2
        for found_span, expected_span in zip(spans, expected, strict=True)
        for found_ns, expected_ns in zip(found_span, expected_span, strict=True)
    )


def test_messages_that_end_outside_are_left_out(tare: Path, tmp_path: Path) -> None:
    run = measured(tare, tmp_path, "ring.c", 3, "40", str(tmp_path / "begun")).directory
    whole = read(tare, run, tmp_path / "whole")
    times = sorted(int(str(row["start_ns"])) for row in rows(tare, run))
    middle = f"{(times[len(times) // 2] - start_ns(run)) / 1e9:.9f}"
    part = read(tare, run, tmp_path / "part", "--from", middle)
    assert 0 < len(part["Link"]) < len(whole["Link"]) == 3 * 40
    one = read(tare, run, tmp_path / "one", "--rank", "1")
    assert "Link" not in one and {row[1].split()[1] for row in one["State"]} == {"1"}


def test_events_of_the_program(tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    program = [str(PYTHON), str(PROGRAMS / "api_calls.py")]
    subprocess.run([tare, "run", "--quiet", "--trace", "-o", run, "--", *program], check=True, timeout=60)
    found = read(tare, run, tmp_path / "out")
    states = Counter((row[7], float(row[6])) for row in found["State"] if "tare:" not in row[7])
    assert states == {("setup", 0): 1, ("solve", 0): 150, ("inner", 1): 150, ("raises", 0): 1}
    assert [float(row[6]) for row in found["Variable"]] == [12.5]  # infinity has no place in it
    assert Counter(row[4] for row in found["Event"]) == {
        "here": 1,
        "step": 1,
        "empty": 1,
        "sent": 1,
        "note": 2,
    }


def test_hostile_names(tare: Path, tmp_path: Path) -> None:
    trace = exported(tare, hostile_run(tmp_path), "paje", tmp_path / "out")
    done = subprocess.run(["pj_dump", trace], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    names = {line.split(", ", 7)[7] for line in done.stdout.splitlines() if line.startswith("State")}
    assert {name for name in names if "tare:" not in name} == {
        name.replace('"', "'") for name in HOSTILE_NAMES.values()
    }
