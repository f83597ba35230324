"""Whether the run came to its end: what is said before anything of how fast it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tare.analysis import endings, ranks, where
from tare.analysis.explain.finding import Finding
from tare.analysis.rows import UNKNOWN, place_of

if TYPE_CHECKING:
    from tare._native import Process
    from tare.analysis.deadlock import Deadlock
    from tare.runs.run import Run


def findings(run: Run) -> list[Finding]:
    """How the run ended, if not well: not measured, still running, deadlock, processes that ended early."""
    if not run.processes:
        return [Finding(kind="nothing measured")]
    if run.is_running:
        return [Finding(kind="still running")]
    if run.current_calls:  # else there is nothing to see of 100,000 ranks that have ended
        look = where.look(run)
        if look.deadlock is not None:
            return [_deadlock(look.deadlock, run)]
    # A program may end its own children, as Python's pools do. Ranks, it may not.
    may_end = run.meta.exit_code == 0
    judged = [process for process in run.processes if process.rank >= 0 or not may_end]
    early = endings.first(judged)
    unwell = [process for process in judged if process.state in endings.EARLY]
    if not unwell:
        is_measured = ranks.use_mpi(run.processes) or run.meta.options.sources
        return [] if is_measured else [Finding(kind="nothing measured")]
    return [_early(early.processes if early else unwell, len(unwell), run)]


def _deadlock(found: Deadlock, run: Run) -> Finding:
    """The deadlock, at the place of its first rank."""
    first = min(found.blocked, key=lambda each: (each.call.world, each.call.rank))
    return Finding(
        kind="deadlock",
        ranks=tuple(sorted({each.call.rank for each in found.blocked})),
        function=first.call.function,
        at=place_of(first.call.site, run.sites),
        cause_rank=first.call.rank,
        calls=len(found.cycles),
        detail=", ".join(str(rank) for _, rank in found.cycles[0]) if found.cycles else "",
    )


def _early(processes: Sequence[Process], count: int, run: Run) -> Finding:
    """How the first of them ended, and in or behind which call."""
    first = min(processes, key=lambda process: process.rank)
    calls = [call for call in run.current_calls if run.processes[call.process].pid == first.pid]
    last = max(calls, key=lambda call: call.enter_ns, default=None)
    return Finding(
        kind="ended early",
        ranks=tuple(sorted(process.rank for process in processes if process.rank >= 0)),
        calls=count,
        function=last.function if last else "",
        at=place_of(last.site, run.sites) if last else UNKNOWN,
        cause_in_call=bool(last and last.inside),
        detail=endings.describe(first),
    )
