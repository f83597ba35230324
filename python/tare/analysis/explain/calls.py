"""Calls that take the time by themselves: too many, too large, or unsuccessful polls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tare.analysis.explain.basis import Basis, Line, Told, WaitGroup, row_place
from tare.analysis.explain.finding import (
    LARGE_BYTES,
    MIN_SHARE,
    OFTEN_PER_S,
    POLLS_FOR_MESSAGE,
    SHORT_CALL_NS,
    TINY_BYTES,
    Finding,
)
from tare.analysis.explain.waiting import OF_MESSAGES, is_of_messages
from tare.functions import is_collective, meaning
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare._tables import ProfileRow


def tiny_messages(basis: Basis, told: Told) -> list[Finding]:
    """Most messages are tiny and sent so often that their number is what takes the time.

    Short waits for messages are told with them.
    """
    found = _tiny_messages(basis)
    if found:
        told.waits = [
            group for group in told.waits if not (group.kind in OF_MESSAGES and _is_short(basis, group))
        ]
    return [found] if found else []


def _is_short(basis: Basis, group: WaitGroup) -> bool:
    """Whether a wait is short on average over all calls of its line."""
    at = group.at.file, group.at.line, group.function
    count = sum(row.calls for row in basis.lines if (row.file, row.line, row.function) == at)
    return group.wait_ns <= SHORT_CALL_NS * count


def _tiny_messages(basis: Basis) -> Finding | None:
    sends = [row for row in basis.lines if _sends(row.function) and row.calls]
    tiny = [row for row in sends if row.bytes / row.calls <= TINY_BYTES]
    count = sum(row.calls for row in tiny)
    senders = max((row.ranks or 1 for row in tiny), default=1)
    if not tiny or 2 * count < sum(row.calls for row in sends) or _rate(basis, count, senders) < OFTEN_PER_S:
        return None
    rows = [row for row in basis.lines if is_of_messages(row.function) and not meaning(row.function).poll]
    short = [row for row in rows if row.time_ns <= SHORT_CALL_NS * row.calls]
    time_ns = sum(row.time_ns for row in short)
    if basis.share(time_ns) < MIN_SHARE:
        return None
    most = max(tiny, key=lambda row: row.calls)
    return replace(
        _of_row(basis, most, "tiny messages"),
        share=basis.share(time_ns),
        time_ns=time_ns,
        calls=count,
        bytes_per_call=sum(row.bytes for row in tiny) / count,
        per_second=_rate(basis, count, senders),
    )


def polling(basis: Basis, _: Told) -> list[Finding]:
    """Polls of a line, far more than there are messages; not those that stand for a wait state."""
    messages = basis.exchange["messages"] if basis.exchange else 0
    waits = _waits(basis.waits)
    found = []
    for row in basis.lines:
        time_ns = row.time_ns - waits.get((row.function, row_place(row)), 0)
        in_vain = row.calls >= POLLS_FOR_MESSAGE * max(messages, 1) and row.calls >= POLLS_FOR_MESSAGE**2
        if meaning(row.function).poll and in_vain and basis.share(time_ns) >= MIN_SHARE:
            found.append(_of_row(basis, row, "unsuccessful polling", time_ns, calls=row.calls))
    return found


def large_collectives(basis: Basis, _: Told) -> list[Finding]:
    """Lines whose collectives move much, without the time in which they wait."""
    waits = _waits(basis.waits)
    found = []
    for row in basis.lines:
        size = (row.bytes + row.received) / row.calls if row.calls else 0
        if not is_collective(row.function) or size < LARGE_BYTES:
            continue
        waited_ns = waits.get((row.function, row_place(row)), 0) if basis.is_traced else row.imbalance_ns or 0
        time_ns = row.time_ns - waited_ns
        if basis.share(time_ns) >= MIN_SHARE:
            found.append(_of_row(basis, row, "large collective", time_ns, bytes_per_call=size))
    return found


def frequent(basis: Basis, told: Told) -> list[Finding]:
    """Short calls, made so often that their number is what takes the time; but for those of `told`."""
    known = {(each.function, each.at) for each in told.findings}
    has_messages = any(each.kind == "tiny messages" for each in told.findings)
    found = []
    for row in basis.lines:
        if (row.function, row_place(row)) in known or (has_messages and is_of_messages(row.function)):
            continue
        rate = _rate(basis, row.calls, row.ranks or 1)
        is_short = row.time_ns <= SHORT_CALL_NS * row.calls
        if is_short and rate >= OFTEN_PER_S and basis.share(row.time_ns) >= MIN_SHARE:
            found.append(_of_row(basis, row, "frequent calls", per_second=rate))
    return found


def mpi_share(basis: Basis) -> Finding | None:
    """The line with the most time in MPI."""
    worst = max(basis.lines, key=lambda row: row.time_ns, default=None)
    if worst is None:
        return None
    part = worst.time_ns / basis.mpi_ns if basis.mpi_ns else 0.0
    return replace(
        _of_row(basis, worst, "MPI share"),
        share=basis.share(basis.mpi_ns),
        time_ns=basis.mpi_ns,
        cause_share=part,
    )


def _of_row(
    basis: Basis,
    row: ProfileRow,
    kind: str,
    time_ns: int | None = None,
    *,
    calls: int | None = None,
    bytes_per_call: float | None = None,
    per_second: float | None = None,
) -> Finding:
    time_ns = row.time_ns if time_ns is None else time_ns
    return Finding(
        kind=kind,
        share=basis.share(time_ns),
        time_ns=time_ns,
        function=row.function,
        at=row_place(row),
        ranks=() if row.rank_max is None else (row.rank_max,),
        calls=row.calls if calls is None else calls,
        bytes_per_call=bytes_per_call,
        per_second=per_second,
    )


def _sends(function: str) -> bool:
    return meaning(function).kind in ("send", "exchange")


def _rate(basis: Basis, calls: int, ranks: int) -> float:
    """Calls of a rank in a second."""
    return calls / ranks / basis.net_ns * NS_PER_S if basis.net_ns else 0.0


def _waits(groups: Sequence[WaitGroup]) -> dict[Line, int]:
    sums: dict[Line, int] = {}
    for group in groups:
        key = group.function, group.at
        sums[key] = sums.get(key, 0) + group.wait_ns
    return sums
