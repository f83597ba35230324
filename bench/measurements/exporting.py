"""Exporting traces, on one core, and reading the result with another tool."""

from __future__ import annotations

import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import tare
from report import Row, Table
from tare.analysis.intervals import median_interval

from measurements.reading import record_solver
from tools import ROOT, BenchError

# 2 million events a second.
LIMIT_NS = 500.0
INNER = 3
FORMATS = {"otf2": "OTF2", "perfetto": "Perfetto"}


def measure(rounds: int) -> list[Table]:
    (ROOT / "build" / "bench").mkdir(parents=True, exist_ok=True)
    samples: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="exports-", dir=ROOT / "build" / "bench") as scratch:
        trace, out = record_solver(Path(scratch) / "solver"), Path(scratch) / "out"
        for _ in range(rounds):
            for kind, name in FORMATS.items():
                calls = 0
                spent: list[float] = []
                for _ in range(INNER):
                    calls, spent_ns = _export(trace, kind, out)
                    spent.append(spent_ns / calls)
                samples.setdefault(f"export to {name}", []).append(min(spent))
                if kind == "otf2" and shutil.which("otf2-print"):
                    samples.setdefault("otf2-print --silent, which reads it", []).append(_read(out, calls))
                _remove(out)
    limits = {label: LIMIT_NS if label.startswith("export") else None for label in samples}
    rows = [Row(label, min(of), median_interval(of), limits[label]) for label, of in samples.items()]
    best = ", ".join(f"{1e3 / min(of):.1f}" for of in samples.values())
    notes = [f"at best {best} million calls a second; each export is the fastest of {INNER}"]
    title = "Exporting the trace of hypre StructSMG: processor time a call, 2 million a second being 500 ns"
    return [
        Table(
            title, "ns", "ns", rows, rounds, over="of a round", notes=notes, samples=samples, last_column=""
        )
    ]


def _export(trace: Path, kind: str, out: Path) -> tuple[int, int]:
    """Calls, and nanoseconds of processor time, opening the run and naming call sites included."""
    _remove(out)
    begin = time.process_time_ns()
    done = tare.open(trace).export_trace(kind, out, None, None, None)
    if not done.events:
        raise BenchError("the solver made no calls")
    return done.events, time.process_time_ns() - begin


def _read(archive: Path, calls: int) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        ["otf2-print", "--silent", archive / "traces.otf2"], check=True, capture_output=True, timeout=300
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1e9 * spent_s / calls


def _remove(out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    out.unlink(missing_ok=True)
