"""The ready-made studies, reduced: known truth, the papers' experiments, and what the harness takes."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report import Row, Table
from tare.analysis.intervals import Interval, coverage_reached, exactly

from tools import ROOT, TARE, BenchError

RESULTS = ROOT / "build" / "bench" / "studies"
DATABASE = "study.duckdb"
LOST_LIMIT = 3.0  # percent of the time
TRUTH_LIMIT = 5.0  # percent off


@dataclass(frozen=True)
class Reduced:
    """A study, and what is left of it here."""

    name: str
    only: tuple[str, ...] = ()


TOOLS = Reduced("tool-overheads")
TRACING = Reduced("tracing-overheads", ("ranks=2", "buffer=768K,8M"))
PROGRAMS = Reduced("recorder-programs")
SAMPLING = Reduced(
    "sampling", ("workload=smg,halo", "tool=tare,tare-samples", "sample=random:0.01,random:0.9")
)
TRUTH = Reduced("known-truth")


def measure(rounds: int) -> list[Table]:
    tables = [_truth(rounds)]
    for study in (TOOLS, TRACING, PROGRAMS, SAMPLING):
        report = _run(study, rounds)
        tables += [_overheads(study, rounds, table) for table in _tables(report, "In short")]
    return [*tables, _harness(rounds)]


def _run(study: Reduced, rounds: int) -> Any:
    """The report, as JSON."""
    file, results = ROOT / "studies" / f"{study.name}.toml", RESULTS / study.name
    shutil.rmtree(results, ignore_errors=True)
    results.parent.mkdir(parents=True, exist_ok=True)
    only = [word for each in study.only for word in ("--only", each)]
    _tare("run", file, "-o", results, "--repetitions", str(rounds), "--skip-unusable", *only)
    return json.loads(_tare("report", file, "-o", results, "--json"))


def _tare(*words: str | Path) -> str:
    done = subprocess.run([TARE, "study", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(f"tare study {words[0]} {words[1]}: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


def _tables(report: Any, section: str) -> list[dict[str, Any]]:
    """Each with its rows as dictionaries."""
    return [
        {
            "title": table["title"],
            "rows": [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]],
        }
        for each in report["sections"]
        if each["title"] == section
        for table in each["tables"]
    ]


def _overheads(study: Reduced, rounds: int, table: dict[str, Any]) -> Table:
    rows = []
    for row in table["rows"]:
        low, high = row["interval"] if row["interval"][0] is not None else 2 * [row["net overhead"]]
        blocks = row["blocks"]
        over = Interval(100 * row["net overhead"], 100 * low, 100 * high, blocks, coverage_reached(blocks))
        hook, wrap = (f"{name} {1e3 * row[f'{name} overhead']:+.0f} ms" for name in ("hook", "wrap"))
        rows.append(Row(row["run"], row["bare net"], over, peers=f"{row['verdict']}; {hook}, {wrap}"))
    title = f"Study {study.name}, {table['title']}: net time"
    return Table(title, "s, bare", "%", rows, rounds, 2, last_column="verdict")


def _truth(rounds: int) -> Table:
    """A tool that takes 1 us a call and 5 ms a flush; processor time, so that others do not matter."""
    parts, _ = _tables(_run(TRUTH, rounds), "The known truth")
    if unmeasured := [row["part"] for row in parts["rows"] if row["measured"] is None]:
        raise BenchError(f"study {TRUTH.name}: {', '.join(unmeasured)} of a known tool: not measured")
    rows = [
        Row(f"{row['part']}, {row['run']}", row["measured"], exactly(100 * abs(row["off by"])), TRUTH_LIMIT)
        for row in parts["rows"]
    ]
    return Table(
        "Known truth: a tool of 1 us a call and 5 ms a flush", "s", "%", rows, rounds, 4, over="off by"
    )


def _harness(rounds: int) -> Table:
    rows = []
    for study in (TOOLS, TRACING, PROGRAMS, SAMPLING):
        elapsed_s, runs_s, runs = _session(study)
        lost = 100 * (1 - runs_s / elapsed_s)
        label = f"{study.name}, {runs} runs of {runs_s / runs:.1f} s"
        rows.append(Row(label, elapsed_s, exactly(lost), LOST_LIMIT))
    return Table("What the harness of tare study takes", "s, in all", "%", rows, rounds, 2, over="lost")


def _session(study: Reduced) -> tuple[float, float, int]:
    import duckdb

    with duckdb.connect(str(RESULTS / study.name / DATABASE), read_only=True) as connection:
        found = connection.execute("SELECT sum(elapsed_s), sum(runs_s), sum(runs) FROM sessions").fetchone()
    assert found is not None
    return found[0], found[1], int(found[2])
