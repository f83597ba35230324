"""How busy the machine is: before, after, and beside a run."""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Snapshot:
    """The load of the machine. Times are seconds of processor time since boot."""

    busy_s: float  # in which processors were busy, summed over all
    all_s: float  # of all processors, idle time included
    children_s: float  # used by children of this process
    average: float  # load average of the kernel over a minute


def snapshot() -> Snapshot:
    """The load of the machine now: processor seconds of all processes and of ended children, load average."""
    busy, total = _processor_seconds()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Snapshot(busy, total, used.ru_utime + used.ru_stime, os.getloadavg()[0])


def foreign_share(before: Snapshot, after: Snapshot) -> float:
    """Share of the machine that others used meanwhile, 0 to 1.

    Processes that this one has not waited for, itself or through its children, count as others: ranks that a
    launcher starts through a daemon look foreign.
    """
    total = after.all_s - before.all_s
    if total <= 0:
        return 0.0
    others = (after.busy_s - before.busy_s) - (after.children_s - before.children_s)
    return min(1.0, max(0.0, others / total))


def _processor_seconds() -> tuple[float, float]:
    try:
        first = Path("/proc/stat").read_text("ascii").splitlines()[0]
    except OSError:
        return 0.0, 0.0
    fields = [int(word) for word in first.split()[1:9]]
    user, nice, system, idle, waiting, interrupts, soft_interrupts, stolen = fields
    busy = user + nice + system + interrupts + soft_interrupts + stolen
    return busy / _TICKS, (busy + idle + waiting) / _TICKS


_TICKS = os.sysconf("SC_CLK_TCK")
