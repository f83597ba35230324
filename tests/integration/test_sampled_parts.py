"""`tare profile --by function,phase`, `,iteration` and `,between` (programs/sampled_parts.c)."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from collections import defaultdict
from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import Any

from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, WITH_API, Measurement, measure
from on_mpi import both_families, on_mpich
from verbs import ask

STEPS, RANKS, MS = 20, 2, 1e6
SMOOTH, RESIDUAL = 30 * STEPS * RANKS, (10 * STEPS + 200) * RANKS  # ms
IN_ALL = SMOOTH + RESIDUAL

# Of two MPI libraries, as their stacks differ; the rest does not depend on it.


def run(mpi: MpiEnvironment, tare: Path, tmp_path: Path, *arguments: str) -> Measurement:
    program = compile_c(mpi, [PROGRAMS / "sampled_parts.c"], tmp_path / "parts", "-O1", "-g", *WITH_API)
    command: list[Path | str] = [program, str(STEPS), *arguments]
    measured = measure(tare, mpi, RANKS, command, tmp_path / "run", "--trace", "--with", "stacks")
    assert measured.ended.returncode == 0, measured.ended.stderr
    return measured


def parts(measured: Measurement, by: str) -> list[dict[str, Any]]:
    done = ask(measured.tare, "profile", measured.directory, "--by", by, "--json", check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)["functions"]
    return found


def sums(rows: list[dict[str, Any]], key: Callable[[dict[str, Any]], Any]) -> dict[Any, float]:
    """Milliseconds."""
    found: dict[Any, float] = defaultdict(float)
    for row in rows:
        found[key(row)] += row["time_ns"] / MS
    return found


def function_of(row: dict[str, Any]) -> str:
    return next((name for name in ("smooth", "residual") if name in row["function"]), "other")


def is_near(found_ms: float, true_ms: float) -> bool:
    """Whether they differ by at most four deviations of a share of 10 ms samples, and some samples."""
    share = true_ms / IN_ALL
    return abs(found_ms - true_ms) <= 10 * (4 * sqrt(IN_ALL / 10 * share * (1 - share)) + 6)


@both_families
def test_parts_have_the_times_that_the_program_spends_there(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    measured = run(mpi, tare, tmp_path)
    phases = sums(parts(measured, "function,phase"), lambda row: (function_of(row), row["phase"]))
    assert is_near(phases["smooth", "smoothing"], SMOOTH)
    assert is_near(phases["residual", None], RESIDUAL)
    assert phases["smooth", None] + phases["residual", "smoothing"] <= 40
    rows = parts(measured, "line,between")
    between = sums(rows, lambda row: (function_of(row), row["since_function"], row["until_function"]))
    assert is_near(between["smooth", "MPI_Barrier", "MPI_Allreduce"], SMOOTH * (STEPS - 1) / STEPS)
    assert is_near(between["residual", "MPI_Allreduce", "MPI_Barrier"], RESIDUAL)
    lines = (PROGRAMS / "sampled_parts.c").read_text().splitlines()
    longest = max(rows, key=lambda row: row["time_ns"])
    assert "MPI_Barrier" in lines[longest["since_line"] - 1]
    assert "MPI_Allreduce" in lines[longest["until_line"] - 1]
    assert (longest["until_caller"], longest["ranks"]) == ("main", RANKS)
    assert 0 < longest["error_ns"] < longest["time_ns"]
    # The long step may end a phase; then it is no iteration of it.
    rows = [row for row in parts(measured, "function,iteration") if function_of(row) == "smooth"]
    assert is_near(sum(row["time_ns"] for row in rows) / MS, SMOOTH)
    of_step = sums(rows, lambda row: (row["phase"], row["iteration"]))
    steps = [ms for (_, number), ms in of_step.items() if number is not None]
    assert STEPS / 2 <= len(steps) <= STEPS + 1
    assert sum(steps) >= SMOOTH / 2
    assert all(is_near(ms, 30 * RANKS) for ms in steps)


@on_mpich
def test_without_marked_phases_they_are_what_the_trace_shows(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    measured = run(mpi, tare, tmp_path, "unmarked")
    assert {row["phase"] for row in parts(measured, "function,phase")} <= {"A", "B", None}
    command: list[str | Path] = [tare, "profile", measured.directory, "--by", "function,phase"]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert "The program marks no phases, so these are what the trace shows" in shown
    command[-1] = "function,between"
    table = subprocess.run([*command, "--csv"], capture_output=True, text=True, timeout=60, check=True).stdout
    rows = list(csv.DictReader(io.StringIO(table)))
    assert rows[0]["since_function"] == "MPI_Barrier"
    assert sum(int(row["samples"]) for row in rows) == sum(
        row["samples"] for row in parts(measured, "line,between")
    )


def test_a_run_without_samples_in_a_trace_says_so(tare: Path, tmp_path: Path) -> None:
    command: list[str | Path] = [
        tare,
        "run",
        "--quiet",
        "--with",
        "stacks",
        "-o",
        tmp_path / "run",
        "--",
        "python3",
        "-c",
        "1",
    ]
    subprocess.run(command, check=True, timeout=60)
    by: list[str | Path] = [tare, "profile", tmp_path / "run", "--by", "function,iteration"]
    done = subprocess.run(by, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "there are no samples of stacks in a trace (tare run --trace --with stacks)" in done.stderr


def test_options_that_choose_calls_are_refused(tare: Path, tmp_path: Path) -> None:
    command = [str(tare), "run", "--quiet", "-o", str(tmp_path / "run"), "--", "python3", "-c", "1"]
    subprocess.run(command, check=True, timeout=60)
    by = [str(tare), "profile", str(tmp_path / "run"), "--by", "function,phase", "--sort", "calls"]
    done = subprocess.run(by, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "does not go with --function, --communicator and other orders than time" in done.stderr
