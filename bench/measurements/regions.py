"""Parallel regions of OpenMP with 2 threads, in each runtime: what recording adds, here and by EZTrace."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from interleave import Rounds, interleave
from report import Table, difference, over_bare

from tools import BARE, EZTRACE, ROOT, TARE, BenchError, Outcome, PeerError, Tool

SOURCE = ROOT / "bench" / "parallel_regions.c"
INTEL = Path(sys.prefix) / "lib"
# How a program is compiled for each runtime, and the module of EZTrace that records it.
RUNTIMES = {
    "GNU's runtime": (("gcc", "-O2", "-fopenmp"), "openmp"),
    "LLVM's runtime": (("clang-14", "-O2", "-fopenmp"), "ompt"),
    "Intel's runtime": (
        ("clang-14", "-O2", "-fopenmp=libiomp5", f"-L{INTEL}", f"-Wl,-rpath,{INTEL}"),
        "ompt",
    ),
}
OFF = Tool("tare run, without --with openmp", tare=())
PROFILE = Tool("profile, --with openmp", tare=("--with", "openmp"))
TRACE = Tool("profile and trace, --with openmp", tare=("--with", "openmp", "--trace"))
LIMIT = 300.0


def measure(rounds: int) -> list[Table]:
    tables = []
    peers = (EZTRACE,) if shutil.which("eztrace") else ()
    for number, (name, (compiler, module)) in enumerate(RUNTIMES.items()):
        argv: list[Path | str] = [_compiled(compiler, f"parallel_regions_{number}"), "100", "100"]
        measured = interleave(rounds, (BARE, OFF, PROFILE, TRACE, *peers), partial(_run, argv, module))
        tables.append(
            _table(f"A parallel region, 2 threads, {name}", measured, "region_min_ns", {PROFILE: LIMIT})
        )
        title = f"The same with a barrier and a critical section, {name}"
        tables.append(_table(title, measured, "barrier_region_min_ns", {}))
    return tables


def _table(title: str, measured: Rounds, key: str, limits: dict[Tool, float]) -> Table:
    def per_region(outcome: Outcome) -> float:
        return outcome.value(key)

    bare = measured.bare(per_region)
    return over_bare(
        title,
        measured,
        per_region,
        "ns a region",
        "ns",
        lambda samples: difference(samples, bare),
        limits,
        {},
    )


def _compiled(compiler: Sequence[str], name: str) -> Path:
    out = ROOT / "build" / "bench" / name
    out.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([*compiler, SOURCE, "-o", out], capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(
            f"{compiler[0]}: {done.stderr.strip().splitlines()[-1]}; `make bench` installs what it needs"
        )
    return out


def _run(argv: Sequence[Path | str], module: str, tool: Tool) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="tare-bench-", dir=ROOT / "build" / "bench") as directory:
        out, prefix = Path(directory) / "out", list[Path | str]()
        if tool.tare is not None:
            prefix = [TARE, "run", *tool.tare, "-q", "-o", out, "--"]
        if tool.eztrace:
            prefix = ["eztrace", "-t", module, "-o", out]
        start = time.perf_counter()
        done = subprocess.run(
            [str(word) for word in (*prefix, *argv)], capture_output=True, text=True, timeout=300
        )
        if done.returncode != 0:
            kind = PeerError if tool.eztrace else BenchError
            raise kind(f"exit code {done.returncode} of {argv[0]}\n{done.stdout}{done.stderr}")
        return Outcome(done.stdout, time.perf_counter() - start)
