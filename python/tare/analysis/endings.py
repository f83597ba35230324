"""How processes ended: the words for it, which are the same everywhere, and who was first."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare._native import Process, State

STATES: tuple[State, ...] = ("finished", "exited", "aborted", "killed", "running")
# Others may have waited for these in vain.
EARLY: tuple[State, ...] = ("exited", "aborted", "killed")
# Their times go up to their ends (docs/json.md).
SEEN = ("exit", "end")
# Whose connection closes first may be gone last: of ends that are closer, the order is not known.
CLOSE_NS = NS_PER_S // 50


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def describe(process: Mapping[str, Any]) -> str:
    """In full: "exited without MPI_Finalize, exit code 3", "killed by SIGSEGV"."""
    state, code, number = process["state"], process["exit_code"], process["signal"]
    by = f" by {signal_name(number)}" if number else ""
    with_code = f", exit code {code}" if code is not None else ""
    if state == "killed":
        return f"killed{by}{' after MPI_Finalize' if process['finalized'] else ''}"
    if state == "aborted":
        return f"called MPI_Abort{with_code}"
    if state == "exited":
        return f"exited without MPI_Finalize{with_code}"
    return f"ended{with_code}" if state == "finished" else str(state)


def brief(process: Mapping[str, Any]) -> str:
    """In a column: "exited (3)", "killed (SIGSEGV)"."""
    detail = signal_name(process["signal"]) if process["signal"] else process["exit_code"]
    return f"{process['state']} ({detail})" if detail else str(process["state"])


@dataclass(frozen=True)
class First:
    """Who ended early before all others did: one, unless they ended too close to one another to say.

    `is_certain`: the end of each that ended early was seen.
    """

    processes: list[Process]
    is_certain: bool


def first(processes: Sequence[Process]) -> First | None:
    """None if nobody ended early, or if it is not known when."""
    early = [process for process in processes if process["state"] in EARLY]
    # Of those that have only the end of the command, the order is not known.
    known = [process for process in early if process["until"] != "command"]
    if not known or len(processes) == 1:
        return None
    earliest = min(known, key=end_ns)
    if earliest["until"] not in SEEN and len(known) < len(early):
        return None
    close = [process for process in known if end_ns(process) - end_ns(earliest) < CLOSE_NS]
    # Launchers end the others so.
    own = [process for process in close if process["signal"] not in (signal.SIGTERM, signal.SIGKILL)]
    return First(own or close, all(process["until"] in SEEN for process in early))


def end_ns(process: Process) -> int:
    return process["start_ns"] + process["wall_ns"]
