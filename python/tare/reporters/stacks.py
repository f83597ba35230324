"""The call paths of a run as folded stacks, and as a file for speedscope.

They have the time in calls by call path and rank, without constructs that contain others, and, if stacks
were sampled, the processor time of the program between these calls.

Folded stacks are one line for each path, outermost function first, and its nanoseconds: what flamegraph.pl,
inferno and speedscope read. The other file is described at
https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tare import __version__, private_files
from tare.analysis import profile, stacks
from tare.analysis.stacks import function_name
from tare.errors import unwritable
from tare.streams import visible

if TYPE_CHECKING:
    from tare._native import Frame
    from tare.analysis.profile import Chosen
    from tare.runs.run import Run

SCHEMA = "https://www.speedscope.app/file-format-schema.json"

# A function, its file and its line.
Place = tuple[str, str | None, int | None]


@dataclass
class Stacks:
    """The call paths of one process."""

    name: str  # of the process
    # Places of a path, the outermost first, and the time in its calls in ns.
    paths: list[tuple[list[Place], int]] = field(default_factory=list)


def of_run(recorded: Run, chosen: Chosen) -> list[Stacks]:
    """One for each rank that made timed calls, or was sampled, in their order."""
    found: dict[tuple[int, int, int], Stacks] = {}
    several = len({process.world for process in recorded.processes}) > 1

    def of_rank(world: int, rank: int, pid: int | None) -> Stacks:
        if rank < 0:
            return found.setdefault((world, rank, pid or 0), Stacks(f"process {pid}" if pid else "no rank"))
        return found.setdefault(
            (world, rank, 0), Stacks(f"world {world} rank {rank}" if several else f"rank {rank}")
        )

    for row in profile.summed(recorded, ["function", "site", "rank"], chosen):
        if profile.has_own_time(row):
            path = [*_places(stacks.frames(row.site, recorded.sites)), (row.function, None, None)]
            of_rank(row.world, row.rank, row.pid).paths.append((path, row.time_ns))
    for sampled in stacks.samples(recorded, chosen):
        if sampled.activity == "program":
            path = [*_places(stacks.frames(sampled.site, recorded.sites))]
            of_rank(sampled.world, sampled.rank, sampled.pid).paths.append((path, sampled.time_ns))
    return [found[key] for key in sorted(found)]


def _places(path: Sequence[Frame]) -> Iterator[Place]:
    for inner in reversed(range(len(path))):
        frame = path[inner]
        yield (
            visible(function_name(frame, is_innermost=not inner)),
            frame.file and visible(frame.file),
            frame.line,
        )
        if frame.tail_call:
            yield visible(frame.tail_call), None, None


def write_folded(stacks: list[Stacks], to: Path) -> None:
    """Writes folded stacks, one line for each path with nanoseconds, for flame graphs (Gregg's
    flamegraph.pl)."""
    # A semicolon ends a function's name.
    lines = (
        f"{';'.join(name.replace(';', ':') for name in (of.name, *(place[0] for place in path)))} {time_ns}\n"
        for of in stacks
        for path, time_ns in of.paths
    )
    _write("".join(lines), to)


def write_speedscope(stacks: list[Stacks], to: Path, name: str) -> None:
    """Writes a file of speedscope.app, one sampled profile for each of the stacks.

    Weights are nanoseconds.
    """
    numbers: dict[Place, int] = {}
    profiles = [
        {
            "type": "sampled",
            "name": of.name,
            "unit": "nanoseconds",
            "startValue": 0,
            "endValue": sum(time_ns for _, time_ns in of.paths),
            "samples": [[numbers.setdefault(place, len(numbers)) for place in path] for path, _ in of.paths],
            "weights": [time_ns for _, time_ns in of.paths],
        }
        for of in stacks
    ]
    frames = [
        {key: value for key, value in zip(("name", "file", "line"), place, strict=True) if value is not None}
        for place in numbers
    ]
    document = {
        "$schema": SCHEMA,
        "exporter": f"tare {__version__}",
        "name": name,
        "activeProfileIndex": 0,
        "shared": {"frames": frames},
        "profiles": profiles,
    }
    _write(json.dumps(document, ensure_ascii=False), to)


def _write(text: str, to: Path) -> None:
    part = private_files.part_of(to)
    try:
        part.write_text(text, encoding="utf-8", errors="backslashreplace")
        part.replace(to)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise unwritable(to, error) from error
