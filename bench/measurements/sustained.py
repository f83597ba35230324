"""Five million events a second, drained to disk by the thread that records them."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import recorders
from recorders import TARE, Recorder
from report import Row, Table
from tare.analysis.intervals import median_interval

from tools import TARE as COMMAND
from tools import BenchError

RATE = 5_000_000
EVENTS = 10_000_000
NS_PER_S = 1_000_000_000
# Of the time that the events may take: the rate is held if the last is recorded when it is due.
LATE_PERCENT = 1.0
ACCOUNT_PERCENT = 10.0

DRIVER = Recorder("sustained", "tare", TARE.flags, table=False)


def measure(rounds: int) -> list[Table]:
    late, off, paced_s, cost_ns = [], [], [], []
    for _ in range(rounds):
        paced, _ = _run(RATE)
        paced_s.append(paced["seconds"])
        late.append(100 * (paced["seconds"] / (EVENTS / RATE) - 1))
        bare, _ = _run(0, recording=False)
        full, account_ns = _run(0)
        measured_ns = (full["processor_seconds"] - bare["processor_seconds"]) * NS_PER_S
        cost_ns.append(measured_ns / EVENTS)
        off.append(abs(100 * (account_ns / measured_ns - 1)))
    return [
        Table(
            f"{EVENTS // 10**6} million events of 4 ints, {RATE // 10**6} million a second, to disk",
            "s",
            "% late",
            [Row("tare", median(paced_s), median_interval(late), LATE_PERCENT)],
            rounds,
            3,
            over="late",
            samples={"tare": paced_s},
        ),
        Table(
            "The same as fast as it can: an event, drains included; how far off the cost account is",
            "ns",
            "%",
            [Row("tare", median(cost_ns), median_interval(off), ACCOUNT_PERCENT)],
            rounds,
            over="account off by",
            samples={"tare": cost_ns},
        ),
    ]


def _run(rate: int, *, recording: bool = True) -> tuple[dict[str, float], int]:
    """What the driver prints, and what the cost account says it cost; BenchError if an event is missing."""
    with tempfile.TemporaryDirectory() as scratch:
        run = Path(scratch) / "run"
        command: list[Path | str] = [
            recorders.build(DRIVER),
            str(EVENTS),
            str(rate),
            *([str(run)] if recording else []),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        account_ns = _account_ns(run) if recording else 0
    result: dict[str, float] = json.loads(done.stdout)
    return result, account_ns


def _account_ns(run: Path) -> int:
    done = subprocess.run(
        [COMMAND, "info", "--json", run], capture_output=True, text=True, timeout=300, check=True
    )
    info: dict[str, Any] = json.loads(done.stdout)
    trace, cost = info["trace"], info["cost"]
    if trace["dropped"] or trace["events"] <= EVENTS:
        raise BenchError(f"{EVENTS + 1} events were recorded, {trace['events']} were kept")
    return int(cost["wrapper_ns"] + cost["flush_ns"])
