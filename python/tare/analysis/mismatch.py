"""Arguments of calls under way that contradict one another: roots, tags, communicators, order of collectives.

A deadlock says who waits for whom; this says which arguments are the mistake (docs/where.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tare.analysis.blocked import (
    Completed,
    Members,
    Rank,
    Send,
    Wanted,
    counts_are_certain,
    is_rooted,
    rank_of,
    sends_of,
    wanted_of,
)
from tare.functions import base, is_collective, of_meaning

if TYPE_CHECKING:
    from tare._native import CurrentCall
    from tare.analysis.deadlock import Blocked, Deadlock
    from tare.runs.run import Run

Kind = Literal["roots", "collectives", "order", "tags", "communicators", "unreceived"]


@dataclass(frozen=True)
class Side:
    """Ranks whose calls agree, and their arguments; None: an argument that does not matter for the kind."""

    ranks: tuple[Rank, ...]
    function: str
    communicator: int  # index of the communicator in the run
    root: int | None = None
    tag: int | None = None


@dataclass(frozen=True)
class Mismatch:
    """Calls that contradict each other. For messages, the first side is that of the receiver."""

    kind: Kind
    sides: tuple[Side, ...]  # one for each group of ranks whose calls agree
    messages: int | None = None  # number of messages that were sent and not received


def differing_roots(calls: Iterable[CurrentCall], completed: Completed) -> list[Mismatch]:
    """The same collective of a communicator, with roots that differ. `calls`: those that make no progress."""
    found: dict[tuple[str, int, int], dict[int, list[Rank]]] = {}
    for call in calls:
        root, communicator = call.peer, call.communicator
        if not call.inside or not is_rooted(call.function) or communicator < 0:
            continue
        number = completed(rank_of(call), call.function, communicator)
        if number is not None and root is not None:
            at = (call.function, communicator, number)
            found.setdefault(at, {}).setdefault(root, []).append(rank_of(call))
    return [
        Mismatch(
            "roots",
            tuple(
                Side(tuple(sorted(ranks)), function, communicator, root=root)
                for root, ranks in sorted(roots.items())
            ),
        )
        for (function, communicator, _), roots in sorted(found.items())
        if len(roots) > 1 and min(roots) >= 0  # of intercommunicators, one side says MPI_ROOT
    ]


def of_deadlock(found: Deadlock, calls: Sequence[CurrentCall], members: Members, run: Run) -> list[Mismatch]:
    """What explains that these wait for one another."""
    return [*_of_collectives(found, members), *_of_messages(found, calls, run)]


def _of_collectives(found: Deadlock, members: Members) -> Iterator[Mismatch]:
    """Pairs of ranks in different collectives, each of which the other has to come to."""
    inside = {
        rank_of(each.call): each for each in found.blocked if each.call.inside and _is_collective(each.call)
    }
    reported: set[frozenset[tuple[str, int]]] = set()
    for one in inside.values():
        for rank in one.waits_for:
            other = inside.get(rank)
            if other is None or _in(one) == _in(other):
                continue
            pair = frozenset((_in(one), _in(other)))
            both = members.of(other.call.communicator)
            if pair in reported or both is None or rank_of(one.call) not in both:
                continue
            reported.add(pair)
            same = one.call.communicator == other.call.communicator
            sides = tuple(_side(inside.values(), each) for each in (one, other))
            yield Mismatch("collectives" if same else "order", sides)


def _is_collective(call: CurrentCall) -> bool:
    return is_collective(call.function) and call.communicator >= 0


def _in(blocked: Blocked) -> tuple[str, int]:
    return base(blocked.call.function), blocked.call.communicator


def _side(all_inside: Iterable[Blocked], like: Blocked) -> Side:
    ranks = sorted(rank_of(each.call) for each in all_inside if _in(each) == _in(like))
    return Side(tuple(ranks), like.call.function, like.call.communicator)


def _of_messages(found: Deadlock, calls: Sequence[CurrentCall], run: Run) -> Iterator[Mismatch]:
    """Receives whose source sends something else, or has sent something that was never received."""
    sent: dict[tuple[Rank, Rank], list[Send]] = {}
    for call in calls:
        for send in sends_of(call):
            sent.setdefault((rank_of(call), send.to), []).append(send)
    for blocked in found.blocked:
        here = rank_of(blocked.call)
        for wanted in wanted_of(blocked.call):
            if wanted.source is None or wanted.source not in blocked.waits_for:
                continue
            if mismatch := _of_receive(here, wanted, sent.get((wanted.source, here), []), run):
                yield mismatch


def _of_receive(here: Rank, wanted: Wanted, sends: Sequence[Send], run: Run) -> Mismatch | None:
    assert wanted.source is not None
    receiver = Side((here,), wanted.function, wanted.communicator, tag=wanted.tag)
    there = [send for send in sends if send.communicator == wanted.communicator]
    for send in there or sends:
        sender = Side((wanted.source,), send.function, send.communicator, tag=send.tag)
        return Mismatch("tags" if there else "communicators", (receiver, sender))
    count = _unreceived(here, wanted.source, run)
    if count <= 0:
        return None
    return Mismatch("unreceived", (receiver, Side((wanted.source,), "", -1)), count)


# With these, a message may have been received that no count has, or the other way round: requests that are
# freed, cancelled or done in parts, and those whose completion does not say what they have received.
_UNCOUNTED = (
    *of_meaning(kind="request", poll=""),
    *of_meaning(kind="exchange", form="nonblocking"),
    *of_meaning(kind="receive", waits="unknown"),
)


def _unreceived(receiver: Rank, sender: Rank, run: Run) -> int:
    """Messages that the one has sent to the other, and this has not received; 0: none, or not certain."""
    world = receiver[0]
    ranks = [receiver[1], sender[1]]
    processes = [process for process in run.processes if rank_of(process) in (receiver, sender)]
    if run.has_counted_time or not all(map(counts_are_certain, processes)):
        return 0
    uncounted = run.profile("rank", functions=[*_UNCOUNTED, "other"], ranks=ranks, worlds=[world])
    if any(row.calls for row in run.rows(uncounted)):
        return 0
    rows = run.rows(run.peers(["rank"], [world], ranks))
    sent = sum(row.sent_messages for row in rows if (row.rank, row.peer) == (sender[1], receiver[1]))
    received = sum(row.received_messages for row in rows if (row.rank, row.peer) == (receiver[1], sender[1]))
    return sent - received
