"""What parts of a tool's work cost in a program with many calls: clock, instructions, code, a row, a record.

bench/call_parts.c does one part at a time, chosen by chance between two MPI_Allreduce: one run compares all.
"""

from __future__ import annotations

import platform
import random
import tempfile
from collections import defaultdict
from math import log
from pathlib import Path
from statistics import fmean, median

from programs import built
from report import Row, Table
from tare.analysis.intervals import Interval

from tools import ROOT, BenchError, compile_c, openmpi4, run

RANKS = 2
SOLVES = 1000  # about 25 s
# In the order of the constants of call_parts.c; the first does nothing.
PARTS = (
    "nothing",
    "two clock readings",
    "400 instructions in a loop",
    "400 instructions in 25 lines of code",
    "32 instructions in 16 lines of code",
    "two clock readings, a row for each return address",
    "the same, and a record of 32 bytes in a ring of 2 MiB",
)
NEIGHBOURS = 12  # on each side, in the order of time
ALIKE = 1.05  # factor within which the numbers of calls of two neighbours lie
BLOCK = 60  # divisions that the bootstrap draws together
DRAWS = 1000

Division = tuple[int, int, int]  # part, calls, ticks


def measure(rounds: int) -> list[Table]:
    title = "hypre StructSMG, 2 ranks, Open MPI: what parts of a tool's work add to its calls, in one run"
    if platform.machine() != "x86_64":
        return [Table(title, "%", "%", [], 0, notes=["bench/call_parts.c is for x86-64 alone"])]
    mpi = openmpi4()
    library = ROOT / "build" / "bench" / mpi.name / "call_parts.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    compile_c(mpi, [ROOT / "bench" / "call_parts.c"], library, "-O2", "-shared", "-fPIC")
    ratios: dict[int, list[list[float]]] = defaultdict(list)
    calls = 0
    with tempfile.TemporaryDirectory(prefix="tare-bench-") as directory:
        for _ in range(rounds):
            out = Path(directory) / "divisions"
            program = [str(built("workloads/diffusion")), "-n", "35", "35", "35", "-s", str(SOLVES)]
            preload = ["env", f"LD_PRELOAD={library}", f"CALL_PARTS={out}"]
            argv = [*preload, *program]
            done = run(mpi, RANKS, argv, timeout_s=300, OMPI_MCA_hwloc_base_binding_policy="core")
            if done.returncode != 0:
                raise BenchError(f"exit code {done.returncode} of {argv}\n{done.stdout}{done.stderr}")
            divisions = [_division(line) for line in out.read_text().splitlines()]
            calls += sum(each[1] for each in divisions)
            for part, blocks in _compared(divisions).items():
                ratios[part] += blocks
    known = [part for part in range(1, len(PARTS)) if ratios[part]]
    rows = [Row(PARTS[part], None, _interval(ratios[part])) for part in known]
    notes = [f"{calls:,} calls of rank 0"]
    return [Table(title, "%", "%", rows, rounds, digits=2, over="over nothing", notes=notes)]


def _division(line: str) -> Division:
    part, calls, ticks = map(int, line.split())
    return part, calls, ticks


def _compared(divisions: list[Division]) -> dict[int, list[list[float]]]:
    """By part and block: how much longer, in percent, its divisions take than neighbours that do nothing."""
    alike: dict[int, list[tuple[int, Division]]] = defaultdict(list)
    for number, each in enumerate(divisions):
        if each[1] > 0:
            alike[round(log(each[1]) / log(ALIKE))].append((number, each))
    blocks: dict[tuple[int, int], list[float]] = defaultdict(list)
    for group in alike.values():
        for place, (number, (part, _, ticks)) in enumerate(group):
            near = group[max(0, place - NEIGHBOURS) : place + NEIGHBOURS + 1]
            idle = [each[2] for _, each in near if each[0] == 0]
            if part != 0 and len(idle) >= 2:
                blocks[part, number // BLOCK].append(100 * (ticks / median(idle) - 1))
    found: dict[int, list[list[float]]] = defaultdict(list)
    for (part, _), values in sorted(blocks.items()):
        found[part].append(values)
    return found


def _interval(blocks: list[list[float]]) -> Interval:
    """The trimmed mean, with a bootstrap interval of 95 % over blocks, as a trial has it (docs/weigh.md)."""
    draw = random.Random(1)
    drawn = sorted(
        _trimmed([value for block in draw.choices(blocks, k=len(blocks)) for value in block])
        for _ in range(DRAWS)
    )
    middle = _trimmed([value for block in blocks for value in block])
    low, high = drawn[DRAWS * 25 // 1000], drawn[DRAWS * 975 // 1000 - 1]
    return Interval(middle, low, high, len(blocks), 0.95)


def _trimmed(values: list[float]) -> float:
    ordered = sorted(values)
    cut = len(ordered) // 10
    return fmean(ordered[cut : len(ordered) - cut])
