"""What `tare explain` says of programs with planted faults: right, wrong, missing and false findings."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import planted
from programs import NAMES, mpis, program
from report import Row, Table
from tare.analysis.intervals import Interval

from tools import ROOT, TARE

# Of all programs, how many causes may not be named first.
MOST_MISSED = 0.1
# From more ranks than this on, programs run with Open MPI alone.
MANY = 8


def measure(_: int) -> list[Table]:
    directory = ROOT / "build" / "bench"
    directory.mkdir(parents=True, exist_ok=True)
    tables = []
    for mpi in mpis():
        verdicts = []
        with tempfile.TemporaryDirectory(prefix="explain-", dir=directory) as scratch:
            for number, of in enumerate(planted.programs()):
                if of.ranks > MANY and mpi.family != "openmpi":
                    continue  # it does not leave the processor to other ranks while it waits
                run = Path(scratch) / str(number)
                said = planted.explained(TARE, mpi, program(mpi, "planted"), of, run)
                # Times only where nothing else runs.
                verdicts.append(planted.judge(of, said, exactly=os.getloadavg()[0] < (os.cpu_count() or 1)))
                _print(of, verdicts[-1])
        tables.append(_table(NAMES[mpi.name], verdicts))
    return tables


def _print(of: planted.Planted, found: planted.Verdict) -> None:
    notes = [f"wrong: {text}" for text in found.wrong]
    notes += [f"missing: {text}" for text in found.missing]
    notes += [f"false: {text}" for text in found.false]
    notes += [f"blames rank {rank}" for rank in found.blamed]
    print(f"  {of.name}: {'; '.join(notes) or 'right'}", flush=True)


def _table(mpi: str, verdicts: Sequence[planted.Verdict]) -> Table:
    counts = {
        "causes that are not named first": sum(bool(each.wrong) for each in verdicts),
        "causes that are not named": sum(bool(each.missing) for each in verdicts),
        "false findings": sum(len(each.false) for each in verdicts),
        "innocent ranks": sum(len(each.blamed) for each in verdicts),
    }
    limits = (len(verdicts) * MOST_MISSED, len(verdicts) * MOST_MISSED, 0.0, 0.0)
    rows = [
        Row(name, float(count), Interval(float(count), float(count), float(count), 1, 1.0), limit)
        for (name, count), limit in zip(counts.items(), limits, strict=True)
    ]
    title = f"What explain says of {len(verdicts)} programs with known faults, {mpi}"
    return Table(title, "", "findings", rows, 1, over="count", samples={}, last_column="")
