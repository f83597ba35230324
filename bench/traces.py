"""Runs that are made by hand: what is around their files, and traces of any length."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from programs import built

from tools import BenchError

RANKS = 16
BYTES_AN_EVENT = 12
TIMEOUT_S = 600


def describe(run: Path, name: str, *, traced: bool) -> None:
    """Writes the meta.json of a run that has ended."""
    from tare._native import FORMAT_VERSION
    from tare.runs import directory
    from tare.runs.metadata import Options

    meta = directory.describe([name], name, run, Options(trace=traced), FORMAT_VERSION)
    meta.state, meta.exit_code, meta.environment = "ended", 0, {}
    directory.write_meta(run, meta)


def make(run: Path, events: int) -> Path:
    """A run of so many events: a ring of ranks that send, receive, wait and reduce."""
    run.mkdir()
    if shutil.disk_usage(run).free < events * BYTES_AN_EVENT:
        raise BenchError(f"{run.parent} has no room for a trace of {events:,} events")
    describe(run, "ring", traced=True)
    subprocess.run([built("bench/long_trace"), run, str(RANKS), str(events)], check=True, timeout=TIMEOUT_S)
    return run
