"""How processes ended, in words, and which process ended first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from signal import SIGKILL, SIGTERM
from typing import TYPE_CHECKING

from tare import units
from tare.analysis.groups import grouped
from tare.analysis.rows import UNKNOWN, Placed, place_of
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare._native import CurrentCall, Process, State
    from tare.runs.run import Run

STATES: tuple[State, ...] = ("finished", "exited", "aborted", "killed", "running", "unknown")
# Other ranks may have waited for these for ever.
EARLY: tuple[State, ...] = ("exited", "aborted", "killed")
# Values of `until` that mean that the end was observed (docs/json.md).
OBSERVED = ("exit", "end")
# The order of ends that are closer than this is unknown.
CLOSE_NS = NS_PER_S // 50


def describe(process: Process) -> str:
    """The end in full: "exited without MPI_Finalize, exit code 3", "killed by SIGSEGV"."""
    return described(process.state, process.exit_code, process.signal, process.finalized)


def described(state: str, exit_code: int | None, signal: int | None, finalized: bool | None) -> str:
    """`describe`, from the fields of a process."""
    by = f" by {units.signal_name(signal)}" if signal else ""
    with_code = f", exit code {exit_code}" if exit_code is not None else ""
    if state == "killed":
        return f"killed{by}{' after MPI_Finalize' if finalized else ''}"
    if state == "aborted":
        return f"called MPI_Abort{with_code}"
    if state == "exited":
        return f"exited without MPI_Finalize{with_code}"
    if state == "unknown":
        return "not known to have ended"
    return f"ended{with_code}" if state == "finished" else state


def brief(process: Process) -> str:
    """The end for a column: "exited (3)", "killed (SIGSEGV)"."""
    detail = units.signal_name(process.signal) if process.signal else process.exit_code
    return f"{process.state} ({detail})" if detail else process.state


@dataclass(frozen=True)
class First:
    """The process that ended early before all others; several if their ends are too close to tell."""

    processes: list[Process]
    is_certain: bool  # the ends of all processes that may have ended early were observed


def first(processes: Sequence[Process], *, others: bool = False) -> First | None:
    """None if no process ended early, if the time is unknown, or if there is one process only.

    `others`: there were more processes, whose ends nobody knows.
    """
    early = [process for process in processes if process.state in EARLY]
    # Processes whose time is the end of the command have no known order.
    known = [process for process in early if process.until != "command"]
    if not known or len(processes) == 1:
        return None
    earliest = min(known, key=end_ns)
    if earliest.until not in OBSERVED and len(known) < len(early):
        return None
    close = [process for process in known if end_ns(process) - end_ns(earliest) < CLOSE_NS]
    # Launchers end the other processes with these signals.
    own = [process for process in close if process.signal not in (SIGTERM, SIGKILL)]
    if others and not own:
        return None
    return First(own or close, not others and all(process.until in OBSERVED for process in early))


def end_ns(process: Process) -> int:
    """Unix time of its end."""
    return process.start_ns + process.wall_ns


@dataclass(frozen=True)
class LastCall:
    """Processes of one world that ended early in the same way and in, or after, the same call."""

    processes: list[Process]
    function: str  # "": no call of theirs is known
    at: Placed
    inside: bool  # they were in the call; else it is the last one that had returned


def last_calls(run: Run, of: Sequence[Process]) -> list[LastCall]:
    """The processes, which are of the run, in groups of those that ended alike and in the same call."""
    chosen = {id(process) for process in of}
    calls = grouped(run.current_calls, lambda call: call.process) if chosen else {}

    def group(number: int) -> tuple[object, ...]:
        process, last = run.processes[number], _last(calls.get(number, ()))
        where = (last.function, place_of(last.site, run.sites), last.inside) if last else ("", UNKNOWN, False)
        return (process.world, describe(process), *where)

    numbers = [number for number, process in enumerate(run.processes) if id(process) in chosen]
    return [
        LastCall([run.processes[number] for number in of_group], *key[2:])  # type: ignore[arg-type]
        for key, of_group in grouped(numbers, group).items()
    ]


def _last(calls: Sequence[CurrentCall]) -> CurrentCall | None:
    """A call that a thread of the process was in, the newest; if there is none, the last that returned.

    Threads that call MPI go before others, which may wait in a call all the time. None also if it is not
    known, as calls were only counted.
    """
    last = max(calls, key=lambda call: (call.made_mpi_calls, call.inside, call.enter_ns), default=None)
    return None if last is not None and last.counted_since_ns is not None else last
