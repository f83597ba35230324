"""Whether the run came to its end: what is said before anything of how fast it was."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from tare import rank_numbers
from tare.analysis import endings, ranks, where
from tare.analysis.explain.finding import Finding
from tare.analysis.groups import grouped
from tare.analysis.rows import place_of
from tare.runs import missing

if TYPE_CHECKING:
    from tare._native import Process
    from tare.analysis.blocked import Rank
    from tare.analysis.deadlock import Deadlock
    from tare.analysis.where import Look
    from tare.runs.run import Run

# So many ways in which the first processes ended, and calls in which they did, are told.
MAX_WAYS = 3


def findings(run: Run, seen: tuple[Run, Look] | None = None) -> list[Finding]:
    """How the run ended, if not well: not measured, still running, deadlock, processes that ended early.

    A deadlock of a run that is still going on is told if it has been `seen` at two looks.
    """
    if not run.processes:
        return [Finding(kind="nothing measured")]
    if run.is_running:
        return [Finding(kind="still running"), *(_stuck(*seen) if seen else [])]
    # Without calls there is nothing to see of 100,000 ranks that have ended.
    if run.current_calls:
        look = where.look(run)
        if look.deadlock is not None and not (look.is_over and _is_of_killed(look.deadlock, run)):
            return _stuck(run, look)
    # A program may end its own children, as Python's pools do. Ranks, it may not.
    may_end = run.meta.exit_code == 0
    judged = [process for process in run.processes if process.rank >= 0 or not may_end]
    early = endings.first(judged, others=missing.incomplete(run) > 0)
    unwell = [process for process in judged if process.state in endings.EARLY]
    if not unwell:
        is_measured = ranks.use_mpi(run.processes) or run.meta.options.sources
        return [*_failed(run), *([] if is_measured else [Finding(kind="nothing measured")])]
    return _early(early.processes if early else unwell, len(unwell), run)


def _stuck(run: Run, look: Look) -> list[Finding]:
    """The deadlock, and before it how ranks ended early for which others wait; nothing if there is none."""
    if look.deadlock is None:
        return []
    return [*_why_ended(look.deadlock, run), _deadlock(look.deadlock, run)]


def _is_of_killed(found: Deadlock, run: Run) -> bool:
    """Whether all that ranks of a run that is over wait for was killed before them.

    A launcher takes its time to end the others: that is no more than an early end.
    """
    killed = {(each.world, each.rank) for each in run.processes if each.state == "killed"}
    return not found.cycles and killed.issuperset(found.ended)


def _why_ended(found: Deadlock, run: Run) -> list[Finding]:
    """How ranks ended early for which others wait."""
    gone = [
        process
        for process in run.processes
        if process.state in endings.EARLY and (process.world, process.rank) in found.ended
    ]
    return _early(gone, 0 if run.is_running else len(gone), run) if gone else []


def _who_waits(found: Deadlock, worlds: int) -> str:
    """Which ranks wait for which."""
    together = {rank for cycle in found.cycles for rank in cycle}
    behind = {(each.call.world, each.call.rank) for each in found.blocked} - together
    if not together:
        have = "has" if len(found.ended) == 1 else "have"
        gone = rank_numbers.of_worlds(found.ended, worlds)
        return f"{_wait(behind, worlds)} for {gone}, which {have} ended"
    themselves = "itself" if len(together) == 1 else "one another"
    if len(found.cycles) > 1:
        themselves = "one another or for themselves"
    them = "it" if len(together) == 1 else "them"
    more = f", and {rank_numbers.of_worlds(behind, worlds)} for {them}" if behind else ""
    return f"{_wait(together, worlds)} for {themselves}{more}"


def _wait(ranks: Collection[Rank], worlds: int) -> str:
    return f"{rank_numbers.of_worlds(ranks, worlds)} wait{'s' if len(ranks) == 1 else ''} for ever"


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
        detail=_who_waits(found, run.worlds),
    )


def _failed(run: Run) -> list[Finding]:
    """The command reported an error, although no process is known to have ended early; who reported it."""
    if not run.meta.exit_code and not run.meta.signal:
        return []
    by_code = grouped(
        (process for process in run.processes if process.exit_code and process.rank >= 0),
        lambda process: process.exit_code,
    )
    of = by_code.get(run.meta.exit_code) or next(iter(by_code.values()), [])
    return [
        Finding(
            kind="failed",
            calls=missing.incomplete(run),
            ranks=tuple(sorted({process.rank for process in of})),
            detail=run.ending
            if not of or of[0].exit_code == run.meta.exit_code
            else f"exit code {of[0].exit_code}",
        )
    ]


def _early(processes: Sequence[Process], count: int, run: Run) -> list[Finding]:
    """How those that ended first did so, and in or behind which calls: a finding for each way and call."""
    groups = endings.last_calls(run, processes)
    return [
        Finding(
            kind="ended early",
            ranks=tuple(sorted(process.rank for process in group.processes if process.rank >= 0)),
            calls=count if group is groups[0] else 0,
            function=group.function,
            at=group.at,
            cause_in_call=group.inside,
            detail=endings.describe(group.processes[0]),
        )
        for group in groups[:MAX_WAYS]
    ]
