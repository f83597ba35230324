"""What parts of a tool's work cost in a program with many calls: clock, instructions, code, a row, a record.

bench/call_parts.c does one part at a time, chosen by chance between two MPI_Allreduce: one run compares all.
"""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import trials
from programs import built
from report import Row, Table
from tare.analysis.rows import changed
from tare.analysis.trial import Trial, trial

from tools import ROOT, BenchError, compile_c, openmpi4, run

if TYPE_CHECKING:
    from tare._native import Spell

RANKS = 2
SOLVES = 1000  # about 25 s
# In the order of the constants of call_parts.c; the first does nothing.
PARTS = (
    "nothing",
    "two clock readings",
    "400 instructions in a loop",
    "400 instructions in 25 cache lines of code",
    "32 instructions in 16 cache lines of code",
    "two clock readings, a row for each return address",
    "the same, and a record of 32 bytes in a ring of 2 MiB",
)


def measure(rounds: int) -> list[Table]:
    title = "hypre StructSMG, 2 ranks, Open MPI: what parts of a tool's work add to its calls, by trial"
    if platform.machine() != "x86_64":
        return [Table(title, "%", "%", [], 0, notes=["bench/call_parts.c is for x86-64 alone"])]
    mpi = openmpi4()
    library = ROOT / "build" / "bench" / mpi.name / "call_parts.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    compile_c(mpi, [ROOT / "bench" / "call_parts.c"], library, "-O2", "-shared", "-fPIC")
    program = [str(built("workloads/diffusion")), "-n", "35", "35", "35", "-s", str(SOLVES)]
    runs = []
    with tempfile.TemporaryDirectory(prefix="tare-bench-") as directory:
        out = Path(directory) / "spells"
        argv = ["env", f"LD_PRELOAD={library}", f"CALL_PARTS={out}", *program]
        for _ in range(rounds):
            done = run(mpi, RANKS, argv, timeout_s=300, OMPI_MCA_hwloc_base_binding_policy="core")
            if done.returncode != 0:
                raise BenchError(f"exit code {done.returncode} of {argv}\n{done.stdout}{done.stderr}")
            runs.append([_Line(*map(int, line.split())) for line in out.read_text().splitlines()])
    rows = []
    notes = [f"{sum(line.calls for lines in runs for line in lines):,} calls of rank 0"]
    for part in range(1, len(PARTS)):
        of_runs = [_trial(lines, part) for lines in runs]
        determined = [asdict(found) for found in of_runs if found.overhead is not None]
        rows.append(Row(PARTS[part], None, trials.together(determined)))
        notes += [f"{PARTS[part]}: {found.why}" for found in of_runs if found.overhead is None]
    return [Table(title, "%", "%", rows, rounds, digits=2, over="over nothing", notes=notes)]


class _Line(NamedTuple):
    """A spell, as call_parts.c writes it."""

    part: int
    calls: int
    ticks: int


def _trial(lines: Sequence[_Line], part: int) -> Trial:
    """The trial of the spells of the part, against those that do nothing."""
    begins = accumulate((line.ticks for line in lines), initial=0)
    found = trial(
        [
            _spell(number, line, begin)
            for number, (line, begin) in enumerate(zip(lines, begins, strict=False))
            if line.part in (0, part)
        ]
    )
    if found is None:
        raise BenchError("the program has no spells: it does not call MPI_Allreduce")
    return found


def _spell(number: int, line: _Line, begin: int) -> Spell:
    """A spell as runs have it. A trial compares times, so their unit, ticks, does not matter."""
    from tare._native import Spell

    return changed(
        Spell(),
        rank=0,
        spell=number,
        measured=line.part != 0,
        control=line.part == 0,
        sync_points=1,
        first_site=0,
        last_site=0,
        begin_ns=begin,
        ns=line.ticks,
        measured_calls=line.calls,
    )
