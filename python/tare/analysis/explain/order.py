"""The order of calls on one rank: barriers before collectives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.finding import FOLLOWED_SHARE, MIN_SHARE, Finding
from tare.analysis.explain.gains import without_waiting_ns
from tare.analysis.explain.losses import Line, total
from tare.analysis.rows import Placed
from tare.functions import LOSS, OUTSIDE_NET, is_barrier, is_collective, is_known, meaning

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
    is_behind_gap: bool = False  # the trace lacks what is before it


def calls_of_a_rank(basis: Basis) -> list[Call]:
    """The calls of the thread of the lowest rank that makes most of them, in their order."""
    rank = min((process.rank for process in basis.processes), default=None)
    if rank is None or not basis.is_traced:
        return []
    threads: dict[int, list[Call]] = {}
    behind_gap: set[int] = set()  # threads
    for event in basis.run.events([rank], None, None, None, MAX_CALLS):
        function = event.get("function", "")
        thread = event["thread"]
        orders = meaning(function).kind not in ("lookup", "local")
        if event["world"] != basis.world:
            continue
        if function == LOSS:
            behind_gap.add(thread)
        elif orders and is_known(function) and function not in OUTSIDE_NET:
            threads.setdefault(thread, []).append(_call(basis, event, thread in behind_gap))
            behind_gap.discard(thread)
    busiest = max(threads.values(), key=lambda calls: len(calls)) if threads else []
    return sorted(busiest, key=lambda call: call.start_ns)


def needless_barriers(basis: Basis, told: Told) -> list[Finding]:
    """Barriers that a collective of the same communicator follows at once. What they cost counts as told.

    Before one in which all wait for all, the barrier costs its own time alone: who waits in it would wait in
    the collective. Before others it costs what ranks wait in it, too, and would not wait elsewhere.
    """
    return _needless(basis, told, calls_of_a_rank(basis))


def _needless(basis: Basis, told: Told, calls: Sequence[Call]) -> list[Finding]:
    followed: dict[Line, list[Call | None]] = {}
    for before, call, after in zip([None, *calls], calls, [*calls[1:], None], strict=False):
        if is_barrier(call.function) and not (after and after.is_behind_gap):
            line = call.function, call.at
            needs_none = _needs_none(None if call.is_behind_gap else before, call, after)
            followed.setdefault(line, []).append(after if needs_none else None)
    found = []
    for line, behind in followed.items():
        following = [call for call in behind if call is not None]
        if len(following) < FOLLOWED_SHARE * len(behind) or not following:
            continue
        of = [loss for loss in told.losses.left if loss.line == line]
        own, waits = [loss for loss in of if not loss.kind], [loss for loss in of if loss.kind]
        has_waits = meaning(following[0].function).waits != "all"
        part = _needless_part(basis, line, total(waits)) if has_waits else 0.0
        time_ns = total(own) + part * total(waits)
        if basis.share(time_ns) < MIN_SHARE:
            continue
        told.losses.take(own)
        told.losses.take_part(waits, part)
        found.append(
            Finding(
                kind="needless barrier",
                share=basis.share(time_ns),
                time_ns=round(time_ns),
                lost_ns=round(time_ns),
                function=line[0],
                at=line[1],
                calls=sum(basis.calls_of(row) for row in basis.lines if basis.line_of_row(row) == line),
                cause_function=following[0].function,
                cause_at=following[0].at,
                detail=meaning(following[0].function).waits,
            )
        )
    return found


def _needless_part(basis: Basis, line: Line, waits_ns: float) -> float:
    """The part of the waits in a barrier that would not be elsewhere without it."""
    if basis.share(waits_ns) < MIN_SHARE:
        return 0.0
    gain_ns = without_waiting_ns(basis, line) or 0
    if gain_ns < MIN_SHARE * basis.net_ns:
        return 0.0
    return min(gain_ns * basis.ranks / waits_ns, 1.0)


def _needs_none(before: Call | None, barrier: Call, after: Call | None) -> bool:
    """Whether the call behind the barrier follows at once, and orders its ranks itself."""
    if after is None or after.communicator != barrier.communicator or not is_collective(after.function):
        return False
    if is_barrier(after.function) or meaning(after.function).waits not in _ORDERS:
        return False
    since_ns = barrier.end_ns - (before.end_ns if before else barrier.start_ns)
    return after.start_ns - barrier.end_ns <= SOON * since_ns


_ORDERS = ("all", "root", "at_root", "lower")


def _call(basis: Basis, event: EventRow, is_behind_gap: bool) -> Call:
    start_ns = event["start_ns"]
    return Call(
        event["function"],
        basis.place(event.get("site", -1)),
        event.get("communicator", -1),
        start_ns,
        start_ns + event["duration_ns"],
        is_behind_gap,
    )
