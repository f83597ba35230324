"""The ranks that a blocked MPI call waits for (docs/where.md).

Nothing is said where it is not certain: a deadlock that is named must be one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.functions import base, is_collective, meaning, of_meaning

if TYPE_CHECKING:
    from tare._native import Communicator, CurrentCall, PendingRequest, Process

# A rank as (world, rank); and ranks of which any one may be enough. These are the OR-sets of an AND-OR
# wait-for graph: a thread waits for all of its sets, and for any rank of each.
Rank = tuple[int, int]
Need = frozenset[Rank]
NOBODY: Need = frozenset()

ANY = -1  # source or tag
NO_PROCESS = -2  # MPI_PROC_NULL

# By how much a call changes how many locks of a window its rank holds.
_OF_LOCKS = dict.fromkeys(of_meaning(epoch="locks"), 1) | dict.fromkeys(of_meaning(epoch="unlocks"), -1)

# How many calls of a function on a communicator a rank has completed, or begun if they do not block; None if
# that is not known.
Completed = Callable[[Rank, str, int], "int | None"]


def rank_of(of: Process | CurrentCall) -> Rank:
    """The rank of a process, or of the thread that makes a call."""
    return of.world, of.rank


def counts_are_certain(process: Process) -> bool:
    """Whether the counts of its calls say how far the process has come.

    Calls in a pause are not counted, nor those in callbacks. A call that failed is, although it may have done
    nothing, and so is one that an exception left. A rank that was saved while it ran has come further since.
    """
    missing = process.saved or not process.has_results or process.pauses or process.unmeasured_threads
    unsure = process.failed_communication or process.left_calls or process.callback_calls
    return not (missing or unsure)


@dataclass(frozen=True)
class Send:
    """A message that is being sent, by a call or by a request that has not completed."""

    function: str
    communicator: int  # index of the communicator in the run
    to: Rank
    tag: int


@dataclass(frozen=True)
class Wanted:
    """A receive that has not completed."""

    function: str
    communicator: int  # index of the communicator in the run
    source: Rank | None  # None: any source, or not known
    tag: int | None  # None: any tag, or not known


def sends_of(call: CurrentCall) -> list[Send]:
    """What a thread and the requests of its process send."""
    sent: list[CurrentCall | PendingRequest] = [
        each for each in call.pending if not each.receives and _sends(each.function)
    ]
    if call.inside and (_sends(call.function) or _exchanges(call.function)):
        sent.append(call)
    return [
        Send(each.function, each.communicator, (call.world, each.peer_world), each.tag)
        for each in sent
        if each.peer_world is not None and each.tag is not None
    ]


def wanted_of(call: CurrentCall) -> list[Wanted]:
    """What a call waits to receive, or polls for."""
    world, name = call.world, call.function

    def wanted(function: str, communicator: int, source: int | None, tag: int | None) -> Wanted:
        return Wanted(function, communicator, None if source is None else (world, source), tag)

    if _exchanges(name):
        return [wanted(name, call.communicator, call.source_world, call.source_tag)]
    if _receives(name) or _probes_again(name):
        return [wanted(name, call.communicator, call.peer_world, call.tag)]
    return [
        wanted(each.function, each.communicator, each.peer_world, each.tag)
        for each in call.pending
        if each.receives and (each.waited_for or is_poll(name))
    ]


def is_rooted(function: str) -> bool:
    """A collective from or to one rank, which blocks."""
    return is_collective(function) and meaning(function).waits in ("root", "at_root")


def is_poll(function: str) -> bool:
    """Programs wait in it only by calling it again and again."""
    return meaning(function).poll != ""


@dataclass
class Members:
    """The ranks of communicators, listed at first use."""

    communicators: Sequence[Communicator]
    world_sizes: dict[int, int]
    _known: dict[int, frozenset[Rank] | None] = field(default_factory=dict)

    def of(self, communicator: int) -> frozenset[Rank] | None:
        """None if a member is unknown or of another world."""
        if communicator not in self._known:
            self._known[communicator] = self._listed(communicator)
        return self._known[communicator]

    def of_world(self, world: int) -> frozenset[Rank]:
        """All ranks of a world."""
        return frozenset((world, rank) for rank in range(self.world_sizes[world]))

    def _listed(self, communicator: int) -> frozenset[Rank] | None:
        if not 0 <= communicator < len(self.communicators):
            return None
        found = self.communicators[communicator]
        ranks: set[Rank] = set()
        for runs in (found.members, found.remote_members or []):
            for first, stride, count in runs or ():
                if first < 0:
                    return None
                ranks.update((found.world, first + stride * number) for number in range(count))
        return frozenset(ranks) or None


class Waits:
    """Answers which ranks each call waits for, in one snapshot of the calls of all threads."""

    def __init__(self, calls: Sequence[CurrentCall], members: Members, completed: Completed) -> None:
        self._members = members
        self._completed = completed
        # Messages under way and receives that are posted, by communicator and rank that they are for.
        self._sent: dict[tuple[int, Rank], list[tuple[Rank, int]]] = {}
        self._wanted: dict[tuple[int, Rank], list[tuple[frozenset[Rank], int]]] = {}
        # Ranks with sendrecv or partitioned requests: to and from whom is not known.
        self._unclear: set[Rank] = set()
        # Ranks inside a function on a communicator.
        self._inside: dict[tuple[str, int], set[Rank]] = {}
        self._missing_memo: dict[tuple[str, int, int], frozenset[Rank] | None] = {}
        for call in calls:
            self._note(call)

    def _note(self, call: CurrentCall) -> None:
        here = rank_of(call)
        name = base(call.function) if call.inside else ""
        if name:
            self._inside.setdefault((name, call.communicator), set()).add(here)
        for each in call.pending:
            if _is_unclear(each.function):
                self._unclear.add(here)
            elif each.receives:
                self._note_receive(here, each.communicator, each.peer, each.peer_world, each.tag)
            else:
                self._note_send(here, each)
        if _sends(name) or _exchanges(name):
            self._note_send(here, call)
        if _receives(name):
            self._note_receive(here, call.communicator, call.peer, call.peer_world, call.tag)
        if _exchanges(name):
            source, source_world = call.source, call.source_world
            self._note_receive(here, call.communicator, source, source_world, call.source_tag)

    def _note_send(self, here: Rank, sent: CurrentCall | PendingRequest) -> None:
        if sent.peer_world is not None and sent.tag is not None:
            to = (here[0], sent.peer_world)
            self._sent.setdefault((sent.communicator, to), []).append((here, sent.tag))

    def _note_receive(
        self, here: Rank, communicator: int, peer: int | None, peer_world: int | None, tag: int | None
    ) -> None:
        sources = self._sources(here[0], communicator, peer, peer_world)
        if sources and tag is not None:
            self._wanted.setdefault((communicator, here), []).append((sources, tag))

    def needs(self, call: CurrentCall) -> list[Need] | None:
        """What must come true for the call to return; None if nothing must, or it is not known."""
        if not call.inside or call.rank < 0:
            return None
        name = base(call.function)
        if meaning(name).waits == "requests":
            waited = [each for each in call.pending if each.waited_for]
            # Some of them may be complete, so that one that is not known may be the one that is not.
            if len(waited) != call.requests:
                return None
            return _some_of([self._of_request(call, each) for each in waited])
        if _exchanges(name):
            return _some_of([self._to_be_received(call, call), self._to_be_sent(call)])
        if _receives(name):
            return _some_of([self._to_be_sent(call)])
        if _sends(name):
            return _some_of([self._to_be_received(call, call)])
        if meaning(name).waits == "locks":
            return self._of_lock(call)
        return self._of_collective(call, name)

    def polled_needs(self, call: CurrentCall) -> list[Need] | None:
        """What must come true for a thread to go on that polls until it has what it asks for.

        Which requests it asks for is not known, so that any of its process may be it.
        """
        if call.rank < 0:
            return None
        if _probes_again(call.function):
            return _some_of([self._to_be_sent(call)])
        return _some_of([self._of_request(call, each) for each in call.pending])

    def _of_lock(self, call: CurrentCall) -> list[Need] | None:
        """Those who hold locks of windows of the communicator, or the target, which has to grant it.

        Nothing if nobody holds one: then the target grants it, whatever else it waits for.
        """
        communicator, here = call.communicator, rank_of(call)
        members = self._members.of(communicator)
        if members is None:
            return None
        others = members - {here}
        held = {each: self._locks_held(each, communicator) for each in others}
        holders = {each for each, count in held.items() if count}
        if None in held.values() or not holders:
            return None
        if not meaning(call.function).peer:
            return [others]
        target = call.peer_world
        return None if target is None else [frozenset(holders | ({(here[0], target)} - {here}))]

    def _locks_held(self, rank: Rank, communicator: int) -> int | None:
        """How many more it has taken than given back."""
        held = 0
        for function, sign in _OF_LOCKS.items():
            count = self._completed(rank, function, communicator)
            if count is None:
                return None
            held += sign * count
        return max(held, 0)

    def _of_request(self, call: CurrentCall, request: PendingRequest) -> Need | None:
        if _is_unclear(request.function):
            return None
        if request.receives:
            return self._source_of(call, request.communicator, request.peer, request.peer_world, request.tag)
        name = base(request.function)
        if _sends(name):
            return self._to_be_received(call, request)
        means = meaning(name)
        is_started = (means.kind, means.form, means.waits) == ("collective", "nonblocking", "all")
        return self._of_started(call, request) if is_started else None

    def _of_started(self, call: CurrentCall, request: PendingRequest) -> Need | None:
        """The ranks that have not begun a collective that does not block."""
        function, communicator = request.function, request.communicator
        members = self._members.of(communicator)
        begun = self._completed(rank_of(call), function, communicator)
        if members is None or begun is None:
            return None
        alike = [
            each for each in call.pending if (each.function, each.communicator) == (function, communicator)
        ]
        number = begun - len(alike)  # of the oldest that is under way
        late = {member: self._completed(member, function, communicator) for member in members}
        if None in late.values():
            return None
        return frozenset(member for member, count in late.items() if (count or 0) <= number) or None

    def _to_be_sent(self, call: CurrentCall) -> Need | None:
        """The source of a receive, unless that is sending already."""
        if _exchanges(call.function):
            return self._source_of(call, call.communicator, call.source, call.source_world, call.source_tag)
        return self._source_of(call, call.communicator, call.peer, call.peer_world, call.tag)

    def _source_of(
        self, call: CurrentCall, communicator: int, peer: int | None, peer_world: int | None, tag: int | None
    ) -> Need | None:
        sources = self._sources(call.world, communicator, peer, peer_world)
        if not sources:
            return sources
        if tag is None or not self._unclear.isdisjoint(sources):
            return None
        for sender, sent_tag in self._sent.get((communicator, rank_of(call)), ()):
            if sender in sources and tag in (ANY, sent_tag):
                return None
        return sources

    def _to_be_received(self, call: CurrentCall, sent: CurrentCall | PendingRequest) -> Need | None:
        """The destination of a send, unless that has a receive for it."""
        if sent.peer == NO_PROCESS:
            return NOBODY
        if sent.peer_world is None or sent.tag is None:
            return None
        to = (call.world, sent.peer_world)
        if to in self._unclear:
            return None
        for sources, tag in self._wanted.get((sent.communicator, to), ()):
            if rank_of(call) in sources and tag in (ANY, sent.tag):
                return None
        return frozenset({to})

    def _sources(
        self, world: int, communicator: int, peer: int | None, peer_world: int | None
    ) -> frozenset[Rank] | None:
        if peer == ANY:
            return self._members.of(communicator)
        if peer == NO_PROCESS:
            return NOBODY
        return None if peer_world is None else frozenset({(world, peer_world)})

    def _of_collective(self, call: CurrentCall, name: str) -> list[Need] | None:
        """Those who have not come yet."""
        here = rank_of(call)
        if meaning(name).ends == "world":
            missing = self._missing(call, self._members.of_world(here[0]))
            return [missing] if missing else None
        if not is_collective(name):
            return None
        missing = self._missing(call, self._members.of(call.communicator))
        if not missing:
            return None
        waits = meaning(name).waits
        root = call.peer_world
        is_root = root == here[1]
        if waits == "lower":
            missing = frozenset(rank for rank in missing if rank < here)
        elif waits == "root" and root is not None and (here[0], root) in missing:
            return [frozenset({(here[0], root)})]
        elif waits in ("contributors", "some", "root") or (waits == "at_root" and not is_root):
            return [missing]
        elif waits not in ("all", "at_root"):
            return None
        return [frozenset({rank}) for rank in sorted(missing)] or None

    def _missing(self, call: CurrentCall, members: frozenset[Rank] | None) -> frozenset[Rank] | None:
        """Members neither in this call of the collective nor behind it; None if that is not known of all."""
        function, communicator = call.function, call.communicator
        number = self._completed(rank_of(call), function, communicator)
        if members is None or number is None:
            return None
        at = (base(function), communicator, number)
        if at not in self._missing_memo:
            absent = members - self._inside[base(function), communicator]
            counts = {member: self._completed(member, function, communicator) for member in absent}
            known = None not in counts.values()
            late = frozenset(
                member for member, count in counts.items() if count is not None and count <= number
            )
            self._missing_memo[at] = late if known else None
        return self._missing_memo[at]


def _sends(name: str) -> bool:
    """Buffered sends wait for nobody."""
    return meaning(name).kind == "send" and meaning(name).waits in ("buffer", "receiver")


def _receives(name: str) -> bool:
    return meaning(name).kind in ("receive", "probe") and meaning(name).waits == "sender"


def _probes_again(name: str) -> bool:
    return meaning(name).kind == "probe" and is_poll(name)


def _exchanges(name: str) -> bool:
    return meaning(name).kind == "exchange" and meaning(name).form == "blocking"


def _is_unclear(request: str) -> bool:
    """Whether a function that starts a request both sends and receives, or does so in parts."""
    means = meaning(request)
    return means.kind == "exchange" or (means.kind in ("send", "receive") and means.waits == "unknown")


def _some_of(parts: Sequence[Need | None]) -> list[Need] | None:
    """It waits for at least one of the parts: which, is not known, so all who may be needed are one need."""
    if None in parts:
        return None
    together = frozenset().union(*(part for part in parts if part is not None))
    return [together] if together else None
