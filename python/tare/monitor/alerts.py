"""Conditions of a run that goes on, and the moments at which they begin to hold (docs/watch.md): alerts,
which leave tare as lines, and to a command of the user's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, Any, Literal

from tare import _native, streams, units
from tare.measuring.launch import check_startable
from tare.monitor.hangs import Hang
from tare.monitor.live import Activity
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare._native import Ranks

SCHEMA = "tare.alert/1"
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
        return {
            "TARE_ALERT" if name == "alert" else f"TARE_ALERT_{name.upper()}": streams.visible(str(value))
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


class AlertOutput:
    """Prints alerts, and starts the command for each: one at a time, in their order, beside the watching.

    CommandError if there is no such command.
    """

    def __init__(self, run: Path, command: list[str] | None, *, json: bool) -> None:
        self._run = run
        self._command = command
        self._json = json
        self._queue: Queue[tuple[Alert, str] | None] = Queue()
        self._worker: threading.Thread | None = None
        if command:
            check_startable(command)
            self._worker = threading.Thread(target=self._work, daemon=True)
            self._worker.start()

    def write(self, alert: Alert) -> None:
        """Prints an alert at once. A thread runs the command, if there is one."""
        time = datetime.now().astimezone().isoformat(timespec="seconds")
        content = self._content(alert, time)
        streams.say(content if self._json else f"{time} {alert.message}")
        sys.stdout.flush()
        if self._worker is not None:
            self._queue.put((alert, content))

    def close(self) -> None:
        """Ends when the commands of all alerts have ended; Ctrl-C does not wait for them."""
        if self._worker is not None:
            self._queue.put(None)
            with suppress(KeyboardInterrupt):
                self._worker.join()

    def _content(self, alert: Alert, time: str) -> str:
        content: dict[str, Any] = {"schema": SCHEMA, "run": str(self._run), "time": time, **alert.content()}
        return json.dumps(content)

    def _work(self) -> None:
        while (next_one := self._queue.get()) is not None:
            self._start(*next_one)

    def _start(self, alert: Alert, content: str) -> None:
        assert self._command is not None
        environment = {**os.environ, "TARE_ALERT_RUN": str(self._run), **alert.variables()}
        try:
            done = subprocess.run(
                self._command, env=environment, input=content + "\n", text=True, check=False
            )
        except OSError as error:
            return streams.tell(f"tare: cannot start {self._command[0]}: {error.strerror}")
        if done.returncode != 0:
            streams.tell(f"tare: {self._command[0]} failed for an alert: {units.ending(done.returncode)}")
        return None
