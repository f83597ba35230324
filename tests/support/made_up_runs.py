"""Made-up runs of a study, whose true times are known."""

from __future__ import annotations

from tare.lab.study.counts import Counts
from tare.lab.study.runner import Outcome
from tare.lab.study.stated import Weight


def outcome(net_ns: int, weight: Weight | None) -> Outcome:
    """The outcome of a run on one rank that took `net_ns`; `weight`: tare's account, None of a bare run."""
    timing = {
        "rank": 0, "host": "h", "pid": 1, "entered": "MPI_Init", "init_ns": 0, "net_ns": net_ns,
        "finalize_ns": 0, "net_user_ns": net_ns, "net_system_ns": 0, "user_ns": net_ns, "system_ns": 0,
        "max_rss_kib": 1, "net_waits": 0, "net_preempted": 0, "major_faults": 0,
    }  # fmt: skip
    return Outcome("ok", "", 0, 0, net_ns * 1e-9, 0, 0, 0, [timing], [], Counts(weight=weight), 0)
