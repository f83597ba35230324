"""The worst instance of a finding, or of a wait state: where in the timeline it is."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from tare._native import WAIT_KINDS
from tare.analysis.rows import UNKNOWN

if TYPE_CHECKING:
    from tare._native import Timeline
    from tare.analysis.explain.basis import Basis
    from tare.analysis.explain.finding import Finding
    from tare.analysis.rows import Placed
    from tare.runs.run import Run

# Findings about calls, and not about waits: their worst instance is the longest call.
OF_CALLS = frozenset(
    (
        "needless barrier", "tiny messages", "unsuccessful polling", "large collective", "frequent calls",
        "not explained", "oversubscription",
    )
)  # fmt: skip

Instance = dict[str, Any]


class Instances:
    """An instance is a row of the timeline, with a begin (since the timeline's) and a duration."""

    def __init__(self, run: Run, basis: Basis, timeline: Timeline) -> None:
        self._run, self._basis, self._timeline = run, basis, timeline
        self._rows: dict[tuple[int, int, int], int] = {}
        for number, row in enumerate(timeline.rows()):
            for thread in (row.thread, *(each for _, each in row.threads)):
                self._rows.setdefault((row.world, row.rank, thread), number)

    def of_finding(self, found: Finding) -> Instance | None:
        """None if it has none, or if that is not in the trace."""
        if not self._rows:
            return None
        if found.kind == "slow iterations":
            if found.first_ns is None or found.most_ns is None:
                return None
            return self._instance(found.ranks[0], 0, found.first_ns, found.most_ns, "iteration")
        if not found.function or found.kind == "calls under way":
            return None
        if found.kind not in OF_CALLS:
            kind = found.kind if found.kind in WAIT_KINDS else None
            wait = self.of_wait(found.function, found.at, kind)
            if wait is not None:
                return wait
        return self._longest_call(found.function, found.at)

    def of_wait(self, function: str, at: Placed, kind: str | None = None) -> Instance | None:
        """The longest wait in the calls of a line; of any kind, if none is given."""
        if not self._basis.is_traced:
            return None
        fitting = [
            each
            for each in self._run.wait_report.waits
            if each.world == self._basis.world
            and each.function == function
            and kind in (None, each.kind)
            and self._basis.place(each.site) == at
        ]
        if not fitting:
            return None
        most = max(fitting, key=lambda each: each.longest_ns)
        return self._instance(most.rank, most.longest_thread, most.longest_start_ns, most.longest_ns, "wait")

    def _longest_call(self, function: str, at: Placed) -> Instance | None:
        functions = [int(name == function) for name in self._run.functions]
        sites = [2 * int(self._basis.place(site) == at) for site in range(len(self._run.sites))]
        words = 1 if at == UNKNOWN else 3
        _, kept, data = self._timeline.find(functions, sites, words, 0, len(self._timeline.rows()))
        if not kept:
            return None
        start, duration = struct.unpack_from("<dd", data)
        (row,) = struct.unpack_from("<I", data, 24)
        return {"row": row, "start_ns": start, "duration_ns": duration, "what": "call"}

    def _instance(
        self, rank: int, thread: int, start_ns: int, duration_ns: float, what: str
    ) -> Instance | None:
        row = self._rows.get((self._basis.world, rank, thread))
        if row is None:
            return None
        since = start_ns - self._timeline.start_ns
        return {"row": row, "start_ns": since, "duration_ns": duration_ns, "what": what}
