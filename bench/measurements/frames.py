"""Call paths: what each frame adds to a call that is measured by its return address alone."""

from __future__ import annotations

from pathlib import Path
from statistics import median

from interleave import Rounds, interleave
from programs import NAMES, mpis, program
from report import Row, Table, difference, over_bare

from tools import BARE, MpiEnvironment, Outcome, Tool, run_once

CALLS = 400_000
LOOPS = 5
FRAMES = (1, 4, 8, 16, 32)
PATHS = {frames: Tool(f"--stack {frames}", tare=("--stack", str(frames))) for frames in FRAMES}

# Over bare: the whole table by return address, and with paths of 4 frames.
CALL_LIMITS = {PATHS[1]: 30.0, PATHS[4]: 50.0}
FRAME_LIMIT = 8.0


def measure(rounds: int) -> list[Table]:
    tables = []
    for mpi in mpis():
        measured = _run(mpi, rounds)
        name = NAMES[mpi.name]
        tables += [
            _calls(f"MPI_Send to MPI_PROC_NULL below 40 frames, 1 rank, {name}", measured),
            _frames(f"A frame of a call path, {name}", measured),
        ]
    return tables


def _run(mpi: MpiEnvironment, rounds: int) -> Rounds:
    argv: list[str | Path] = [program(mpi, "deep_calls"), "-i", str(CALLS), "-r", str(LOOPS)]
    return interleave(rounds, (BARE, *PATHS.values()), lambda tool: run_once(tool, mpi, 1, argv))


def _calls(title: str, measured: Rounds) -> Table:
    return over_bare(
        title,
        measured,
        _per_call,
        "ns a call",
        "ns",
        CALL_LIMITS,
    )


def _frames(title: str, measured: Rounds) -> Table:
    alone = measured.samples(PATHS[1], _per_call)
    rows = []
    for frames, tool in PATHS.items():
        if frames > 1:
            samples = measured.samples(tool, _per_call)
            rows.append(
                Row(tool.label, median(samples), difference(samples, alone, 1 / (frames - 1)), FRAME_LIMIT)
            )
    return Table(title, "ns a call", "ns", rows, measured.count, over="a frame beyond the first")


def _per_call(outcome: Outcome) -> float:
    return outcome.value("send_min_ns")
