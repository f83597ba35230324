"""The files with the rounds of a monitored run: also while the run goes on (src/format/round.h)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import TareError, native_errors

if TYPE_CHECKING:
    from tare._native import Kind, Pace, Round

PATTERN = "monitor-*.tare"
# What rounds are reduced to where nobody chose: as much as `tare top` shows.
DEFAULT_FILTER = "statistics+histogram:16:time"
STATISTICS = "statistics"
# What tared calls the time outside all phases of the program.
OUTSIDE_PHASES = "(none)"


def of_nodes_alone(files: int) -> list[str]:
    """What is to be said of a run with so many files of rounds: one is enough for a tree of all nodes."""
    if files < 2:
        return []
    return [
        f"monitoring: {files - 1} of {files} nodes could not reach the first one all the time and stored "
        "rounds of their own, so that each round has a part of the ranks; --monitor=...,listen=NETWORK says "
        "where nodes may connect (docs/monitoring.md)"
    ]


class RoundFile:
    """One file of rounds. What is added to it later comes with a later `read`."""

    def __init__(self, path: Path, begin: int = 0, end: int | None = None) -> None:
        """`begin` and `end`: the bytes that are the file, where it lies in an archive."""
        from tare import _native

        self.path = path
        self._native = _native.RoundFile(path, begin, end)

    def read(self) -> Iterator[Round]:
        """The rounds since the last call; those that are damaged are left out."""
        is_all = False
        while not is_all:  # what is added meanwhile is for the next call: it may come faster than it is read
            with native_errors():
                rounds, is_all = self._native.read()
            yield from rounds

    @property
    def paces(self) -> list[Pace]:
        """The decisions of `--monitor=auto`, up to what was read."""
        return self._native.paces


class Stored:
    """How many rounds a running tree has stored."""

    def __init__(self, run_dir: Path) -> None:
        self._run_dir = run_dir
        self._files: dict[Path, RoundFile] = {}  # of each node that stores rounds
        self.rounds = 0
        self.profiles = 0  # of ranks, in these rounds
        self.last_ns = 0  # when the last one had arrived, Unix time

    def look(self) -> bool:
        """Whether more have come since the last call."""
        before = self.rounds
        for path in self._run_dir.glob(PATTERN):
            with suppress(TareError, OSError):
                for made in self._files.setdefault(path, RoundFile(path)).read():
                    self.rounds += bool(made.filter)
                    self.profiles += len(made.ranks)
                    self.last_ns = max(self.last_ns, made.arrived_ns)
        return self.rounds > before


def chosen_filter(spec: str | None) -> str:
    """The filter that a SPEC of --monitor names, as it was written; empty if it leaves that to tare."""
    words = [word.strip() for word in (spec or "").split(",")]
    return next((word.removeprefix("filter=") for word in words if word.startswith("filter=")), "")


def names_of_filters(used: str) -> list[str]:
    """The names of one filter or several, without their arguments."""
    from tare import _native

    return [name.partition(":")[0] for name in _native.split_filters(used)]


def is_outside_phases(kind: Kind, name: str) -> bool:
    """That is no phase; of a program without phases it would be all the time."""
    return kind == "phase" and name == OUTSIDE_PHASES


def of_directory(run_dir: Path) -> list[RoundFile]:
    """The files of rounds in a run directory, by name: one for each node that has stored rounds."""
    return [RoundFile(path) for path in sorted(run_dir.glob(PATTERN))]


def of_archive(path: Path, member: str) -> list[RoundFile]:
    """The same of a run in an archive; CommandError if the archive cannot be read."""
    from fnmatch import fnmatch

    from tare import _native

    with native_errors():
        files = _native.Archive(path).files()
    return [
        RoundFile(path, file.offset, file.offset + file.present)
        for file in files
        if file.member == member and fnmatch(file.name, PATTERN)
    ]
