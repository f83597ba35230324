"""Deadlocks: ranks that wait for one another, or for ranks that have ended (docs/where.md)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.blocked import Need, Rank, rank_of

if TYPE_CHECKING:
    from tare._native import CurrentCall


@dataclass(frozen=True)
class Blocked:
    """A thread that cannot go on, and the ranks for which it waits for ever."""

    call: CurrentCall  # the call that the thread is in
    waits_for: tuple[Rank, ...]  # the ranks that it waits for
    any_of_them: bool  # True: one of them may be enough


@dataclass(frozen=True)
class Deadlock:
    """`cycles`: ranks of which each waits for the next one, and the last one for the first. `ended`: ranks
    that have ended, but for which others wait. `blocked`: all threads that wait for these, directly or
    indirectly."""

    cycles: tuple[tuple[Rank, ...], ...]
    ended: tuple[Rank, ...]
    blocked: tuple[Blocked, ...]


def find(
    calls: Sequence[CurrentCall],
    needs: Sequence[Collection[Need] | None],
    living: Collection[Rank],
    ended: Collection[Rank],
) -> Deadlock | None:
    """What of `calls` can never return; `needs` are theirs, in the same order.

    A thread without needs goes on, and so does its rank; a thread goes on if in each of its needs some rank
    does. Ranks that do not are those left over when no more can be found that do. Ranks neither `living` nor
    `ended`, of which nothing is known, go on.
    """
    blocked = _blocked(calls, needs, living, ended)
    if not blocked:
        return None
    waits = {number: _blocked_by(rank_of(calls[number]), needs, ended) for number, needs in blocked.items()}
    successor: dict[Rank, Rank] = {}
    for number in blocked:
        successor.setdefault(rank_of(calls[number]), waits[number][1][0])
    found = tuple(
        Blocked(calls[number], ranks, any_of_them) for number, (any_of_them, ranks) in waits.items()
    )
    missing = sorted({rank for rank in successor.values() if rank in ended and rank not in successor})
    return Deadlock(tuple(_cycles(successor)), tuple(missing), found)


def roots(
    calls: Sequence[CurrentCall], needs: Sequence[Collection[Need] | None], living: Collection[Rank]
) -> tuple[frozenset[Rank], frozenset[Rank]]:
    """Ranks that wait for others; and those that they wait for in the end, who wait for nobody."""
    wanted: dict[Rank, set[Rank]] = {}
    for call, need in zip(calls, needs, strict=True):
        if need and rank_of(call) in living:
            wanted.setdefault(rank_of(call), set()).update(rank for each in need for rank in each)
    going = {rank_of(call) for call, need in zip(calls, needs, strict=True) if not need}
    waiting = frozenset(wanted.keys() - going)
    seen: set[Rank] = set()
    fresh = list(waiting)
    while fresh:
        for rank in wanted.get(fresh.pop(), ()):
            if rank not in seen:
                seen.add(rank)
                if rank in waiting:
                    fresh.append(rank)
    return waiting, frozenset(seen - waiting)


def _blocked(
    calls: Sequence[CurrentCall],
    needs: Sequence[Collection[Need] | None],
    living: Collection[Rank],
    ended: Collection[Rank],
) -> dict[int, set[Need]]:
    """Threads by number, with the needs that nobody will fulfil: all who are not found to go on."""
    alive = [rank_of(call) in living for call in calls]
    open_needs = {number: set(need) for number, need in enumerate(needs) if need and alive[number]}
    waiting: dict[Rank, dict[Need, None]] = {}  # needs that a rank would fulfil
    threads: dict[Need, list[int]] = {}
    for number, open_ in open_needs.items():
        for need in open_:
            if need not in threads:
                for rank in need:
                    waiting.setdefault(rank, {})[need] = None
            threads.setdefault(need, []).append(number)
    # Threads that wait for nobody, and ranks of which nothing is known, as they are on other hosts.
    going = {rank_of(call) for number, call in enumerate(calls) if number not in open_needs and alive[number]}
    going |= (
        waiting.keys() - {rank_of(call) for number, call in enumerate(calls) if alive[number]} - set(ended)
    )
    fresh = list(going)
    while fresh:
        for need in waiting.pop(fresh.pop(), ()):
            for number in threads.pop(need, ()):
                open_needs[number].discard(need)
                rank = rank_of(calls[number])
                if not open_needs[number] and rank not in going:
                    going.add(rank)
                    fresh.append(rank)
    return {
        number: open_ for number, open_ in open_needs.items() if open_ and rank_of(calls[number]) not in going
    }


def _blocked_by(
    here: Rank, needs: Collection[Need], ended: Collection[Rank]
) -> tuple[bool, tuple[Rank, ...]]:
    """Whom a blocked thread waits for: ranks that have ended first, as they are why; itself last."""
    ranks = {rank for need in needs for rank in need}
    order = sorted(ranks, key=lambda rank: (rank not in ended, rank == here, rank))
    return any(len(need) > 1 for need in needs), tuple(order)


def _cycles(successor: Mapping[Rank, Rank]) -> list[tuple[Rank, ...]]:
    """The cycles of a graph in which nobody has more than one successor; each begins with its lowest rank."""
    cycles = []
    done: set[Rank] = set()
    for start in sorted(successor):
        path: dict[Rank, int] = {}
        at: Rank | None = start
        while at is not None and at not in done and at not in path:
            path[at] = len(path)
            at = successor.get(at)
        if at is not None and at in path:
            cycle = list(path)[path[at] :]
            first = cycle.index(min(cycle))
            cycles.append((*cycle[first:], *cycle[:first]))
        done |= path.keys()
    return cycles
