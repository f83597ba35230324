"""All findings of a run, so that none says what another has said, the most severe first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tare import units
from tare.analysis import ranks, retimed
from tare.analysis.explain import calls, computing, ended, iterations, order, waiting
from tare.analysis.explain.basis import Basis, Recorded, WaitGroup
from tare.analysis.explain.finding import (
    LEAST_MPI_SHARE,
    LEAST_SHARE,
    MOST_FINDINGS,
    SHORT_CALL_NS,
    SHORTEST_NS,
    Explanation,
    Finding,
)


class Explained(Recorded, ended.Ended, Protocol):
    """The data of a run that its explanation needs (runs.run.Run)."""


def explain(run: Explained) -> Explanation:
    """Reads the trace five times, if there is one."""
    return explain_basis(run, Basis(run))


def explain_basis(run: Explained, basis: Basis) -> Explanation:
    """The same of what has been read."""
    first = ended.findings(run)
    is_too_short = basis.net_ns < SHORTEST_NS
    # How long ranks waited that wait for ever depends on who ended the run.
    is_stuck = any(each.kind == "deadlock" for each in first)
    found = [] if is_too_short or is_stuck else _limits(basis)
    found.sort(key=lambda each: -each.share)
    found += _share(basis, found) if found or not (is_too_short or is_stuck) else []
    return Explanation(
        findings=(*first, *found)[:MOST_FINDINGS],
        ranks=basis.ranks,
        net_ns=basis.net_ns,
        mpi_share=basis.share(basis.mpi_ns) if basis.total_ns else None,
        is_traced=basis.is_traced,
        is_too_short=is_too_short,
        is_too_long=basis.is_too_long,
        notes=tuple(_notes(basis)),
    )


def _limits(basis: Basis) -> list[Finding]:
    found = _cost(basis)
    in_order = order.calls_of_a_rank(basis)
    barriers = order.needless_barriers(basis, in_order)
    tiny = calls.tiny_messages(basis)
    found += [*barriers, *([tiny] if tiny else [])]
    found += _of_waits(basis, _not_reported_by(basis, barriers, tiny))
    found += calls.polling(basis, basis.waits)
    found += calls.large_collectives(basis, basis.waits)
    found += calls.frequent(basis, found)
    slow = iterations.slow_iterations(basis)
    # Iterations that are slow because they wait are reported as waits.
    is_reported = slow and (slow.cause_function, slow.cause_at) in {
        (each.function, each.at) for each in found
    }
    return found + ([slow] if slow and not (is_reported and slow.cause_in_call) else [])


def _not_reported_by(basis: Basis, barriers: Sequence[Finding], tiny: Finding | None) -> list[WaitGroup]:
    """Without the waits of needless barriers, and the short ones of many tiny messages."""
    reported = {barrier.at for barrier in barriers if barrier.detail != "all"}
    return [
        group
        for group in basis.waits
        if not (group.kind == "wait at barrier" and group.at in reported)
        and not (tiny and group.kind in waiting.OF_MESSAGES and _is_short(basis, group))
    ]


def _is_short(basis: Basis, group: WaitGroup) -> bool:
    """On average over all calls of its line."""
    at = group.at.file, group.at.line, group.function
    count = sum(row.calls for row in basis.lines if (row.file, row.line, row.function) == at)
    return group.wait_ns <= SHORT_CALL_NS * count


def _of_waits(basis: Basis, groups: Sequence[WaitGroup]) -> list[Finding]:
    """Each wait is reported once: by its cause if that is known, else by its kind."""
    found = []
    left = list(groups)
    serial = waiting.serialised(basis, left)
    if serial:
        found.append(serial)
        left = [group for group in left if group.kind not in waiting.OF_MESSAGES]
    hot = waiting.hot_spot(basis, left)
    if hot:
        found.append(hot)
        hub = hot.cause_rank
        left = [
            group
            for group in left
            if group.kind not in waiting.OF_MESSAGES or 2 * group.by_cause.get(hub or 0, 0) < group.wait_ns
        ]
    slow = computing.slow_ranks(basis)
    of_all = [group for group in left if group.kind in waiting.OF_ALL]
    for_slow = [group for group in of_all if 2 * waiting.caused_by([group], slow) >= group.wait_ns]
    uneven = computing.imbalance(basis, for_slow)
    others = [group for group in left if group not in of_all]
    # Ranks that compute longer are the cause of waits for messages, which say more.
    reported = [*others, *(groups if serial or hot else ())]
    is_reported = uneven and 2 * waiting.caused_by(reported, slow) >= uneven.time_ns
    if uneven and not is_reported:
        found.append(uneven)
        left = [group for group in left if group not in for_slow]
    found += [waiting.of_group(basis, group) for group in left if basis.share(group.wait_ns) >= LEAST_SHARE]
    return found


def _cost(basis: Basis) -> list[Finding]:
    cost = ranks.total_cost(basis.run, basis.world)
    if cost.net_share < LEAST_SHARE or not cost.calls:
        return []
    time_ns = round(cost.net_share * basis.total_ns)
    return [Finding(kind="cost of measuring", share=cost.net_share, time_ns=time_ns, calls=cost.calls)]


def _share(basis: Basis, found: Sequence[Finding]) -> list[Finding]:
    """The time in MPI, if it is much and nothing else says why."""
    share = basis.share(basis.mpi_ns)
    if share < LEAST_MPI_SHARE or 2 * sum(each.share for each in found) >= share:
        return []
    told = calls.mpi_share(basis)
    return [told] if told else []


def _notes(basis: Basis) -> list[str]:
    """What keeps the findings from being all that there is."""
    notes = []
    trace = ranks.total_trace(basis.run, basis.world)
    if trace["dropped"]:
        dropped = units.number_of(trace["dropped"], "record of the trace was", "records of the trace were")
        notes.append(f"{dropped} dropped: waits may be missing.")
    if trace["overwritten_bytes"]:
        notes.append("The trace holds the newest events alone: earlier waits are missing.")
    if basis.is_traced:
        violations = basis.run.wait_report["clock_violations"]
        if violations:
            most = max(each["most_ns"] for each in violations)
            notes.append(
                f"The clocks of two ranks disagree by {most / 1000:,.1f} µs at least: waits may be off; "
                "--times corrected corrects them."
            )
        notes += retimed.sentences(basis.run.retimed)
        notes += (f"{line[0].upper()}{line[1:]}." for line in basis.run.wait_report["warnings"])
    if basis.other_worlds:
        notes.append(f"{basis.other_worlds} other worlds were not looked at.")
    return notes
