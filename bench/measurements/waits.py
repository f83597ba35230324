"""Wait states of a long trace, their delays and the critical path, on one core; and its events as a table."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from statistics import median

import traces
from programs import built
from report import Row, Table
from tare.analysis.intervals import median_interval

from tools import ROOT, BenchError

EVENTS = 10_000_000
LIMIT_S, LIMIT_GIB = 5.0, 4.0
TABLE_NS = 50.0  # an event: 20 million a second
TIMEOUT_S = 600


def measure(rounds: int) -> list[Table]:
    directory = ROOT / "build" / "bench"
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="waits-", dir=directory) as scratch:
        run = traces.make(Path(scratch) / "run", EVENTS)
        # Each in a process of its own: memory is that of the first reading.
        waits = [_run("bench/wait_states", run) for _ in range(rounds)]
        tables = [_run("bench/read_tables", run) for _ in range(rounds)]
    seconds = [float(words[1]) * EVENTS / int(words[0]) for words in waits]
    memory_gib = [float(words[2]) / 1024 for words in waits]
    table_ns = [1e9 * float(words[2]) / int(words[0]) for words in tables]
    what = f"wait states, delays and critical path, {EVENTS:,} events"
    return [
        _table("Wait states: processor time", "s", what, seconds, LIMIT_S),
        _table("Wait states: memory, mapped files included", "GiB", what, memory_gib, LIMIT_GIB),
        _table(
            "The same trace as an Arrow table: processor time an event", "ns", "events", table_ns, TABLE_NS
        ),
    ]


def _run(program: str, run: Path) -> list[str]:
    """What it prints of one reading."""
    done = subprocess.run(
        [built(program), run, "1"], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    if done.returncode != 0:
        raise BenchError(done.stderr.strip())
    return done.stdout.split()


def _table(title: str, unit: str, label: str, values: list[float], limit: float) -> Table:
    rows = [Row(label, median(values), median_interval(values), limit)]
    return Table(title, unit, unit, rows, len(values), over="median", samples={label: values}, last_column="")
