"""Events as tables of Arrow: the rows of `tare events --json`, faster."""

from __future__ import annotations

import json
import math
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
import tare as tare_package
from environments import PYTHON, ROOT, all_environments, compile_c
from measured import PROGRAMS, measure
from tare.analysis.events import described
from tare.errors import UsageError
from tare.runs.run import open_run
from verbs import ask

DATA = ROOT / "tests" / "data"
STENCIL = DATA / "v1" / "stencil"
OPENMPI = next(env for env in all_environments() if env.name == "debian-openmpi")


def assert_same_rows(run: Path, **filters: Any) -> list[str]:
    """The decoder that goes row by row gives the same rows; returns them."""
    recording = tare_package.open(run)
    ranks, functions = filters.get("ranks"), filters.get("functions")
    events = recording.events(ranks, functions, filters.get("start_ns"), filters.get("end_ns"), 0)
    found = described(events, recording.sites, recording.communicators, recording.scopes)
    table = pa.table(recording.event_table(**filters))
    table.validate(full=True)
    rows = sorted(_line(row) for row in table.to_pylist())
    assert rows == sorted(_line(row) for row in found), filters
    return rows


def _line(row: dict[str, Any]) -> str:
    """What is there of a row, and in both."""
    left_out = {"object", "offset", "site", "words"}
    there = {key: value for key, value in row.items() if value is not None and key not in left_out}
    for key in ("requests", "parameters"):
        if key in there:
            there[key] = [_element(element) for element in there[key]]
    if isinstance(there.get("value"), float) and not math.isfinite(there["value"]):
        del there["value"]
    return json.dumps(there, sort_keys=True)


def _element(element: dict[str, Any] | float | None) -> Any:
    if isinstance(element, dict):
        return {key: value for key, value in element.items() if value is not None}
    return None if element is None or not math.isfinite(element) else float(element)


@pytest.mark.parametrize("run", sorted(DATA.glob("v*/*/meta.json")), ids=lambda run: run.parts[-3])
def test_stored_traces_have_the_same_rows(run: Path) -> None:
    assert assert_same_rows(run.parent)


@pytest.mark.parametrize(
    ("program", "ranks", "argument", "key"),
    [
        ("persistent.c", 2, "3", "requests"),
        ("onesided.c", 4, "data", "window"),
        ("handover.c", 2, "500", "starter"),
    ],
)
def test_real_traces_have_the_same_rows(
    program: str, ranks: int, argument: str, key: str, tare: Path, tmp_path: Path
) -> None:
    """Requests are started together or completed by another thread; there are windows and files."""
    path = compile_c(OPENMPI, [PROGRAMS / program], tmp_path / "program", "-pthread")
    arguments = [str(tmp_path / "data") if argument == "data" else argument] if argument else []
    options = ["--trace", "--buffer", "64K"]
    measured = measure(tare, OPENMPI, ranks, [path, *arguments], tmp_path / "run", *options)
    assert any(f'"{key}"' in row for row in assert_same_rows(measured.directory))


def test_events_of_the_program(tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    program = [str(PYTHON), str(PROGRAMS / "api_calls.py")]
    subprocess.run([tare, "run", "--quiet", "--trace", "-o", run, "--", *program], check=True, timeout=60)
    kinds = {json.loads(row).get("kind") for row in assert_same_rows(run)}
    assert {"region", "phase", "counter", "marker", "event", "packed", "raw"} <= kinds


def test_filters() -> None:
    recording = open_run(STENCIL)
    times = sorted(row["start_ns"] for row in recording.events(None, None, None, None, 0))
    middle, late = times[len(times) // 2], times[3 * len(times) // 4]
    for filters in (
        {"ranks": [1]},
        {"functions": ["MPI_Isend", "MPI_Waitall"]},
        {"start_ns": middle, "end_ns": late},
        {"ranks": [0], "functions": ["MPI_Waitall"], "end_ns": middle},
        {"ranks": [77]},
    ):
        assert bool(assert_same_rows(STENCIL, **filters)) == (filters.get("ranks") != [77])
    assert pa.table(recording.event_table(limit=5)).num_rows == 5


def test_columns_are_chosen_by_name() -> None:
    recording = open_run(STENCIL)
    table = pa.table(recording.event_table(columns=["rank", "function"]))
    assert table.column_names == ["rank", "function"]
    with pytest.raises(UsageError, match="events have no column colour"):
        recording.event_table(columns=["colour"])


def test_databases_read_them_as_they_are() -> None:
    recording = open_run(STENCIL)
    events = recording.event_table(columns=["rank", "function", "bytes"])
    by_rank = Counter(row["rank"] for row in recording.events(None, ["MPI_Isend"], None, None, 0))
    query = "SELECT rank, count(*) FROM events WHERE function = 'MPI_Isend' GROUP BY rank"
    # Twice: every stream begins anew.
    for _ in range(2):
        assert duckdb.execute(query).fetchall() and dict(duckdb.execute(query).fetchall()) == by_rank
    del recording
    assert pa.table(events).num_rows == sum(1 for _ in open_run(STENCIL).events(None, None, None, None, 0))


def test_a_parquet_file(tare: Path, tmp_path: Path) -> None:
    to = tmp_path / "events.parquet"
    subprocess.run([tare, "events", STENCIL, "--parquet", to, "--rank", "1"], check=True, timeout=60)
    count = sum(1 for _ in open_run(STENCIL).events([1], None, None, None, 0))
    assert duckdb.execute(f"SELECT count(*), min(rank), max(rank) FROM '{to}'").fetchall() == [(count, 1, 1)]
    assert list(tmp_path.iterdir()) == [to]

    missing = tmp_path / "none" / "events.parquet"
    done = ask(tare, "events", STENCIL, "--parquet", missing)
    assert done.returncode == 1
    assert done.stderr.startswith("tare: cannot write ") and done.stderr.count("\n") == 1
    both = ask(tare, "events", STENCIL, "--json", "--parquet", to)
    assert (both.returncode, both.stdout) == (2, "")


def test_a_run_without_mpi_has_no_rows(tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    subprocess.run([tare, "run", "--quiet", "--trace", "-o", run, "--", "true"], timeout=60)
    table = pa.table(open_run(run).event_table(columns=["rank"]))
    assert (table.num_rows, table.column_names) == (0, ["rank"])
