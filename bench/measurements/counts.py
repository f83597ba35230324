"""Instructions and cache lines of one call, which callgrind counts: load does not change them."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from programs import NAMES, mpis, program
from report import Row, Table

from tools import BARE, PROFILE, TWIN, BenchError, MpiEnvironment, PeerError, Tool, run_once, with_peers

# What an iteration of each kind in counted_calls.c calls.
KINDS = {
    "send": "MPI_Send to nobody",
    "isend_wait": "MPI_Isend to nobody, MPI_Wait",
    "irecv_wait": "MPI_Irecv from nobody, MPI_Wait",
    "exchange": "MPI_Irecv, MPI_Isend to itself, MPI_Waitall",
    "irecv": "MPI_Irecv from itself",
    "isend": "MPI_Isend to itself",
    "wait_sent": "MPI_Waitall of one send",
    "wait_received": "MPI_Waitall of one receive",
    "comm_rank": "MPI_Comm_rank",
    "allreduce": "MPI_Allreduce of one rank",
    "test": "MPI_Test, not complete",
}
# A buffer that takes all records: what it costs to drain them, `record` measures.
TOOLS = with_peers((BARE, TWIN, PROFILE, Tool("trace", tare=("--trace", "--buffer", "64M"))))
# Level 1 of most processors, and a second level that holds what the sweep of counted_calls.c goes through.
_CACHES = ("--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64")
_EVENTS = ("Ir", "I1mr", "D1mr", "D1mw", "DLmr", "DLmw")


@dataclass(frozen=True)
class Count:
    """What was counted in one iteration, or in all."""

    instructions: float
    data_lines: float  # of data that missed the first level
    code_lines: float
    new_lines: float  # of data that missed the second level, too

    def less(self, other: Count, iterations: int) -> Count:
        return Count(
            *(
                (mine - its) / iterations
                for mine, its in zip(vars(self).values(), vars(other).values(), strict=True)
            )
        )


def measure(iterations: int) -> list[Table]:
    if shutil.which("valgrind") is None:
        raise BenchError("valgrind is missing; `make bench` installs it")
    return [_table(mpi, iterations) for mpi in mpis()]


def _table(mpi: MpiEnvironment, iterations: int) -> Table:
    counts = {}
    for tool in TOOLS:
        try:
            counts[tool] = _counts(mpi, tool, iterations)
        except PeerError as error:
            print(f"\n{tool.label} is left out here: {error}")
    rows = []
    samples = {}
    for kind, calls in KINDS.items():
        for tool in list(counts)[1:]:
            warm, cold = (
                counts[tool][f"{kind} {state}"].less(counts[BARE][f"{kind} {state}"], iterations)
                for state in ("warm", "cold")
            )
            lines = (cold.data_lines, cold.code_lines, warm.new_lines)
            label = f"{calls}: {tool.label}"
            rows.append(Row(label, warm.instructions, peers=" ".join(f"{number:8.1f}" for number in lines)))
            samples[label] = [warm.instructions, *lines]
    return Table(
        f"What a tool adds to calls, counted, 1 rank, {NAMES[mpi.name]}",
        "instructions",
        "",
        rows,
        1,
        notes=[
            "Lines of data and code: in an iteration that finds nothing in the caches of the first level."
        ],
        samples=samples,
        last_column="lines: data, code, new data",
    )


def _counts(mpi: MpiEnvironment, tool: Tool, iterations: int) -> dict[str, Count]:
    """The counts of all iterations, by "KIND STATE"."""
    with tempfile.TemporaryDirectory(prefix="tare-counts-") as directory:
        callgrind = [
            "valgrind",
            "--quiet",
            "--tool=callgrind",
            "--trace-children=yes",
            "--cache-sim=yes",
            *_CACHES,
            f"--callgrind-out-file={directory}/counts.%p",
        ]
        argv: list[str | Path] = [program(mpi, "counted_calls"), str(iterations)]
        run_once(tool, mpi, 1, argv, rank_prefix=callgrind)
        found = dict(
            _read(file) for file in Path(directory).iterdir() if "Client Request" in file.read_text()
        )
    if missing := [kind for kind in KINDS if f"{kind} warm" not in found]:
        raise (PeerError if tool.eztrace else BenchError)(f"callgrind counted no {', '.join(missing)}")
    return found


def _read(file: Path) -> tuple[str, Count]:
    """The name and the sums of one dump of callgrind (its manual, "Callgrind Format Specification")."""
    text = file.read_text()
    name, events, sums = (
        re.search(pattern, text, re.MULTILINE)
        for pattern in (r"Client Request: (.*)$", r"^events: (.*)$", r"^(?:summary|totals): (.*)$")
    )
    assert name is not None and events is not None and sums is not None, file
    numbers = [float(number) for number in sums[1].split()]
    # Zeros at the end are left out.
    by_event = dict.fromkeys(_EVENTS, 0.0) | dict(zip(events[1].split(), numbers, strict=False))
    return name[1], Count(
        by_event["Ir"],
        by_event["D1mr"] + by_event["D1mw"],
        by_event["I1mr"],
        by_event["DLmr"] + by_event["DLmw"],
    )
