"""Calls on a file in the page cache: what recording them adds, here and by EZTrace."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

from interleave import Rounds, interleave
from report import Table, over_bare, percent

from tools import BARE, EZTRACE, ROOT, TARE, BenchError, Outcome, PeerError, Tool

SOURCE = ROOT / "bench" / "page_reads.c"
OFF = Tool("tare run, without --with files", tare=())
PROFILE = Tool("profile, --with files", tare=("--with", "files"))
TRACE = Tool("profile and trace, --with files", tare=("--with", "files", "--trace"))
# What is measured, and the most that it may add, in percent.
CALLS: dict[str, tuple[str, float | None]] = {
    "read_ns": ("A read of 4 KiB", 5.0),
    "pread_ns": ("A pread of 4 KiB", 5.0),
    "fread_ns": ("An fread of 4 KiB", None),
    "fgetc_ns": ("An fgetc, which is not intercepted", None),
}


def measure(rounds: int) -> list[Table]:
    program = _compiled()
    peers = (EZTRACE,) if shutil.which("eztrace") else ()
    measured = interleave(rounds, (BARE, OFF, PROFILE, TRACE, *peers), partial(_run, program))
    return [_table(measured, title, key, limit) for key, (title, limit) in CALLS.items()]


def _table(measured: Rounds, title: str, key: str, limit: float | None) -> Table:
    def of_call(outcome: Outcome) -> float:
        return outcome.value(key)

    bare = measured.bare(of_call)
    return over_bare(
        title,
        measured,
        of_call,
        "ns a call",
        "%",
        lambda samples: percent(samples, bare),
        {} if limit is None else {PROFILE: limit},
        {},
    )


def _compiled() -> Path:
    out = ROOT / "build" / "bench" / "page_reads"
    out.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["gcc", "-O2", SOURCE, "-o", out], capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(f"gcc: {done.stderr.strip().splitlines()[-1]}; `make bench` installs what it needs")
    return out


def _run(program: Path, tool: Tool) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="tare-bench-", dir=ROOT / "build" / "bench") as directory:
        out, prefix = Path(directory) / "out", list[Path | str]()
        if tool.tare is not None:
            prefix = [TARE, "run", *tool.tare, "-q", "-o", out, "--"]
        if tool.eztrace:
            prefix = ["eztrace", "-t", "posixio", "-o", out]
        start = time.perf_counter()
        command = [*prefix, program, Path(directory) / "pages", "30"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            kind = PeerError if tool.eztrace else BenchError
            raise kind(f"exit code {done.returncode} of {program}\n{done.stdout}{done.stderr}")
        return Outcome(done.stdout, time.perf_counter() - start)
