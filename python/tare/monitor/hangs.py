"""Whether ranks of a run that goes on hang: what `tare where` sees, and who hands over nothing any more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare import _native, units
from tare.analysis.deadlock import Deadlock
from tare.analysis.where import Look, Row
from tare.streams import visible

if TYPE_CHECKING:
    from tare._native import Ranks

# So many ranks are described in words.
DESCRIBED = 3


@dataclass(frozen=True)
class Hang:
    """Ranks that hang, and why, in one line."""

    ranks: Ranks
    message: str


def verdict(look: Look, silent_ns: Mapping[int, int], all_silent_ns: int, limit_ns: int) -> Hang | None:
    """Says if ranks hang; `silent_ns`: how long each has been in no round; `all_silent_ns`: no round came.

    A deadlock is one at once. Else a rank hangs if it is missing from rounds for `limit_ns` in which others
    go on; or if no round comes for so long, or only those of threads that do not call MPI, and others wait
    for it while it waits for nobody. It has made no call of MPI for so long then, or polls. A rank that
    computes for so long without MPI calls looks the same.
    """
    if look.is_over:
        return None
    if look.deadlock is not None:
        return _deadlock(look.deadlock, "wait for one another, or for ranks that have ended")
    if look.stalled is not None:
        return _deadlock(look.stalled, "wait for one another for ever, unless one stops polling")
    every = [row for row in look.rows if row.world == 0 and row.state == "running"]
    rows = [row for row in every if row.mpi_calls]
    goes_on = {row.rank for row in rows if not _stays(row, limit_ns)}
    running = {row.rank: row for row in rows if row.rank not in goes_on}
    others_go_on = len(rows) < len(every) and not goes_on  # rounds may be those of other threads
    if all_silent_ns >= limit_ns or others_go_on:
        held_up_by = {rank for world, rank in look.waited_for if world == 0} & running.keys()
        since_ns = max(all_silent_ns, min((row.for_ns for row in rows if row.for_ns is not None), default=0))
        wait = f"{units.number_of(len(look.waiting), 'rank waits', 'ranks wait')} for "
        if held_up_by or all_silent_ns >= limit_ns:
            return _silent(held_up_by, running, since_ns, wait)
    found = {rank for rank, since in silent_ns.items() if since >= limit_ns} & running.keys()
    longest_ns = max((silent_ns[rank] for rank in found), default=0)
    return _silent(found, running, longest_ns, "nothing comes from ")


def _stays(row: Row, limit_ns: int) -> bool:
    return row.stopped or row.polling or row.for_ns is None or row.for_ns >= limit_ns


def _deadlock(found: Deadlock, why: str) -> Hang:
    ranks = sorted({each.call.rank for each in found.blocked})
    functions = sorted({each.call.function for each in found.blocked})
    which = _of(ranks)
    return Hang(which, f"deadlock: ranks {which} {why} (in {', '.join(functions[:DESCRIBED])})")


def _silent(found: set[int], running: Mapping[int, Row], since_ns: int, what: str) -> Hang | None:
    if not found:
        return None
    which = _of(sorted(found))
    places = "; ".join(_place(running[rank]) for rank in sorted(found)[:DESCRIBED])
    many = "s" if len(which) > 1 else ""
    return Hang(which, f"{what}rank{many} {which} for {units.duration(since_ns)}: {places}")


def _place(row: Row) -> str:
    """What a rank does, as `tare where` says it."""
    if row.stopped:
        return f"rank {row.rank} is stopped by a signal"
    if row.counted:
        return f"calls of rank {row.rank} are only counted: which call it is in is not known"
    if row.function is None:
        return f"rank {row.rank} has made no MPI call"
    where = f" ({row.file}:{row.line})" if row.file and row.line else ""
    what = f"{row.function} of {visible(row.used_file)}" if row.used_file else row.function
    since = f" for {units.duration(row.for_ns)}" if row.for_ns is not None else ""
    if row.inside:
        return f"rank {row.rank} is in {what}{since}{where}"
    return f"rank {row.rank} has been outside MPI{since}, after {row.function}{where}"


def _of(ranks: list[int]) -> Ranks:
    return _native.Ranks([(rank, 1) for rank in ranks])
