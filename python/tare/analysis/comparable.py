"""Whether runs can be compared: what differs between them beside their times, and which did not end well."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from tare.analysis.ranks import of_ranks
from tare.command_name import arguments
from tare.errors import NOTHING_MEASURED
from tare.runs import missing
from tare.runs.metadata import Options
from tare.units import number_of, signal_name

if TYPE_CHECKING:
    from tare._native import Process
    from tare.runs.run import Run

# Options of `tare run` that change nothing in what is measured.
ELSEWHERE = ("keep_env", "group")


@dataclass(frozen=True)
class Differing:
    """A property in which the runs differ: the values of the base runs and of the new ones, each once."""

    what: str  # the property, in words
    base: tuple[str, ...]
    new: tuple[str, ...]


def differing(base: Sequence[Run], new: Sequence[Run]) -> list[Differing]:
    """What is not the same in all runs of both sides, besides times; empty if all is."""
    found = []
    for what, value_of in _VALUES.items():
        sides = [tuple(dict.fromkeys(map(value_of, side))) for side in (base, new)]
        if len({value for side in sides for value in side}) > 1:
            found.append(Differing(what, *sides))
    return found


def ranks_of(run: Run) -> int:
    """The number of ranks of the run, also of those whose results are missing; without MPI, of processes."""
    return len(of_ranks(run.processes)) + missing.count(run.missing)


def failure_reason(run: Run) -> str | None:
    """Why its times are not those of the whole program, in words; None if it ended well."""
    if run.unread:
        return run.unread
    meta, processes = run.meta, run.processes
    if not processes:
        return NOTHING_MEASURED
    if lacking := missing.count(run.missing):
        return f"results of {number_of(lacking, 'rank')} are missing"
    if early := missing.count(run.saved):
        return f"results of {number_of(early, 'rank')} were saved while the job ran"
    if meta.signal is not None:
        return f"killed by {signal_name(meta.signal)}"
    if meta.exit_code:
        return f"exit code {meta.exit_code}"
    if meta.tare is not None and meta.exit_code is None:
        return "it still runs" if run.is_running else "not seen to end"
    for process in processes:
        if why := _process_failure(process):
            who = f"rank {process.rank}" if process.rank >= 0 else f"process {process.pid}"
            return f"{who} {why}"
    return None


def _process_failure(process: Process) -> str | None:
    if process.state != "finished":
        return {
            "running": "still runs",
            "aborted": "called MPI_Abort",
            "unknown": "is not known to have ended",
        }.get(process.state, process.state)
    if process.exit_code:
        return f"ended with exit code {process.exit_code}"
    if process.rank >= 0 and not process.finalized:
        return "exited without MPI_Finalize"
    return None


def _program(run: Run) -> str:
    """The name, wherever the program lies: two versions of it seldom lie in one place."""
    executables = sorted({PurePath(process.executable).name for process in run.processes})
    named = run.meta.name
    return named if not executables or executables == [named] else f"{named} ({', '.join(executables)})"


def _arguments(run: Run) -> str:
    return shlex.join(arguments(run.meta.command)) or "none"


def _ranks(run: Run) -> str:
    return f"{ranks_of(run):,}"


def _mpi(run: Run) -> str:
    names = dict.fromkeys(_version(process.mpi) for process in run.processes if process.mpi)
    return ", ".join(names) or "none"


def _version(text: str) -> str:
    """The version without the package, and on one line."""
    return " ".join(text.split(", package:")[0].split())


def _options(run: Run) -> str:
    """Those that are not as usual."""
    chosen = []
    for field in dataclasses.fields(Options):
        value = getattr(run.meta.options, field.name)
        if value != field.default and field.name not in ELSEWHERE:
            chosen.append(field.name if value is True else f"{field.name} {_option(field.name, value)}")
    return ", ".join(chosen) or "none"


def _option(name: str, value: object) -> str:
    """The value as a user gives it."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return f"{100 * value:g} %" if name in ("budget", "weigh") and isinstance(value, float) else str(value)


_VALUES: dict[str, Callable[[Run], str]] = {
    "program": _program,
    "arguments": _arguments,
    "ranks": _ranks,
    "MPI": _mpi,
    "measured with": _options,
}
