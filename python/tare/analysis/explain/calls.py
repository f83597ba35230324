"""Calls that take the time by themselves: too many, too large, or unsuccessful polls."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tare import units
from tare.analysis import profile
from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.finding import (
    LARGE_BYTES,
    MIN_MPI_SHARE,
    MIN_SHARE,
    OFTEN_PER_S,
    POLLS_FOR_MESSAGE,
    SHORT_CALL_NS,
    TINY_BYTES,
    Finding,
)
from tare.analysis.explain.losses import Line, Loss, is_of_messages, total
from tare.analysis.groups import added
from tare.analysis.rows import row_place
from tare.functions import is_collective, meaning
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare._tables import ProfileRow


def tiny_messages(basis: Basis, told: Told) -> list[Finding]:
    """Most messages are tiny and sent so often that their number is what takes the time.

    Short waits for messages are told with them.
    """
    sends = [row for row in basis.lines if _sends(row.function) and row.calls]
    tiny = [row for row in sends if row.bytes / row.calls <= TINY_BYTES]
    count = sum(map(basis.calls_of, tiny))
    if not tiny or 2 * count < sum(map(basis.calls_of, sends)):
        return []
    senders = _senders(basis, {row.function for row in tiny})
    if _rate(basis, count, senders) < OFTEN_PER_S:
        return []
    rows = [row for row in basis.lines if is_of_messages(row.function) and not meaning(row.function).poll]
    short = {basis.line_of_row(row) for row in rows if row.time_ns <= SHORT_CALL_NS * row.calls}
    of = [loss for loss in told.losses.left if loss.line in short]
    time_ns = total(of)
    if basis.share(time_ns) < MIN_SHARE:
        return []
    told.losses.take(of)
    most = max(tiny, key=basis.calls_of)
    bytes_per_call = sum(row.bytes for row in tiny) / sum(row.calls for row in tiny)
    per_second = _rate(basis, count, senders)
    found = _of_row(
        basis, most, "tiny messages", time_ns, bytes_per_call=bytes_per_call, per_second=per_second
    )
    return [replace(found, calls=count)]


def _senders(basis: Basis, functions: Collection[str]) -> int:
    """How many ranks call the functions, on whatever lines."""
    rows = profile.summed(basis.run, ["function", "rank"])
    return len({row.rank for row in rows if row.world == basis.world and row.function in functions}) or 1


def polling(basis: Basis, told: Told) -> list[Finding]:
    """Polls of a line, far more than there are messages; not those that stand for a wait state."""
    found = []
    for row in polls_in_vain(basis):
        found += _taken(basis, told, row, "unsuccessful polling")
    return found


def polls_in_vain(basis: Basis) -> list[ProfileRow]:
    """The lines with far more polls than there are messages."""
    messages = basis.exchange.messages if basis.exchange else 0
    least = max(POLLS_FOR_MESSAGE * max(messages, 1), POLLS_FOR_MESSAGE**2)
    return [row for row in basis.lines if meaning(row.function).poll and row.calls >= least]


def between_polls(basis: Basis) -> str:
    """A sentence on time between polls, which counts as computing, but may be waiting; "" if it is short."""
    if basis.is_traced:
        time_ns = float(sum(each.time_ns for each in basis.outside if meaning(each.function).poll))
        share, what = basis.share(time_ns), "between polls, outside MPI, and counts as computing"
        enough = MIN_SHARE
    else:
        polls = sum(row.calls for row in basis.lines if meaning(row.function).poll)
        blocked_ns = float(sum(each.scheduling.blocked_outside_ns for each in basis.processes))
        share, what = basis.share(blocked_ns), "blocked outside MPI, and ranks poll"
        enough = MIN_MPI_SHARE if polls >= POLLS_FOR_MESSAGE**2 else math.inf
    if share < enough:
        return ""
    return (
        f"{units.percent(share)} of the ranks' time is {what}: if ranks sleep between polls, they wait for "
        "others there, and more is lost than is said."
    )


def large_collectives(basis: Basis, told: Told) -> list[Finding]:
    """Lines whose collectives move much, without the time in which they wait."""
    found = []
    for row in basis.lines:
        size = (row.bytes + row.received) / row.calls if row.calls else 0
        if is_collective(row.function) and size >= LARGE_BYTES:
            found += _taken(basis, told, row, "large collective", bytes_per_call=size)
    return found


def frequent(basis: Basis, told: Told) -> list[Finding]:
    """Short calls, made so often that their number is what takes the time; but for what is told."""
    found = []
    for row in basis.lines:
        rate = _rate(basis, basis.calls_of(row), row.ranks or 1)
        if row.time_ns <= SHORT_CALL_NS * row.calls and rate >= OFTEN_PER_S:
            found += _taken(basis, told, row, "frequent calls", per_second=rate)
    return found


def _taken(
    basis: Basis,
    told: Told,
    row: ProfileRow,
    kind: str,
    *,
    bytes_per_call: float | None = None,
    per_second: float | None = None,
) -> list[Finding]:
    """What is left of the time in calls of a line, without waits, if it is much."""
    line = basis.line_of_row(row)
    of = [loss for loss in told.losses.left if not loss.kind and loss.line == line]
    if basis.share(total(of)) < MIN_SHARE:
        return []
    time_ns = told.losses.take(of)
    return [_of_row(basis, row, kind, time_ns, bytes_per_call=bytes_per_call, per_second=per_second)]


def not_explained(basis: Basis, told: Told) -> Finding | None:
    """What is left of the time in MPI, with the line that has most of it.

    Ranks that share processors spend it waiting for one of them, which is no wait for another rank.
    """
    left = [loss for loss in told.losses.left if loss.line[0] and loss.time_ns > 0]
    if not left:
        return None
    is_told = any(each.kind == "oversubscription" for each in told.findings)
    crowd = None if is_told else basis.crowd
    return main_line(
        left,
        Finding(
            kind="oversubscription" if crowd else "not explained",
            ranks=crowd.ranks if crowd else (),
            calls=crowd.processors if crowd else 0,
            threads=crowd.threads if crowd else None,
            share=basis.share(total(left)),
        ),
    )


def under_way(basis: Basis, told: Told) -> Finding | None:
    """The time in calls that have not returned yet, and the line with most of it.

    Nothing of a run that is over: how it ended tells in which calls ranks were.
    """
    lines: dict[Line, list[tuple[int, int]]] = {}  # rank, and since when, ns
    for call, since_ns in basis.calls_under_way:
        lines.setdefault((call.function, basis.place(call.site)), []).append((call.rank, since_ns))
    time_ns = sum(ns for of_line in lines.values() for _, ns in of_line)
    if not lines or basis.share(time_ns) < MIN_SHARE or not basis.run.is_running:
        return None
    line = max(lines, key=lambda each: sum(ns for _, ns in lines[each]))
    return Finding(
        kind="calls under way",
        share=basis.share(time_ns),
        time_ns=time_ns,
        lost_ns=int(min(basis.unreturned_ns, told.elsewhere_ns)),
        function=line[0],
        at=line[1],
        ranks=tuple(sorted({rank for rank, _ in lines[line] if rank >= 0})),
        calls=len(lines[line]),
        most_ns=max(ns for _, ns in lines[line]),
    )


def only_counted(basis: Basis) -> Finding | None:
    """The ranks whose calls were only counted for the last part of the time: they may hang in one."""
    times = {rank: ns for rank, ns in basis.counting_ns.items() if ns >= MIN_SHARE * basis.net_ns}
    if not times:
        return None
    time_ns = sum(times.values())
    ranks, share = tuple(sorted(rank for rank in times if rank >= 0)), basis.share_of_all(time_ns)
    return Finding(
        kind="only counted", share=share, time_ns=time_ns, ranks=ranks, most_ns=max(times.values())
    )


def main_line(losses: Sequence[Loss], found: Finding) -> Finding:
    """The finding with the time of the losses, and the line that has most of it."""
    sums = added((loss.line, loss.time_ns) for loss in losses)
    (function, at), most_ns = max(sums.items(), key=lambda each: each[1])
    time_ns = total(losses)
    return replace(found, time_ns=round(time_ns), function=function, at=at, cause_share=most_ns / time_ns)


def _of_row(
    basis: Basis,
    row: ProfileRow,
    kind: str,
    time_ns: float,
    *,
    bytes_per_call: float | None = None,
    per_second: float | None = None,
) -> Finding:
    return Finding(
        kind=kind,
        share=basis.share(time_ns),
        time_ns=round(time_ns),
        lost_ns=round(time_ns),
        function=row.function,
        at=row_place(row),
        ranks=() if row.rank_max is None else (row.rank_max,),
        calls=basis.calls_of(row),
        mean_ns=row.mean_ns,
        bytes_per_call=bytes_per_call,
        per_second=per_second,
    )


def _sends(function: str) -> bool:
    return meaning(function).kind in ("send", "exchange")


def _rate(basis: Basis, calls: int, ranks: int) -> float:
    """Calls of a rank in a second."""
    return calls / ranks / basis.net_ns * NS_PER_S if basis.net_ns else 0.0
