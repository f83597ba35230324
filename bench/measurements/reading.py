"""Reading traces into Arrow tables, all columns, on one core."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import recorders
from programs import built
from report import Row, Table
from tare.analysis.intervals import median_interval

from measurements.sustained import DRIVER
from tools import ROOT, TARE, BenchError, openmpi4, run

# 20 million events a second.
LIMIT_NS = 50.0
API_EVENTS = 2_000_000
INNER = 5
WITHOUT_REQUESTS = ["start_ns", "duration_ns", "rank", "function", "peer", "tag", "bytes"]


def measure(rounds: int) -> list[Table]:
    (ROOT / "build" / "bench").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="traces-", dir=ROOT / "build" / "bench") as scratch:
        solver, api = record_solver(Path(scratch) / "solver"), _record_api(Path(scratch) / "api")
        samples = {
            "hypre StructSMG, 2 ranks: calls and completed requests": _read(solver, rounds),
            "the same, seven columns": _read(solver, rounds, WITHOUT_REQUESTS),
            "events of 4 ints": _read(api, rounds),
        }
    rows = [Row(label, min(values), median_interval(values), LIMIT_NS) for label, values in samples.items()]
    best = ", ".join(f"{1e3 / min(values):.0f}" for values in samples.values())
    notes = [f"at best {best} million events a second; each round is the fastest of {INNER} readings"]
    title = "Reading a trace into Arrow tables: processor time an event, 20 million a second being 50 ns"
    return [
        Table(
            title, "ns", "ns", rows, rounds, over="of a round", notes=notes, samples=samples, last_column=""
        )
    ]


def _read(trace: Path, rounds: int, columns: list[str] | None = None) -> list[float]:
    """Nanoseconds an event, of the fastest reading of each round."""
    command: list[Path | str] = [built("bench/read_tables"), trace, str(INNER), *(columns or [])]
    found = []
    for _ in range(rounds):
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise BenchError(done.stderr.strip())
        readings = [line.split() for line in done.stdout.splitlines()]
        found.append(min(1e9 * float(seconds) / int(events) for events, _, seconds in readings))
    return found


def record_solver(to: Path) -> Path:
    prefix: list[Path | str] = [TARE, "run", "-q", "--trace", "-o", to, "--"]
    done = run(openmpi4(), 2, [built("workloads/diffusion")], prefix=prefix, timeout_s=300)
    if done.returncode != 0:
        raise BenchError(f"the solver failed under tare run --trace:\n{done.stderr}")
    return to


def _record_api(to: Path) -> Path:
    subprocess.run(
        [recorders.build(DRIVER), str(API_EVENTS), "0", str(to)], check=True, capture_output=True, timeout=300
    )
    return to
