"""The time that ranks lose, in parts of which each belongs to one finding at most.

A rank loses the time in MPI, and by how much its net time is shorter than the longest of a rank. Of that,
waits are known with what caused them; the rest is time in calls, and before or behind those of a rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tare.analysis import profile
from tare.analysis.groups import added, grouped
from tare.analysis.rows import Placed
from tare.functions import OUTSIDE_NET, meaning

if TYPE_CHECKING:
    from tare.analysis.explain.basis import Basis

# An MPI function, and the line of the program that calls it.
Line = tuple[str, Placed]


@dataclass(frozen=True)
class Activity:
    """What a rank did: it was in the calls of a line, or outside MPI before them."""

    function: str
    at: Placed
    in_call: bool

    @property
    def line(self) -> Line:
        """The line of these calls."""
        return self.function, self.at


@dataclass
class Loss:
    """Time that ranks lost in the calls of a line for one reason. Sums over ranks, ns."""

    line: Line
    time_ns: float
    kind: str = ""  # of wait; "" is time in calls that is no wait
    cause_rank: int = -1  # that made the others wait in the end; -1 is not known
    activity: Activity | None = None  # meanwhile
    is_descheduled: bool = False  # it could have run then, but had no processor
    blocked_ns: float = 0.0  # the part of `time_ns` because of which it was blocked
    by_rank: dict[int, float] = field(default_factory=dict)  # `time_ns` of each rank that waited
    longest_ns: float = 0.0
    # In equally long parts of the run: `time_ns`, and the number of waits, each by the part for this reason.
    by_time: list[float] = field(default_factory=list)
    waits_by_time: list[float] = field(default_factory=list)

    def scale(self, by: float) -> None:
        """Leaves this part of it."""
        self.time_ns *= by
        self.blocked_ns *= by
        self.by_rank = {rank: time_ns * by for rank, time_ns in self.by_rank.items()}
        self.by_time = [time_ns * by for time_ns in self.by_time]


class Losses:
    """All of them, and those that no finding has taken yet."""

    def __init__(self, of: Iterable[Loss]) -> None:
        self.all = [loss for loss in of if loss.time_ns > 0]
        self.left = list(self.all)

    @property
    def waits(self) -> list[Loss]:
        """Those of which it is known what kind of wait they are."""
        return [loss for loss in self.left if loss.kind]

    @property
    def descheduled(self) -> list[Loss]:
        """Those for which a rank is the cause that could have run, but had no processor."""
        return [loss for loss in self.left if loss.is_descheduled]

    def take(self, losses: Iterable[Loss]) -> float:
        """Takes these, so that they are not left any more; their time."""
        chosen = {id(loss): loss for loss in losses}
        self.left = [loss for loss in self.left if id(loss) not in chosen]
        return total(chosen.values())

    def take_part(self, losses: Iterable[Loss], part: float) -> float:
        """Takes this part of them, from 0 to 1; its time."""
        taken_ns = 0.0
        for loss in losses:
            taken_ns += part * loss.time_ns
            loss.scale(1 - part)
        self.left = [loss for loss in self.left if loss.time_ns > 0]
        return taken_ns

    def take_calls(self, lines: Iterable[Line]) -> float:
        """Takes the time in calls of these lines that is no wait; this time."""
        of = set(lines)
        return self.take([loss for loss in self.left if not loss.kind and loss.line in of])


def total(losses: Iterable[Loss]) -> float:
    """Their time."""
    return sum(loss.time_ns for loss in losses)


def all_of(basis: Basis) -> Losses:
    """All that the ranks lose; `basis.lost_ns` in all."""
    waits: dict[tuple[object, ...], Loss] = {}
    sizes = _largest_messages(basis)
    alone: set[Line] | None = None
    for of in basis.root_sums:
        line = (of.function, basis.place(of.site))
        activity = None
        if of.cause_rank >= 0:
            at, in_call = basis.place(of.cause_site), of.cause_in_call
            activity = Activity(of.cause_function, at, in_call)
        is_descheduled = of.cause_scheduled == "descheduled"
        key = (line, of.kind, of.cause_rank, activity, is_descheduled)
        kind: str = of.kind
        if activity and activity.in_call and _may_be_held_up(activity.function, sizes):
            alone = _made_alone(basis) if alone is None else alone
            kind = kind if activity.line in alone else ""
        loss = waits.setdefault(key, Loss(line, 0.0, kind, of.cause_rank, activity, is_descheduled))
        loss.time_ns += of.wait_ns
        loss.blocked_ns += of.wait_ns if of.cause_scheduled == "blocked" else 0.0
        loss.longest_ns = max(loss.longest_ns, of.longest_ns)
        for rank, time_ns in enumerate(of.by_rank):
            loss.by_rank[rank] = loss.by_rank.get(rank, 0.0) + time_ns
        loss.by_time = _sums(loss.by_time, of.by_time)
        loss.waits_by_time = _sums(loss.waits_by_time, of.waits_by_time)
    for loss in waits.values():
        loss.scale(basis.weight(loss.line))
    room = added((basis.line_of_row(row), float(row.time_ns)) for row in basis.lines)
    found = list(waits.values())
    _fit([loss for loss in found if loss.line[0] in OUTSIDE_NET], float(basis.absent_ns))
    inside = [loss for loss in found if loss.line[0] not in OUTSIDE_NET]
    for line, of_line in grouped(inside, lambda loss: loss.line).items():
        _fit(of_line, room.get(line, 0.0))
        room[line] = room.get(line, 0.0) - total(of_line)
    for loss in _descheduled_in_calls(basis):
        loss.scale(basis.weight(loss.line))
        loss.scale(min(room.get(loss.line, 0.0) / loss.time_ns, 1.0))
        room[loss.line] = room.get(loss.line, 0.0) - loss.time_ns
        found.append(loss)
    return Losses([*found, *(Loss(line, time_ns) for line, time_ns in room.items())])


def _descheduled_in_calls(basis: Basis) -> list[Loss]:
    """The time in calls of each line in which ranks waited for a processor, and for no other rank."""
    found: dict[Line, Loss] = {}
    for of in basis.outside:
        if of.descheduled_in_calls_ns:
            line = of.function, basis.place(of.site)
            loss = found.setdefault(line, Loss(line, 0.0, is_descheduled=True))
            loss.time_ns += of.descheduled_in_calls_ns
            loss.by_rank[of.rank] = loss.by_rank.get(of.rank, 0.0) + of.descheduled_in_calls_ns
    return list(found.values())


def _sums(one: Sequence[float], other: Sequence[float]) -> list[float]:
    return [a + b for a, b in zip(one or [0.0] * len(other), other, strict=True)]


# A call that moves less than this does not take long by itself.
_LONG_BYTES = 64 * 1024


def _largest_messages(basis: Basis) -> dict[str, float]:
    """The bytes of a call of each function, at the line where these are most."""
    sizes: dict[str, float] = {}
    for row in basis.lines:
        size = (row.bytes + row.received) / row.calls if row.calls else 0.0
        sizes[row.function] = max(sizes.get(row.function, 0.0), size)
    return sizes


def _may_be_held_up(function: str, sizes: dict[str, float]) -> bool:
    """Whether a call that takes long is no cause: the rank was held up in it.

    That is so if it moves little; and if ranks make it together, they take long together.
    """
    moves_little = is_of_messages(function) and sizes.get(function, 0.0) < _LONG_BYTES
    return moves_little or meaning(function).kind in ("collective", "epoch")


def _made_alone(basis: Basis) -> set[Line]:
    """The lines whose calls are on communicators with one member: no other rank holds them up."""
    rows = profile.summed(basis.run, ["line", "communicator"])
    of_lines = grouped((row for row in rows if row.world == basis.world), basis.line_of_row)
    return {line for line, found in of_lines.items() if {row.communicator_size for row in found} == {1}}


def is_of_messages(function: str) -> bool:
    """Whether a function of MPI sends, receives, or asks or waits for messages between two ranks."""
    return meaning(function).kind in ("send", "receive", "exchange", "probe", "start", "completion")


def _fit(losses: list[Loss], most_ns: float) -> None:
    """Makes waits no longer than the calls in which they are, as the profile knows these.

    A wait of polls includes the time between them, and a trace may have other clocks.
    """
    waited = total(losses)
    if waited <= most_ns:
        return
    for loss in losses:
        loss.scale(most_ns / waited)
