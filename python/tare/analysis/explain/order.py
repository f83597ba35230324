"""The order of calls on one rank: barriers before collectives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.finding import FOLLOWED_SHARE, MIN_SHARE, Finding
from tare.analysis.explain.losses import total
from tare.analysis.rows import Placed, row_place
from tare.functions import OUTSIDE_NET, is_barrier, is_collective, is_known, meaning

if TYPE_CHECKING:
    from tare._native import EventRow

# As many calls of the rank are looked at: they show its order, and take a second to read.
MAX_CALLS = 200_000
# Between a barrier and the call that makes it needless, at most so much of the time since the call before it.
SOON = 0.1


@dataclass(frozen=True)
class Call:
    """A call of the first rank."""

    function: str
    at: Placed
    communicator: int  # index of the communicator in the run
    start_ns: int  # Unix time
    end_ns: int  # Unix time


def calls_of_a_rank(basis: Basis) -> list[Call]:
    """The calls of the thread of the lowest rank that makes most of them, in their order."""
    rank = min((process.rank for process in basis.processes), default=None)
    if rank is None or not basis.is_traced:
        return []
    threads: dict[int, list[Call]] = {}
    for event in basis.run.events([rank], None, None, None, MAX_CALLS):
        function = event.get("function", "")
        orders = meaning(function).kind not in ("lookup", "local")
        if orders and is_known(function) and function not in OUTSIDE_NET and event["world"] == basis.world:
            threads.setdefault(event["thread"], []).append(_call(basis, event))
    busiest = max(threads.values(), key=lambda calls: len(calls)) if threads else []
    return sorted(busiest, key=lambda call: call.start_ns)


def needless_barriers(basis: Basis, told: Told) -> list[Finding]:
    """Barriers that a collective of the same communicator follows at once. Their waits count as told.

    Before one in which all wait for all, the barrier costs its own time alone: who waits in it would wait in
    the collective. Before others it costs what ranks wait in it, too.
    """
    return _needless(basis, told, calls_of_a_rank(basis))


def _needless(basis: Basis, told: Told, calls: Sequence[Call]) -> list[Finding]:
    followed: dict[Placed, list[Call | None]] = {}
    for before, call, after in zip([None, *calls], calls, [*calls[1:], None], strict=False):
        if is_barrier(call.function):
            followed.setdefault(call.at, []).append(after if _needs_none(before, call, after) else None)
    found = []
    for at, behind in followed.items():
        following = [call for call in behind if call is not None]
        if len(following) < FOLLOWED_SHARE * len(behind) or not following:
            continue
        rows = [row for row in basis.lines if is_barrier(row.function) and row_place(row) == at]
        lines = {basis.line_of_row(row) for row in rows}
        has_waits = meaning(following[0].function).waits != "all"
        of = [loss for loss in told.losses.left if loss.line in lines and (has_waits or not loss.kind)]
        time_ns = total(of)
        if basis.share(time_ns) < MIN_SHARE:
            continue
        told.losses.take(of)
        found.append(
            Finding(
                kind="needless barrier",
                share=basis.share(time_ns),
                time_ns=round(time_ns),
                lost_ns=round(time_ns),
                function=rows[0].function,
                at=at,
                calls=sum(map(basis.calls_of, rows)),
                cause_function=following[0].function,
                cause_at=following[0].at,
                detail=meaning(following[0].function).waits,
            )
        )
    return found


def _needs_none(before: Call | None, barrier: Call, after: Call | None) -> bool:
    """Whether the call behind the barrier follows at once, and orders its ranks itself."""
    if after is None or after.communicator != barrier.communicator or not is_collective(after.function):
        return False
    if is_barrier(after.function) or meaning(after.function).waits not in _ORDERS:
        return False
    since_ns = barrier.end_ns - (before.end_ns if before else barrier.start_ns)
    return after.start_ns - barrier.end_ns <= SOON * since_ns


_ORDERS = ("all", "root", "at_root", "lower")


def _call(basis: Basis, event: EventRow) -> Call:
    start_ns = event["start_ns"]
    return Call(
        event["function"],
        basis.place(event.get("site", -1)),
        event.get("communicator", -1),
        start_ns,
        start_ns + event["duration_ns"],
    )
