"""The rounds of a run that goes on, as rates: what its ranks do now."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tare import _native
from tare.monitor.heat import Columns
from tare.monitor.silence import Silence
from tare.runs import requests, rounds
from tare.runs.rounds import RoundFile
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare._native import Event, Kind, Ranks, Round

# What "now" is: the last second, or the last two rounds if they are further apart.
NOW_NS = NS_PER_S
KEPT_NS = 60 * NS_PER_S
MAX_KEPT = 4096
MAX_SUMS = 1 << 20  # of all events in them
BINS = 30  # of the history of an event, each of a second
OF_LATE_NS = 10 * NS_PER_S
# A rank that has been missing for so long is not there; before, it has lost a round.
MISSING_NS = 2 * NS_PER_S
# Of runs whose ranks offload when they are asked.
REQUEST_EVERY_S = 1.0
# If no round has come for so long, and for so many intervals, the last rates are not those of now.
SILENT_AFTER_NS = 5 * NS_PER_S
SILENT_INTERVALS = 3


@dataclass(frozen=True)
class Sums:
    """Sums of an event since the start of the program, as means over ranks."""

    calls: float
    time_ns: float
    bytes: float
    most_ns: float = 0.0  # time of the rank with the most


@dataclass(frozen=True)
class Activity:
    """An event. Rates are means over ranks in the last second; other numbers cover all the time so far."""

    event: str  # its name
    kind: Kind
    share: float  # time in it, as a share of the time that passed; 1: all the time
    calls_per_s: float
    bytes_per_s: float
    value: float | None  # of a counter: the mean over ranks
    imbalance: float  # (largest time of a rank - mean time) / mean time
    least_rank: int  # the rank with the least time
    most_rank: int  # the rank with the most time
    history: list[float]  # `share` of each of the last seconds, the newest last
    imbalance_of_late: float = 0.0  # the least that `imbalance` can be in the last ten seconds alone


@dataclass(frozen=True, eq=False)
class _Kept:
    """What is kept of a round: when it began, and the sums of the ranks that are in it."""

    at_ns: int
    ranks: Ranks
    sums: dict[tuple[Kind, str], Sums]


@dataclass
class _Host:
    """The rounds of one file. Sums are means over the ranks of a round, so what came between two rounds is
    known where both have the same ranks."""

    file: RoundFile
    last: Round | None = None
    interval_ns: int = 0  # from the round before it to the last one
    fullest: Round | None = None  # the newest with most ranks, of late
    kept: deque[_Kept] = field(default_factory=lambda: deque(maxlen=MAX_KEPT))

    def take(self, made: Round) -> None:
        if not made.filter:
            return
        if self.last is not None:
            self.interval_ns = made.first_ns - self.last.first_ns
        self.last = made
        events = made.events
        if not events:
            return
        before = self.fullest
        if (
            before is None
            or len(made.ranks) >= len(before.ranks)
            or made.first_ns - before.first_ns > MISSING_NS
        ):
            self.fullest = made
        sums = {
            (event.kind, event.name): Sums(
                event.calls.mean, event.time.mean, event.bytes.mean, event.time.most
            )
            for event in events
        }
        self.kept.append(_Kept(made.first_ns, made.ranks, sums))
        most = MAX_SUMS // (len(sums) + 1)
        while self.kept[0].at_ns < made.first_ns - KEPT_NS or len(self.kept) > max(most, 1):
            self.kept.popleft()

    def silence_ns(self, now_ns: int, *, pulls: bool) -> int:
        """How long no round has come, if others should have come since; else 0. `pulls`: if asked for."""
        assert self.last is not None
        age_ns = now_ns - self.last.arrived_ns
        interval_ns = 0 if pulls else self.interval_ns
        return age_ns if age_ns > max(SILENT_AFTER_NS, SILENT_INTERVALS * interval_ns) else 0

    def latest(self) -> _Kept:
        """The newest whose ranks are those of an earlier one, both of the last ten seconds; without any, the
        newest."""
        since_ns = self.kept[-1].at_ns - OF_LATE_NS
        oldest: dict[Ranks, _Kept] = {}
        found = self.kept[-1]
        for each in self.kept:
            if each.at_ns >= since_ns and oldest.setdefault(each.ranks, each) is not each:
                found = each
        return found

    def at(self, at_ns: int) -> _Kept:
        """The newest that is no later; the oldest if none is."""
        return next((each for each in reversed(self.kept) if each.at_ns <= at_ns), self.kept[0])

    def before(self, end: _Kept, back_ns: int) -> _Kept:
        """The newest with the same ranks that is at least so much older; the oldest of them if none is."""
        same = [each for each in self.kept if each.at_ns <= end.at_ns and each.ranks == end.ranks]
        return next((each for each in reversed(same) if each.at_ns <= end.at_ns - back_ns), same[0])


class Live:
    """Follows the files of a run. Not safe for several threads at a time."""

    def __init__(self, run_dir: Path, *, pulls: bool = False) -> None:
        """`pulls`: asks the ranks for a round, once a second as long as `update` is called."""
        self._run_dir = run_dir
        self._pulls = pulls
        self._requested = -REQUEST_EVERY_S  # time.monotonic()
        self._began_ns = time.time_ns()
        self._hosts: dict[Path, _Host] = {}
        self.rounds = 0
        self.lost = 0  # snapshots of ranks that are in no round, and the ranks that are in one:
        self.taken = 0
        self._silent: dict[Path, Silence] = {}  # ranks that run and are in no round, of each host
        self.columns = Columns()

    def update(self) -> int:
        """Reads what is new; how many rounds that are."""
        now = time.monotonic()
        if self._pulls and now - self._requested >= REQUEST_EVERY_S:
            self._requested = now
            with suppress(OSError):  # the disk is full: no round could be stored either
                requests.make(self._run_dir)
        for file in rounds.of_directory(self._run_dir):
            self._hosts.setdefault(file.path, _Host(file))
        new = 0
        for host in self._hosts.values():
            for made in host.file.read():
                host.take(made)
                self.columns.take(made)
                self.taken += len(made.ranks)
                self.lost += len(made.lost)
                silent = self._silent.get(host.file.path, Silence())
                began_ns = made.first_ns or (host.last.first_ns if host.last else 0)
                self._silent[host.file.path] = silent.after(made.lost, began_ns)
                new += 1
        self.rounds += new
        return new

    def update_once(self, is_going_on: Callable[[], bool]) -> None:
        """Reads what there is. If rounds must be asked for, waits for two, a second apart, because rates are
        differences; but only while the run goes on, and only for `requests.PATIENCE_S`."""
        self.update()
        until = time.monotonic() + requests.PATIENCE_S
        found = 0
        while self._pulls and found < 2 and time.monotonic() < until and is_going_on():
            time.sleep(requests.LOOK_EVERY_S)
            found += self.update()

    @property
    def files(self) -> int:
        """The number of nodes that have stored rounds."""
        return len(self._hosts)

    @property
    def last(self) -> Round | None:
        """The round that began last."""
        known = [host.last for host in self._hosts.values() if host.last]
        return max(known, key=lambda made: made.first_ns, default=None)

    @property
    def ranks(self) -> int:
        """Number of ranks in the last round of each host, added up."""
        return sum(len(host.last.ranks) for host in self._hosts.values() if host.last)

    @property
    def lost_ranks(self) -> Ranks:
        """Ranks that run, and are not in the last round of their host."""
        return _native.Ranks(
            [run for host in self._hosts.values() if host.last for run in host.last.lost.runs]
        )

    @property
    def has_silent(self) -> bool:
        """Whether ranks that run are not in the last rounds."""
        return any(silent.spans for silent in self._silent.values())

    def silent_since(self, rank: int) -> int | None:
        """The Unix time of the first round without the rank; None if it is in the last one."""
        found = (silent.since(rank) for silent in self._silent.values())
        return min((time_ns for time_ns in found if time_ns is not None), default=None)

    def silence_ns(self, now_ns: int) -> int:
        """How long no round of any host has come up to this Unix time, while the run went on; 0: not so long
        that the rates of the last rounds would not be those of now."""
        if self.last is None:
            waited_ns = now_ns - self._began_ns
            return waited_ns if waited_ns > SILENT_AFTER_NS else 0
        return min(
            (host.silence_ns(now_ns, pulls=self._pulls) for host in self._hosts.values() if host.last),
            default=0,
        )

    def totals(self) -> list[Event]:
        """What each event has had since the start, over the ranks of the last rounds. Without a rank that has
        lost a round, means would be others: the round before is told then."""
        return [
            event
            for event in _native.total_events([host.fullest for host in self._hosts.values() if host.fullest])
            if not rounds.is_outside_phases(event.kind, event.name)
        ]

    def activities(self, now_ns: int | None = None) -> list[Activity]:
        """Most time now first; of several hosts each event once.

        `now_ns`: the Unix time, of a run that goes on. Hosts of which no round has come for too long are left
        out then: what their ranks do now is not known.
        """
        found: dict[tuple[Kind, str], list[tuple[int, Activity]]] = {}
        for host in self._hosts.values():
            if not host.kept or (now_ns is not None and host.silence_ns(now_ns, pulls=self._pulls)):
                continue
            for activity, ranks in _of_host(host):
                found.setdefault((activity.kind, activity.event), []).append((ranks, activity))
        return sorted(map(_together, found.values()), key=lambda each: (-each.share, each.kind, each.event))


def _of_host(host: _Host) -> Iterable[tuple[Activity, int]]:
    assert host.last is not None
    end = host.latest()
    before, of_late = host.before(end, NOW_NS), host.before(end, OF_LATE_NS)
    if before is end:  # ranks are others in each round: means over nearly all of them are near enough
        before, of_late = host.at(end.at_ns - NOW_NS), host.at(end.at_ns - OF_LATE_NS)
    passed_ns = max(end.at_ns - before.at_ns, 1)
    is_new = end.at_ns > before.at_ns
    ends = [host.at(end.at_ns - back * NOW_NS) for back in range(BINS - 1, -1, -1)]
    bins = [(host.before(each, NOW_NS), each) for each in ends]
    nothing = Sums(0, 0, 0)
    for event in host.last.events:
        key = (event.kind, event.name)
        if rounds.is_outside_phases(*key):
            continue
        new, old = end.sums.get(key, nothing), before.sums.get(key, nothing)
        mean_ns = event.time.mean
        history = [
            _share(begin.sums.get(key, nothing), to.sums.get(key, nothing), to.at_ns - begin.at_ns)
            for begin, to in bins
            if to.at_ns > begin.at_ns
        ]
        is_counter = event.kind == "counter"
        per_s = NS_PER_S / passed_ns if is_new else 0.0
        yield (
            Activity(
                event.name,
                event.kind,
                max(0.0, _share(old, new, passed_ns)) if is_new else 0.0,
                max(0.0, (new.calls - old.calls) * per_s),
                0.0 if is_counter else max(0.0, (new.bytes - old.bytes) * per_s),
                event.bytes.mean if is_counter else None,
                event.time.most / mean_ns - 1 if mean_ns > 0 else 0.0,
                event.time.least_rank,
                event.time.most_rank,
                history,
                _imbalance_since(of_late.sums.get(key, nothing), new),
            ),
            event.ranks,
        )


def _share(old: Sums, new: Sums, passed_ns: int) -> float:
    """The share of an event in the time that has passed. A call that ends may have begun long before."""
    share = (new.time_ns - old.time_ns) / passed_ns
    return min(share, 1.0) if new.calls - old.calls <= 1 else share


def _imbalance_since(old: Sums, new: Sums) -> float:
    """How much more than the mean the rank with the most has had since then, at least: whichever rank it was
    then, the one of now had no more than that."""
    mean_ns = new.time_ns - old.time_ns
    return max((new.most_ns - old.most_ns) / mean_ns - 1, 0.0) if mean_ns > 0 else 0.0


def _together(parts: list[tuple[int, Activity]]) -> Activity:
    """One event of several hosts: means weighted by ranks; the largest imbalance, with its ranks."""
    if len(parts) == 1:
        return parts[0][1]
    ranks = sum(count for count, _ in parts)

    def mean(numbers: Iterable[float]) -> float:
        return sum(count * number for (count, _), number in zip(parts, numbers, strict=True)) / ranks

    each = [activity for _, activity in parts]
    worst = max(each, key=lambda activity: activity.imbalance)
    is_counter = worst.value is not None
    return Activity(
        worst.event,
        worst.kind,
        mean(activity.share for activity in each),
        mean(activity.calls_per_s for activity in each),
        mean(activity.bytes_per_s for activity in each),
        mean(activity.value or 0.0 for activity in each) if is_counter else None,
        worst.imbalance,
        worst.least_rank,
        worst.most_rank,
        worst.history,
        max(activity.imbalance_of_late for activity in each),
    )
