"""What a tool wrote in a run: events, flushes and bytes, per rank where its format says."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tare import units
from tare.errors import TareError
from tare.lab.study import phased, placeholders, stated, toolbox
from tare.lab.study.phased import InPhase
from tare.lab.study.stated import Chosen, Latency, Weight
from tare.lab.study.toolbox import Tool

if TYPE_CHECKING:
    from tare.runs.run import Run

COMMAND_TIMEOUT_S = 300
FLUSHES = ("tare:flush", "tare:drain")  # by the thread itself, by tared
# Of flushes as events, so many of a run are kept: a model needs some, not millions.
MAX_FLUSHES = 20_000


@dataclass(frozen=True)
class RankCounts:
    """What one rank recorded; None: not known. Sizes are bytes."""

    rank: int
    events: int | None = None
    calls: int | None = None
    flushes: int | None = None  # number of flushes
    flush_s: float | None = None  # their time in seconds
    flush_bytes: int | None = None  # bytes that they wrote


@dataclass(frozen=True)
class Flush:
    """One drain of one rank. Times are seconds."""

    rank: int
    start_s: float  # since the beginning of the run
    duration_s: float
    bytes: int  # written to the file
    records: int  # number of records


@dataclass(frozen=True)
class Counts:
    """What a run wrote and recorded, as the tool's own output says; None: not known."""

    bytes: int = 0  # size of all files
    files: int = 0  # number of files
    events: int | None = None  # of all ranks
    ranks: tuple[RankCounts, ...] = ()
    flushes: tuple[Flush, ...] = ()
    weight: Weight | None = None  # only of runs of tare
    chosen: tuple[Chosen, ...] = ()  # only of runs that sample messages
    latencies: tuple[Latency, ...] = ()  # the same
    phases: tuple[InPhase, ...] = ()  # only of runs that tare traced, as far as all ranks are known
    trouble: str = field(default="", compare=False)  # what could not be read, in words


def of_run(tool: Tool, output: Path, values: Mapping[str, str], thorough: bool) -> Counts:
    """`thorough`: also what takes long: a counter that is another program; each flush by itself; phases."""
    size, files = _written(tool, output)
    if tool.counter is None or (toolbox.is_slow_to_count(tool) and not thorough):
        return Counts(size, files)
    if tool.counter.kind == "tare":
        return _by_tare(output / "run", size, files, thorough)
    ranks, events, trouble = _by_command(tool, values)
    return Counts(size, files, events, ranks, trouble=trouble)


def _written(tool: Tool, output: Path) -> tuple[int, int]:
    found = {path for pattern in tool.outputs for path in output.glob(pattern) if path.is_file()}
    return sum(path.stat().st_size for path in found), len(found)


def _by_command(tool: Tool, values: Mapping[str, str]) -> tuple[tuple[RankCounts, ...], int | None, str]:
    assert tool.counter is not None and tool.counter.events is not None
    command = placeholders.fill_all(tool.counter.command, values, f"tool {tool.name}")
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return (), None, f"events of {tool.name} are not counted: {error}"
    pattern = tool.counter.events
    number_group = 1 if pattern.groups == 1 else 3 - pattern.groupindex["rank"]
    total: int | None = None
    by_rank: dict[int, int] = {}
    for match in pattern.finditer(done.stdout):
        events = int(match[number_group].replace(",", ""))
        total = (total or 0) + events
        if pattern.groups == 2:
            rank = int(match["rank"])
            by_rank[rank] = by_rank.get(rank, 0) + events
    how = f" ({units.ending(done.returncode)})" if done.returncode else ""
    why = f"events of {tool.name} are not counted: no number in the output{how}"
    trouble = why if total is None else ""
    return tuple(RankCounts(rank, events) for rank, events in sorted(by_rank.items())), total, trouble


def _by_tare(run_dir: Path, size: int, files: int, thorough: bool) -> Counts:
    from tare.runs.run import open_run

    try:
        recording = open_run(run_dir)
        of_rank = {(row.world, row.rank): row.chosen for row in recording.sample_summaries}
        ranks = tuple(
            RankCounts(
                process.rank,
                process.trace.records or of_rank.get((process.world, process.rank), 0),
                process.calls,
                process.cost.flushes + process.cost.drains,
                process.cost.flush_ns * 1e-9,  # what tared takes, it does not take from the rank
                process.cost.flush_bytes + process.cost.drain_bytes,
            )
            for process in recording.processes
            if process.rank >= 0
        )
        wanted = thorough and any(rank.flushes for rank in ranks)
        flushes = [
            Flush(
                row["rank"],
                (row["start_ns"] - recording.start_ns) * 1e-9,
                row["duration_ns"] * 1e-9,
                row.get("bytes", 0),
                row.get("records", 0),
            )
            for row in (recording.events(None, list(FLUSHES), None, None, MAX_FLUSHES) if wanted else ())
        ]
        weighed = stated.weight_of(recording)
        chosen, latencies = stated.samples_of(recording)
        phases = phased.of_run(recording, thorough)
    except (TareError, OSError) as error:
        return Counts(size, files, trouble=f"the run cannot be read: {error}")
    events = sum(rank.events or 0 for rank in ranks)
    trouble = "; ".join(_incomplete(recording))
    return Counts(size, files, events, ranks, tuple(flushes), weighed, chosen, latencies, phases, trouble)


def _incomplete(recording: Run) -> list[str]:
    """Why a run of tare holds less than was asked for."""
    from tare.analysis.ranks import reductions

    unwritten = recording.meta.state == "running"
    told = ["its results could not all be written to the run directory"] if unwritten else []
    return told + reductions(recording.processes)


def number(pattern: re.Pattern[str], text: str, take: str) -> float | None:
    """The number that a pattern finds in a program's output; None if it finds none."""
    try:
        found = [float(value.replace(",", "")) for value in pattern.findall(text)]
    except ValueError:
        return None
    if not found:
        return None
    if take in ("sum", "mean"):
        return sum(found) / (len(found) if take == "mean" else 1)
    return {"max": max(found), "min": min(found), "last": found[-1]}[take]
