"""Conditions of a run that goes on, and the moments at which they begin to hold (docs/watch.md)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from tare import _native, units
from tare.monitor.hangs import Hang
from tare.monitor.live import Activity
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare._native import Ranks

Kind = Literal["hang", "imbalance", "loss"]
HANGS_AFTER_NS = 10 * NS_PER_S
# What "of late" is; and so long a condition has to be false before it counts as new.
OF_LATE_S = 10.0
# An event with less of the time is not told of: its imbalance does no harm.
MIN_SHARE = 0.01
# Fewer snapshots than that say nothing of their loss.
MIN_SNAPSHOTS = 10


@dataclass(frozen=True)
class Condition:
    """A condition of `tare watch --alert`."""

    text: str  # as the user wrote it
    kind: Kind
    threshold: float = 0.0  # a share; for hangs a time in ns
    event: str = ""  # for imbalance: the event; empty: any


def parse(text: str) -> Condition:
    """The condition hang[:TIME], imbalance:PERCENT[,event=NAME] or loss:PERCENT; else ValueError."""
    what, *options = text.split(",", 1)
    kind, _, amount = what.strip().partition(":")
    event = options[0].strip().removeprefix("event=") if options else ""
    wrong = (
        f"'{text}' is no condition: write hang, hang:30s, imbalance:30%, "
        "imbalance:30%,event=MPI_Allreduce or loss:5%"
    )
    if options and (kind != "imbalance" or not event or not options[0].strip().startswith("event=")):
        raise ValueError(wrong)
    try:
        if kind == "hang":
            threshold: float = units.parse_duration(amount) if amount else HANGS_AFTER_NS
        elif kind in ("imbalance", "loss") and amount.endswith("%"):
            threshold = float(amount[:-1]) / 100
        else:
            raise ValueError
    except ValueError:
        raise ValueError(wrong) from None
    if kind == "hang" and threshold < NS_PER_S:
        raise ValueError(f"'{text}': a rank hangs after one second at least")
    if not 0 <= threshold < float("inf"):
        raise ValueError(wrong)
    kinds: dict[str, Kind] = {"hang": "hang", "imbalance": "imbalance", "loss": "loss"}
    return Condition(text.strip(), kinds[kind], threshold, event)


@dataclass(frozen=True)
class Alert:
    """A condition that has begun to hold."""

    condition: Condition
    message: str  # one line for the user
    value: float | None = None  # the share that is above the threshold
    event: str | None = None  # for imbalance: the event
    ranks: Ranks = field(default_factory=_native.Ranks)  # the ranks that it is about

    def content(self) -> dict[str, Any]:
        """The alert as JSON."""
        is_share = self.condition.kind != "hang"
        return {
            "alert": self.condition.kind,
            "condition": self.condition.text,
            "message": self.message,
            "value": self.value,
            "threshold": self.condition.threshold if is_share else self.condition.threshold / NS_PER_S,
            "event": self.event,
            "ranks": str(self.ranks) or None,
        }

    def variables(self) -> dict[str, str]:
        """The same for the environment of a command; text that comes from programs is without line ends."""
        from tare.streams import visible

        return {
            "TARE_ALERT" if name == "alert" else f"TARE_ALERT_{name.upper()}": visible(str(value))
            for name, value in self.content().items()
            if value is not None
        }


@dataclass(frozen=True)
class Seen:
    """The state of the run at one moment."""

    at_s: float  # time of a monotonic clock
    activities: list[Activity]
    taken: int  # snapshots that have arrived so far
    lost: int  # snapshots that were lost so far
    lost_ranks: Ranks  # ranks whose snapshots were lost
    hang: Callable[[int], Hang | None]  # looks for ranks that have hung for at least so many ns


class Alerts:
    """Tells of each condition when it begins to hold, and again only if it did not hold for ten seconds."""

    def __init__(self, conditions: Iterable[Condition]) -> None:
        self._conditions = tuple(conditions)
        self._held: dict[tuple[Condition, str], float] = {}  # and when last
        self._counts: deque[tuple[float, int, int]] = deque()

    def begun(self, seen: Seen) -> list[Alert]:
        """What holds now and did not before."""
        self._counts.append((seen.at_s, seen.taken, seen.lost))
        while len(self._counts) > 2 and self._counts[1][0] <= seen.at_s - OF_LATE_S:
            self._counts.popleft()
        new = []
        for condition in self._conditions:
            for alert in self._holding(condition, seen):
                key = (condition, alert.event or "")
                last = self._held.get(key)
                if last is None or seen.at_s - last > OF_LATE_S:
                    new.append(alert)
                self._held[key] = seen.at_s
        return new

    def _holding(self, condition: Condition, seen: Seen) -> Iterator[Alert]:
        if condition.kind == "imbalance":
            yield from _unbalanced(condition, seen.activities)
        elif condition.kind == "loss":
            yield from self._losing(condition, seen)
        else:
            hang = seen.hang(round(condition.threshold))
            if hang is not None:
                yield Alert(condition, hang.message, ranks=hang.ranks)

    def _losing(self, condition: Condition, seen: Seen) -> Iterator[Alert]:
        _, taken_before, lost_before = self._counts[0]
        taken, lost = seen.taken - taken_before, seen.lost - lost_before
        if taken + lost < MIN_SNAPSHOTS:
            return
        share = lost / (taken + lost)
        if share > condition.threshold:
            message = f"{units.percent(share)} of the profiles were lost in the last ten seconds"
            yield Alert(condition, message, share, ranks=seen.lost_ranks)


def _unbalanced(condition: Condition, activities: Iterable[Activity]) -> Iterator[Alert]:
    for activity in activities:
        if activity.kind == "counter" or (condition.event and activity.event != condition.event):
            continue
        if activity.share < MIN_SHARE or activity.imbalance_of_late <= condition.threshold:
            continue
        share = units.percent(activity.imbalance_of_late)
        yield Alert(
            condition,
            f"{activity.event}: in the last ten seconds rank {activity.most_rank} has had at least {share} "
            f"more time than the mean; since the start rank {activity.least_rank} has had least",
            activity.imbalance_of_late,
            activity.event,
            _native.Ranks([(activity.most_rank, 1)]),
        )
