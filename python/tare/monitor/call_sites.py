"""Time by call site now: by how much the profile of a run has grown from one reading to the next."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.rows import Placed, placed
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare.runs.run import Run


@dataclass(frozen=True)
class CallSite:
    """A function, and the place in the program that calls it."""

    function: str
    place: Placed


@dataclass(frozen=True)
class Sums:
    """Sums over all ranks since the start of the program."""

    calls: int
    time_ns: int  # time in these calls


@dataclass(frozen=True)
class Reading:
    """The profile of a running program at one moment."""

    ranks: int  # number of ranks that have recorded
    sums: Mapping[CallSite, Sums]


@dataclass(frozen=True)
class SiteActivity:
    """The calls of a call site from one reading to the next, as means over ranks."""

    site: CallSite
    share: float  # time in them, as a share of the time that passed
    calls_per_s: float


def of_run(recording: Run) -> Reading:
    """Also while it goes on: of the ranks whose memory this machine has, and of those that have ended."""
    from tare.analysis import profile

    sums = {}
    for row in profile.summed(recording, ["line"]):
        if row.timed:
            sums[CallSite(row.function, placed(row))] = Sums(row.calls, row.time_ns)
    return Reading(sum(process.rank >= 0 for process in recording.processes), sums)


class CallSites:
    """Follows one run. `read` may take long; `clock` is in seconds."""

    def __init__(self, read: Callable[[], Reading], clock: Callable[[], float] = time.monotonic) -> None:
        self._read = read
        self._clock = clock
        self._before: tuple[float, Reading] | None = None

    def now(self) -> list[SiteActivity]:
        """What has gone on since the last call, most time first; the first call only looks."""
        at_s, reading = self._clock(), self._read()
        before, self._before = self._before, (at_s, reading)
        if before is None or at_s <= before[0]:
            return []
        passed_s = (at_s - before[0]) * max(reading.ranks, 1)
        nothing = Sums(0, 0)
        found = []
        for site, sums in reading.sums.items():
            old = before[1].sums.get(site, nothing)
            if sums.calls > old.calls or sums.time_ns > old.time_ns:
                share = max(sums.time_ns - old.time_ns, 0) / NS_PER_S / passed_s
                found.append(SiteActivity(site, share, max(sums.calls - old.calls, 0) / passed_s))
        return sorted(found, key=lambda each: (-each.share, each.site.function))
