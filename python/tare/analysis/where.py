"""The current or last call of each thread, the ranks that it waits for, and deadlocks (docs/where.md).

Times are nanoseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from tare.analysis import deadlock, endings, mismatch
from tare.analysis.blocked import Members, Need, Rank, Waits, counts_are_certain, is_poll, rank_of
from tare.analysis.deadlock import Deadlock
from tare.analysis.groups import grouped
from tare.analysis.mismatch import Mismatch
from tare.analysis.rows import PLACE, Placed, fields, place_of
from tare.functions import is_collective, meaning
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tare._native import Communicator, CurrentCall, PendingRequest, Process
    from tare.runs.run import Run

# A call counts as blocked once it has lasted that long: messages under way arrive sooner.
BLOCKED_AFTER_NS = NS_PER_S
# And if it is still the same after so long.
BETWEEN_LOOKS_S = 0.2
# A rank that ended so long before another one has ended for it: what it sent has arrived.
ENDED_BEFORE_NS = NS_PER_S
# A thread polls if it is still at the same poll, for the same requests, after so long.
POLLING_AFTER_S = 1.0
# So many communicators with the same members have rows of their own (src/mpi/objects/communicators.h).
OF_THEIR_OWN = 16

Identity = tuple[object, ...]


State = Literal["finished", "exited", "aborted", "killed", "running", "unknown"]


@dataclass(frozen=True, kw_only=True)
class Pending(Placed):
    """A request of the process that has not completed; its place is the call that started it."""

    function: str  # the function that started it
    receives: bool  # True: it receives
    waited_for: bool  # the current call of the thread waits for it
    since_ns: int  # Unix time at which it was started
    communicator: str | None  # its name, or # and its index
    peer: int | None  # rank in the communicator, -1: any, -2: MPI_PROC_NULL
    peer_world: int | None  # the same rank in the world
    tag: int | None
    bytes: int | None  # None: a receive


@dataclass(frozen=True, kw_only=True)
class Row(Placed):
    """A thread and its current or last call, which was made at its place; a process or rank without calls.

    Which call a thread is in whose calls are only counted is not known: it has none, and `since_ns` is since
    when. None means unknown, or not applicable. Peers are ranks of the communicator, -1: any, -2:
    MPI_PROC_NULL; the fields that end in `_world` are the same as ranks of the world.
    """

    world: int
    rank: int  # -1: a process that has not left MPI_Init
    thread: int = 0
    state: State = "unknown"
    exit_code: int | None = None
    signal: int | None = None  # the signal that killed the process
    finalized: bool | None = None  # it has left MPI_Finalize
    stopped: bool | None = None  # by a signal or a debugger
    saved: bool = False  # its calls are those that a keeper saved while it ran
    host: str | None = None
    pid: int | None = None
    inside: bool = False  # True: in the call; False: the call has returned
    polling: bool = False  # the thread polls without success
    counted: bool = False  # calls of the thread are only counted
    mpi_calls: bool = True  # the thread has made calls of MPI, as far as is known
    function: str | None = None
    used_file: str | None = None  # the file that the call works on
    since_ns: int | None = None  # Unix time when the call began or, if not inside, returned
    for_ns: int | None = None  # time since then
    communicator: str | None = None
    communicator_size: int | None = None
    root: int | None = None
    peer: int | None = None
    peer_world: int | None = None
    tag: int | None = None
    source: int | None = None  # where MPI_Sendrecv receives from, and the next two
    source_world: int | None = None
    source_tag: int | None = None
    requests: int = 0  # number of requests that the call waits for
    waits_for: Sequence[int] = ()  # ranks of the world that the call needs in order to return
    waits_for_any: bool = False  # one of them may be enough
    pending: Sequence[Pending] = ()  # requests of the process that have not completed


# What a row has of the process, and of the current or last call; what a request has of itself.
_OF_PROCESS = (
    "world", "rank", "state", "exit_code", "signal", "finalized", "stopped", "saved", "host", "pid",
)  # fmt: skip
_OF_CALL = ("function", "inside", "tag", "source", "source_world", "source_tag", "requests")
_OF_REQUEST = ("function", "receives", "waited_for", "peer", "peer_world", "tag", "bytes")


@dataclass(frozen=True)
class Look:
    """The threads of a run at one moment, or at its end.

    `deadlock`: while the run goes on, a second look must confirm it. `stalled`: would be a deadlock if the
    threads that poll never stopped. Without a deadlock, the ranks of `waiting` wait, directly or indirectly,
    for those of `waited_for`, which wait for nobody. `mismatches`: calls that contradict each other.
    `calling_back`: ranks that have communicated in callbacks. They may be in one, and wait there for others
    than their call tells, so nothing is claimed of them.
    """

    rows: list[Row]  # one for each thread, and for each process or rank without calls
    calls: list[CurrentCall]  # of threads that call MPI
    is_over: bool  # the run has ended
    deadlock: Deadlock | None
    stalled: Deadlock | None
    waiting: frozenset[Rank]
    waited_for: frozenset[Rank]
    mismatches: list[Mismatch]
    calling_back: frozenset[Rank] = frozenset()


def look(run: Run, standing: Collection[Identity] | None = None) -> Look:
    """Calls that are not among those of `standing`, if given, are taken to go on."""
    everything, processes = run.current_calls, run.processes
    going_on = ("running", "unknown") if run.is_running else ("running",)
    is_over = not any(process.state in going_on for process in processes)
    members, completed = _members(run), _Completed(run)
    # Other threads, as those of OpenMP or of the MPI library itself, wait for no rank and let none go on.
    calls = [call for call in everything if call.made_mpi_calls]
    waits = Waits(calls, members, completed)
    calling_back = frozenset(rank_of(each) for each in processes if each.callback_calls)

    def unless_calling_back(
        call: CurrentCall, needs: Callable[[CurrentCall], list[Need] | None]
    ) -> list[Need] | None:
        return None if rank_of(call) in calling_back else needs(call)

    needs = [unless_calling_back(call, waits.needs) for call in calls]
    describe = _Description(run, is_over)
    rows = [describe.call(call, need) for call, need in zip(calls, needs, strict=True)]
    living, ended = _living(processes, is_over), _ended(processes, is_over)
    stands = [
        _is_old(row) and (standing is None or identity(call) in standing)
        for call, row in zip(calls, rows, strict=True)
    ]
    old = [need if stand else None for stand, need in zip(stands, needs, strict=True)]
    found = deadlock.find(calls, old, living, ended)
    if found is None and is_over:
        last, before = _ended_last(processes, living)
        found = deadlock.find(calls, old, last, ended | before) if before else None
    stalled = None
    if standing is not None and not is_over:
        polled = [_is_polling(call, standing) for call in calls]
        rows = [replace(row, polling=polls) for row, polls in zip(rows, polled, strict=True)]
        if found is None and any(polled):
            with_polls = [
                unless_calling_back(call, waits.polled_needs) if polls else need
                for call, polls, need in zip(calls, polled, old, strict=True)
            ]
            stalled = deadlock.find(calls, with_polls, living, ended)
    explained = found or stalled
    mismatches = mismatch.differing_roots(
        (call for call, stand in zip(calls, stands, strict=True) if stand and rank_of(call) in living),
        completed,
    )
    if explained is not None:
        mismatches += mismatch.of_deadlock(explained, calls, members, run)
    waiting, waited_for = deadlock.roots(calls, needs, living)
    rows += [describe.call(call, None) for call in everything if not call.made_mpi_calls]
    rows += describe.others({call.process for call in everything})
    rows.sort(key=lambda row: (row.world, row.rank, row.pid or 0, row.thread))
    return Look(rows, calls, is_over, found, stalled, waiting, waited_for, mismatches, calling_back)


def needs_second_look(first: Look) -> bool:
    """Whether anything is said of what was seen only if it is still so a while later."""
    return bool(first.waiting or first.mismatches) or any(map(_may_poll, first.calls))


def blocked_in_s(first: Look) -> float:
    """Seconds from a look until it can be said of all calls of a deadlock that they are blocked."""
    waiting = [row.for_ns or 0 for row in first.rows if row.inside and row.waits_for]
    youngest = min(waiting, default=BLOCKED_AFTER_NS)
    least = POLLING_AFTER_S if any(map(_may_poll, first.calls)) else BETWEEN_LOOKS_S
    return max(least, (BLOCKED_AFTER_NS - youngest) / NS_PER_S)


def identity(call: CurrentCall) -> Identity:
    """The same for one call of one thread, as long as it is in it."""
    return call.process, call.thread, call.function, call.enter_ticks


def identities(calls: Iterable[CurrentCall]) -> set[Identity]:
    """What a second look knows them by: threads that poll, by what they poll for."""
    return {each for call in calls for each in (identity(call), _polling(call))}


def _polling(call: CurrentCall) -> Identity:
    """The same as long as a thread polls at one place for the same requests."""
    requests = tuple(sorted((each.start_ns, each.function) for each in call.pending))
    return call.process, call.thread, call.function, call.site, call.peer, call.tag, requests


def _may_poll(call: CurrentCall) -> bool:
    """Whether the call may be a poll; one that asks for requests is only if there are some."""
    return is_poll(call.function) and (bool(call.pending) or call.peer is not None)


def _is_polling(call: CurrentCall, standing: Collection[Identity]) -> bool:
    """Not the same call of it: that hangs."""
    return _may_poll(call) and _polling(call) in standing and identity(call) not in standing


def folded(rows: Iterable[Row]) -> list[list[Row]]:
    """Rows of one kind together, in the order of their first ranks."""

    def kind(row: Row) -> tuple[object, ...]:
        # A thread that polls is inside by chance.
        return row.inside and not row.polling, *(getattr(row, name) for name in _FOLDED_BY)

    return list(grouped(rows, kind).values())


_FOLDED_BY = (
    "world", "thread", "state", "exit_code", "signal", "finalized", "stopped", "saved", "function",
    "communicator", "root", "tag", "source_tag", "used_file", *PLACE, "polling", "counted",
)  # fmt: skip


def _is_old(row: Row) -> bool:
    return row.for_ns is None or row.for_ns >= BLOCKED_AFTER_NS


def _living(processes: Iterable[Process], is_over: bool) -> frozenset[Rank]:
    """Ranks that are in the calls that they were seen in; if all is over, that were until killed, each as if
    the others still lived."""
    state = "killed" if is_over else "running"
    return frozenset(
        rank_of(each) for each in processes if each.state == state and not (each.stopped or each.finalized)
    )


def _ended(processes: Iterable[Process], is_over: bool) -> frozenset[Rank]:
    """Ranks for which others may have waited for ever. An abort ends the ranks that wait for it."""
    states = ("finished", "exited") if is_over else ("finished", "exited", "aborted", "killed")
    return frozenset(
        rank_of(each) for each in processes if each.rank >= 0 and (each.state in states or each.finalized)
    )


def _ended_last(
    processes: Iterable[Process], killed: Collection[Rank]
) -> tuple[frozenset[Rank], frozenset[Rank]]:
    """The killed ranks that ended last in a run that is over, and those that clearly ended before these.

    A rank whose end is not known well enough is neither.
    """
    ends = {
        rank_of(each): (endings.end_ns(each), each.until)
        for each in processes
        if rank_of(each) in killed and each.until != "command"
    }
    observed = sorted(end_ns for end_ns, until in ends.values() if until in endings.OBSERVED)
    gaps = [(before, after) for before, after in pairwise(observed) if after - before >= ENDED_BEFORE_NS]
    if not gaps:
        return frozenset(), frozenset()
    before_ns, last_ns = gaps[-1]
    return (
        frozenset(rank for rank, (end_ns, _) in ends.items() if end_ns >= last_ns),
        frozenset(
            rank
            for rank, (end_ns, until) in ends.items()
            if end_ns <= before_ns and until in endings.OBSERVED
        ),
    )


def _members(run: Run) -> Members:
    return Members(run.communicators, _world_sizes(run.processes))


def _world_sizes(processes: Iterable[Process]) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for process in processes:
        sizes[process.world] = max(process.size, process.rank + 1, sizes.get(process.world, 0))
    return sizes


def _that_share_rows(communicators: Sequence[Communicator]) -> set[int]:
    """The numbers of communicators whose calls may be in the rows of others of the same members."""
    alike = grouped(
        (number for number, each in enumerate(communicators) if not each.name.startswith("MPI_COMM_")),
        lambda number: _members_of(communicators[number]),
    )
    return {number for numbers in alike.values() if len(numbers) > OF_THEIR_OWN for number in numbers}


def _members_of(of: Communicator) -> Hashable:
    return of.world, of.size, tuple(of.members or ()), tuple(of.remote_members or ())


class _Completed:
    """Counts of completed calls, of each function when it is first asked for."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._known = {rank_of(process) for process in run.processes if counts_are_certain(process)}
        self._by_function: dict[str, dict[tuple[Rank, int], int]] = {}
        self._uncertain: dict[str, set[Rank]] = {}
        self._sharing = _that_share_rows(run.communicators)

    def __call__(self, rank: Rank, function: str, communicator: int) -> int | None:
        if function not in self._by_function:
            self._read(function)
        if rank not in self._known or rank in self._uncertain[function] or communicator in self._sharing:
            return None
        return self._by_function[function].get((rank, communicator), 0)

    def _read(self, function: str) -> None:
        counts = self._by_function[function] = {}
        uncertain = self._uncertain[function] = set()
        for row in self._run.calls_of(function):
            rank = (row.world, row.rank)
            # A full table holds calls without their function, or without their communicator.
            known, number = row.function == function, row.communicator_number
            if row.calls and not (known and (number is not None or meaning(function).ends == "world")):
                uncertain.add(rank)
            if not known:
                continue
            at = (rank, -1 if number is None else number)
            counts[at] = counts.get(at, 0) + row.calls


class _Description:
    """Rows of JSON: what the numbers mean."""

    def __init__(self, run: Run, is_over: bool) -> None:
        self._sites = run.sites
        self._communicators = run.communicators
        self._names = [each.name for each in run.communicators]
        self._processes = run.processes
        self._is_over = is_over
        self._end_ns = run.end_ns

    def call(self, call: CurrentCall, needs: Sequence[Need] | None) -> Row:
        process = self._processes[call.process]
        if call.counted_since_ns is not None:
            since = self._since(process, call.counted_since_ns)
            row = _row(process, call.thread)
            return replace(row, **since, counted=True, mpi_calls=call.made_mpi_calls)
        waits_for = {rank for need in needs or () for rank in need}
        rooted = is_collective(call.function)
        at = place_of(call.site, self._sites)
        return replace(
            _row(process, call.thread),
            **fields(call, _OF_CALL),
            **fields(at, PLACE),
            used_file=call.used_file or None,
            mpi_calls=call.made_mpi_calls,
            **self._since(process, call.enter_ns if call.inside else call.leave_ns),
            communicator=self._name(call.communicator),
            communicator_size=self._size(call.communicator),
            root=call.peer if rooted else None,
            peer=None if rooted else call.peer,
            peer_world=None if rooted else call.peer_world,
            waits_for=sorted(rank for _, rank in waits_for),
            waits_for_any=any(len(need) > 1 for need in needs or ()),
            pending=[self._request(each) for each in call.pending],
        )

    def others(self, described: Collection[int]) -> list[Row]:
        """Rows for processes without known calls, and for ranks without known processes."""
        rows = [_row(process, 0) for number, process in enumerate(self._processes) if number not in described]
        seen = {rank_of(process) for process in self._processes}
        for world, size in _world_sizes(self._processes).items():
            rows += [Row(world=world, rank=rank) for rank in range(size) if (world, rank) not in seen]
        return rows

    def _since(self, process: Process, since_ns: int | None) -> dict[str, Any]:
        until_ns = self._until_ns(process)
        for_ns = None if until_ns is None or since_ns is None else max(until_ns - since_ns, 0)
        return {"since_ns": since_ns, "for_ns": for_ns}

    def _until_ns(self, process: Process) -> int | None:
        """Now, if it runs; if it was killed with the whole run, the end of that; else it is not known."""
        if process.state == "running":
            return process.start_ns + process.wall_ns
        return self._end_ns if self._is_over and process.state != "unknown" else None

    def _request(self, request: PendingRequest) -> Pending:
        return Pending(
            **fields(request, _OF_REQUEST),
            **fields(place_of(request.site, self._sites), PLACE),
            since_ns=request.start_ns,
            communicator=self._name(request.communicator),
        )

    def _name(self, communicator: int) -> str | None:
        return self._names[communicator] if 0 <= communicator < len(self._names) else None

    def _size(self, communicator: int) -> int | None:
        return self._communicators[communicator].size if 0 <= communicator < len(self._names) else None


def _row(process: Process, thread: int) -> Row:
    """The row of a thread without a call."""
    return Row(thread=thread, **fields(process, _OF_PROCESS))
