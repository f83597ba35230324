"""The rounds of a monitored run, as docs/format.md has them: also while the run goes on."""

from __future__ import annotations

import math
import re
import struct
from array import array
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tare.errors import TareError, native_errors

PATTERN = "monitor-*.tare"
# What rounds are reduced to where nobody chose: as much as `tare top` shows.
DEFAULT_FILTER = "statistics+histogram:16:time"
STATISTICS = "statistics"
# What tared calls the time outside all phases of the program.
OUTSIDE_PHASES = "(none)"
METRICS = 3  # of an event
Kind = Literal["function", "region", "phase", "counter"]

# Numbers that no program can have counted, or that are none, are damage; so are more stretches of ranks than
# a round can need. `int` is the type of ranks in MPI.
MOST = 2.0**64
LEAST = 2.0**-32  # of a mean over ranks that is not 0, as what is counted is whole
MAX_VALUE = 1e140  # of a counter, whose squares are added up
MAX_RANKS = 1 << 31
MAX_RUNS = 1 << 20
MAX_EVENTS = 1 << 16
MAX_FILTERS, MAX_FILTER_TEXT = 64, 8 << 10

FILTERS = ("statistics", "histogram", "quantiles", "groups", "none")
# The first of a text.
_FILTER = re.compile(
    rf"(?:{'|'.join(FILTERS)})(?::[^+]*)?(?=\+|\Z)|.*?\.so(?::[^+]*)?(?=\+|\Z)|[^+]*", re.DOTALL
)
_RECORD = struct.Struct("<II")
_ROUND = struct.Struct("<QqqqqQQII")
_ARRIVED = 3  # of its fields
_PACE = struct.Struct("<Qqdd")
_NAME, _ROUND_KIND, _LOST_ROUND, _PACE_KIND = 1, 2, 3, 4


@dataclass(frozen=True)
class Ranks:
    """A set of ranks. A file may name two billions: what shows rounds goes through runs, not ranks."""

    runs: tuple[tuple[int, int], ...]  # (first rank, number of ranks) of each run of successive ranks

    def __len__(self) -> int:
        return sum(count for _, count in self.runs)

    def __iter__(self) -> Iterator[int]:
        for first, count in self.runs:
            yield from range(first, first + count)

    def __str__(self) -> str:
        return ",".join(
            str(first) if count == 1 else f"{first}-{first + count - 1}" for first, count in self.runs
        )


@dataclass(frozen=True)
class Statistic:
    """One metric of an event over the ranks that have the event."""

    mean: float
    deviation: float  # standard deviation of the population
    least: float
    most: float
    least_rank: int  # the lowest rank with the least value
    most_rank: int  # the lowest rank with the largest value


@dataclass(frozen=True)
class Event:
    """An event of a round."""

    name: str
    kind: Kind
    ranks: int  # number of ranks that have the event
    calls: Statistic  # for counters: how often it was set
    time: Statistic  # in ns
    bytes: Statistic  # for counters: the value


@dataclass(frozen=True)
class Round:
    """A round. Times are Unix times in ns. Sums are since the start of the program."""

    round: int  # its number
    first_ns: int  # first offload
    last_ns: int  # last offload
    arrived_ns: int  # arrival of its last part at the root
    clock_error_ns: int  # by how much times of offloads may be wrong compared with the arrival
    reduce_ns: int  # duration of its reductions
    ranks: Ranks  # ranks whose snapshots are in it
    lost: Ranks  # other ranks that took part at that time
    filter: str  # what reduced it
    reduced: bytes = field(repr=False)  # the result of the filter
    events: list[Event] = field(repr=False)  # of the filter statistics; empty for others (parts)
    names: Mapping[int, tuple[str, Kind]] = field(
        repr=False, default_factory=dict
    )  # of events, by their keys

    def parts(self) -> list[tuple[str, bytes]]:
        """Each filter, with its arguments, and what it has made of the round; nothing if that is damaged."""
        try:
            return parts_of(self.filter, self.reduced)
        except Malformed:
            return []

    def named(self, key: int) -> tuple[str, Kind]:
        """Name and kind of the event with this key."""
        return _named(self.names, key)

    @property
    def delay_ns(self) -> int:
        """From the first offload until all of the round had arrived."""
        return self.arrived_ns - self.first_ns


class Malformed(ValueError):
    """A payload ends too early."""


class Input:
    """Reads values from a payload in order, little-endian. Malformed if it is too short."""

    def __init__(self, content: memoryview) -> None:
        self._content = content
        self._at = 0

    def take(self, count: int) -> memoryview:
        """The next `count` bytes."""
        if count > len(self._content) - self._at:
            raise Malformed
        self._at += count
        return self._content[self._at - count : self._at]

    def rest(self) -> memoryview:
        """All bytes that are left."""
        return self.take(len(self._content) - self._at)

    def number(self) -> int:
        """An unsigned number of 4 bytes."""
        return int.from_bytes(self.take(4), "little")

    def text(self) -> str:
        """A text: its length in bytes, then UTF-8. Wrong bytes are replaced."""
        return bytes(self.take(self.number())).decode("utf-8", "replace")

    def numbers(self, code: str, count: int) -> array[float] | array[int]:
        """`count` numbers of the type that `code` names for the module array."""
        found = array(code)
        found.frombytes(self.take(count * found.itemsize))
        return found

    def ranks(self) -> Ranks:
        """A set of ranks, stored as ranges, which ascend."""
        count = self.number()
        if count > MAX_RUNS:
            raise Malformed
        flat = self.numbers("I", 2 * count)
        runs = tuple(zip(map(int, flat[::2]), map(int, flat[1::2]), strict=True))
        end = 0
        for first, size in runs:
            if first < end or size == 0:
                raise Malformed
            end = first + size
        if end > MAX_RANKS:
            raise Malformed
        return Ranks(runs)


@dataclass(frozen=True)
class Pace:
    """A decision of `--monitor=auto`: the interval that all ranks keep from a round on."""

    from_round: int  # number of this round
    interval_ns: int  # between offloads
    boi_ns: float  # 0: not known yet
    rest_ns: float  # one-way delay at rest; 0: not known yet


class RoundFile:
    """One file of rounds. What is added to it later comes with a later `read`."""

    def __init__(self, path: Path, begin: int = 0, end: int | None = None) -> None:
        """`begin` and `end`: the bytes that are the file, where it lies in an archive."""
        self.path = path
        self._at = begin
        self._end = end
        self.paces: list[Pace] = []  # up to what was read
        self._names: dict[int, tuple[str, Kind]] = {}

    def read(self) -> Iterator[Round]:
        """The rounds since the last call; those of a record that is damaged are left out."""
        for payload in self._payloads():
            yield from self.decoded(payload)

    def outlines(self) -> Iterator[tuple[int, int]]:
        """The same without their content: when each had arrived, and how many ranks are in it."""
        for payload in self._payloads():
            for kind, content in _records(payload):
                with suppress(Malformed, struct.error):
                    if kind == _ROUND_KIND:
                        source = Input(content)
                        arrived_ns = _ROUND.unpack(source.take(_ROUND.size))[_ARRIVED]
                        yield arrived_ns, len(source.ranks())

    def _payloads(self) -> Iterator[memoryview]:
        from tare import _native

        is_all = False
        while not is_all:  # what is added meanwhile is for the next call: it may come faster than it is read
            with native_errors():
                payloads, self._at, is_all = _native.round_chunks(self.path, self._at, self._end)
            yield from (memoryview(payload) for payload in payloads)

    def decoded(self, payload: memoryview) -> Iterator[Round]:
        """The rounds in what a chunk of this file holds; what it names is known from then on."""
        for kind, content in _records(payload):
            try:
                if kind == _NAME:
                    self._name(content)
                elif kind == _ROUND_KIND:
                    yield self._round(content)
                elif kind == _PACE_KIND:
                    self.paces.append(_pace(content))
                elif kind == _LOST_ROUND:
                    yield _lost_round(content)
            except (Malformed, struct.error):
                continue

    def _name(self, content: memoryview) -> None:
        # What is no UTF-8 stays apart: two names are not one.
        text = bytes(content[8:]).decode("utf-8", "surrogateescape")
        self._names[int.from_bytes(content[:8], "little")] = _name_and_kind(text)

    def _round(self, content: memoryview) -> Round:
        source = Input(content)
        number, first, last, arrived, error, reduce_ns, _, _, _ = _ROUND.unpack(source.take(_ROUND.size))
        ranks, lost, used = source.ranks(), source.ranks(), source.text()
        if len(used) > MAX_FILTER_TEXT or used.count("+") >= MAX_FILTERS:
            raise Malformed
        reduced = source.rest()
        of_statistics = [part for name, part in parts_of(used, bytes(reduced)) if name == STATISTICS]
        events = [event for part in of_statistics for event in self._statistics(Input(memoryview(part)))]
        return Round(
            number,
            first,
            last,
            arrived,
            error,
            reduce_ns,
            ranks,
            lost,
            used,
            bytes(reduced),
            events,
            self._names,
        )

    def _statistics(self, source: Input) -> list[Event]:
        count = source.number()
        if count > MAX_EVENTS:
            raise Malformed
        wide = METRICS * count
        keys, ranks = source.numbers("Q", count), source.numbers("I", count)
        mean, squares, least, most = (source.numbers("d", wide) for _ in range(4))
        least_rank, most_rank = source.numbers("I", wide), source.numbers("I", wide)

        def statistic(event: int, metric: int) -> Statistic:
            at = METRICS * event + metric
            return Statistic(
                mean[at],
                math.sqrt(max(squares[at], 0.0) / max(ranks[event], 1)),
                least[at],
                most[at],
                int(least_rank[at]),
                int(most_rank[at]),
            )

        events = (
            Event(
                *_named(self._names, int(keys[event])),
                int(ranks[event]),
                *(statistic(event, metric) for metric in range(METRICS)),
            )
            for event in range(count)
        )
        return [event for event in events if _is_possible(event)]


class Stored:
    """How many rounds a running tree has stored."""

    def __init__(self, run_dir: Path) -> None:
        self._run_dir = run_dir
        self._files: dict[Path, RoundFile] = {}  # of each node that stores rounds
        self.rounds = 0
        self.profiles = 0  # of ranks, in these rounds
        self.last_ns = 0  # when the last one had arrived, Unix time

    def look(self) -> bool:
        """Whether more have come since the last call."""
        before = self.rounds
        for path in self._run_dir.glob(PATTERN):
            with suppress(TareError, OSError):
                for arrived_ns, ranks in self._files.setdefault(path, RoundFile(path)).outlines():
                    self.rounds += 1
                    self.profiles += ranks
                    self.last_ns = max(self.last_ns, arrived_ns)
        return self.rounds > before


def chosen_filter(spec: str | None) -> str:
    """The filter that a SPEC of --monitor names, as it was written; empty if it leaves that to tare."""
    words = [word.strip() for word in (spec or "").split(",")]
    return next((word.removeprefix("filter=") for word in words if word.startswith("filter=")), "")


def split_filters(used: str) -> list[str]:
    """One or several with a plus between them. A path may contain a plus (src/format/filter_names.h)."""
    found = []
    while (first := _FILTER.match(used)) is not None:
        found.append(first[0])
        used = used[first.end() + 1 :]
        if first.end() == len(first.string):
            break
    return found


def names_of_filters(used: str) -> list[str]:
    """Of one or several; without their arguments."""
    return [name.partition(":")[0] for name in split_filters(used)]


def parts_of(used: str, reduced: bytes) -> list[tuple[str, bytes]]:
    """Each of the filters in the text, and its result."""
    names = split_filters(used)
    if len(names) == 1:
        return [(used, reduced)]
    source = Input(memoryview(reduced))
    return [(name, bytes(source.take(source.number()))) for name in names]


def is_outside_phases(kind: Kind, name: str) -> bool:
    """That is no phase; of a program without phases it would be all the time."""
    return kind == "phase" and name == OUTSIDE_PHASES


def _named(names: Mapping[int, tuple[str, Kind]], key: int) -> tuple[str, Kind]:
    return names.get(key, (f"event {key:016x}", "function"))


def _is_possible(event: Event) -> bool:
    """Of a counter that is no number, or an infinite one, nothing is known over ranks."""
    is_counter = event.kind == "counter"
    sums = (event.calls, event.time) if is_counter else (event.calls, event.time, event.bytes)
    return (
        event.ranks > 0
        and all(_is_below(MOST, each) and (each.mean == 0 or each.mean >= LEAST) for each in sums)
        and (not is_counter or _is_below(MAX_VALUE, event.bytes))
    )


def _is_below(limit: float, of: Statistic) -> bool:
    # Not true of NaN.
    return all(abs(each) <= limit for each in (of.mean, of.deviation, of.least, of.most))


def _pace(content: memoryview) -> Pace:
    found = Pace(*_PACE.unpack_from(content))
    if not (found.interval_ns > 0 and 0 <= found.boi_ns <= MOST and 0 <= found.rest_ns <= MOST):
        raise Malformed
    return found


def _records(payload: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Kind and content of each record."""
    at = 0
    while len(payload) - at >= _RECORD.size:
        kind, size = _RECORD.unpack_from(payload, at)
        yield kind, payload[at + _RECORD.size : at + _RECORD.size + size]
        at += _RECORD.size + size


def _lost_round(content: memoryview) -> Round:
    source = Input(content)
    number = int.from_bytes(source.take(8), "little")
    return Round(number, 0, 0, 0, 0, 0, Ranks(()), source.ranks(), "", b"", [])


def _name_and_kind(text: str) -> tuple[str, Kind]:
    kind, space, name = text.partition(" ")
    match kind, space:
        case ("region" | "phase" | "counter") as known, " ":
            return name, known
        case _:
            return text, "function"


def of_directory(run_dir: Path) -> list[RoundFile]:
    """The files of rounds in a run directory, by name: one for each node that has stored rounds."""
    return [RoundFile(path) for path in sorted(run_dir.glob(PATTERN))]


def of_archive(path: Path, member: str) -> list[RoundFile]:
    """The same of a run in an archive; CommandError if the archive cannot be read."""
    from fnmatch import fnmatch

    from tare import _native

    with native_errors():
        files = _native.Archive(path).files()
    return [
        RoundFile(path, file["offset"], file["offset"] + file["present"])
        for file in files
        if file["member"] == member and fnmatch(file["name"], PATTERN)
    ]
