"""The calls in which processes were that ended early, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tare import rank_numbers, units
from tare.analysis import endings
from tare.reporters import terminal

if TYPE_CHECKING:
    from tare._native import Process
    from tare.runs.run import Run

LISTED = 4


def sentences(run: Run) -> list[str]:
    """ "rank 1, killed (SIGSEGV): in MPI_Recv at solver.c:12 (in step)"; the calls of the most come first."""
    early = [process for process in run.processes if process.state in endings.EARLY]
    groups = sorted(endings.last_calls(run, early), key=lambda group: -len(group.processes))
    said = [
        f"{_who(group.processes, run.worlds)}, {endings.brief(group.processes[0])}: {_where(group)}"
        for group in groups[:LISTED]
    ]
    if more := sum(len(group.processes) for group in groups[LISTED:]):
        said.append(f"{units.number_of(more, 'more process', 'more processes')}: `tare where` lists them")
    return said


def _where(group: endings.LastCall) -> str:
    if not group.function:
        return "no call of it is known" if len(group.processes) == 1 else "no call of them is known"
    return terminal.last_call(group.function, group.at, inside=group.inside)


def _who(processes: Sequence[Process], worlds: int) -> str:
    """The ranks of these processes of one world, or the numbers of processes without a rank."""
    found = [process.rank for process in processes if process.rank >= 0]
    if not found:
        pids = ", ".join(str(process.pid) for process in processes[:LISTED])
        if len(processes) > LISTED:
            return f"{len(processes):,} processes ({pids}, …)"
        return f"{units.noun(len(processes), 'process', 'processes')} {pids}"
    of = f" of world {processes[0].world}" if worlds > 1 else ""
    return f"{rank_numbers.named(found)}{of}"
