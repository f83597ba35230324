"""Iterations that take far longer than the others of their phase."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.finding import MIN_SHARE, SHORTEST_ITERATION_NS, Finding
from tare.analysis.explain.losses import Activity, Loss, total
from tare.analysis.groups import added

if TYPE_CHECKING:
    from tare._native import Loop, SlowIteration


def slow_iterations(basis: Basis, told: Told) -> list[Finding]:
    """Few iterations of a rank that take far longer than most: of all ranks and phases the worst.

    Those for which other ranks wait are told as waits, and those that are slow in calls with these calls.
    """
    slow = slowest(basis)
    if slow is None or slow.cause_in_call or any(each.kind == slow.kind for each in told.findings):
        return []
    return [] if 2 * total(waits_for(slow, told.losses.all)) >= slow.time_ns else [slow]


def waits_for(slow: Finding, losses: Iterable[Loss]) -> list[Loss]:
    """What others wait for the rank that has the slow iterations, while it does what makes them slow."""
    activity = Activity(slow.cause_function, slow.cause_at, in_call=False)
    return [
        loss
        for loss in losses
        if not slow.cause_in_call and (loss.cause_rank, loss.activity) == (slow.cause_rank, activity)
    ]


def slowest(basis: Basis) -> Finding | None:
    """The slow iterations of the rank and phase that lose most by them, if one can be found for its own sake.

    A rank that is slow in calls waits, or is held up.
    """
    if not basis.is_traced or not basis.net_ns:
        return None
    loops = [loop for loop in basis.run.structure.loops if loop.world == basis.world]
    slow = [loop for loop in loops if loop.slow and _is_slow(loop, basis.net_ns)]
    found = [_finding(basis, loop) for loop in slow if not _is_descheduled(loop)]
    return max(found, key=lambda each: (not each.cause_in_call, each.time_ns), default=None)


def _is_slow(loop: Loop, net_ns: int) -> bool:
    return loop.median_ns >= SHORTEST_ITERATION_NS and loop.beyond_ns >= MIN_SHARE * net_ns


def _finding(basis: Basis, loop: Loop) -> Finding:
    causes = added((_cause(each), each.cause_ns) for each in loop.slow)
    most = max(causes, key=lambda each: causes[each])
    beyond_ns = sum(each.duration_ns - loop.median_ns for each in loop.slow)
    longest = max(loop.slow, key=lambda each: each.duration_ns)
    phases = [each for each in basis.run.structure.phases if each.world == basis.world]
    names = {each.number: each.phase for each in phases}
    rank, function, site, in_call = most
    blocked_ns = sum(each.cause_blocked_ns for each in loop.slow if _cause(each) == most)
    return Finding(
        kind="slow iterations",
        share=basis.share(loop.beyond_ns),
        time_ns=loop.beyond_ns,
        beyond_ns=loop.beyond_ns,
        function=loop.function,
        at=basis.place(loop.site),
        ranks=(loop.rank,),
        calls=loop.slow_iterations,
        cause_rank=rank,
        cause_function=function,
        cause_at=basis.place(site),
        cause_in_call=in_call,
        cause_blocked=None if in_call else min(blocked_ns / max(causes[most], 1), 1.0),
        cause_share=min(causes[most] / beyond_ns, 1.0),
        most_ns=longest.duration_ns,
        mean_ns=loop.median_ns,
        first_ns=longest.start_ns,
        detail=str(loop.iterations),
        phase=names[loop.number] if len(phases) > 1 else "",
    )


def _is_descheduled(loop: Loop) -> bool:
    """Whether in most of what the slowest iterations take longer their cause had no processor."""
    off_ns = sum(each.cause_descheduled_ns for each in loop.slow)
    return 2 * off_ns >= sum(each.cause_ns for each in loop.slow)


def _cause(of: SlowIteration) -> tuple[int, str, int, bool]:
    return of.cause_rank, of.cause_function, of.cause_site, of.cause_in_call
