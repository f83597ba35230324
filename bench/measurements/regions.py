"""Parallel regions of OpenMP with 2 threads, in each runtime: what recording adds, here and by peers."""

from __future__ import annotations

import sys
from pathlib import Path

from interleave import Rounds
from one_process import beside_peers, compiled
from report import Table, over_bare

from tools import BARE, ROOT, Outcome, Tool

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
    for number, (name, (compiler, module)) in enumerate(RUNTIMES.items()):
        argv: list[Path | str] = [compiled(compiler, SOURCE, f"parallel_regions_{number}"), "100", "100"]
        measured = beside_peers(rounds, (BARE, OFF, PROFILE, TRACE), module, argv)
        tables.append(
            _table(f"A parallel region, 2 threads, {name}", measured, "region_min_ns", {PROFILE: LIMIT})
        )
        title = f"The same with a barrier and a critical section, {name}"
        tables.append(_table(title, measured, "barrier_region_min_ns", {}))
    return tables


def _table(title: str, measured: Rounds, key: str, limits: dict[Tool, float]) -> Table:
    def per_region(outcome: Outcome) -> float:
        return outcome.value(key)

    return over_bare(
        title,
        measured,
        per_region,
        "ns a region",
        "ns",
        limits,
    )
