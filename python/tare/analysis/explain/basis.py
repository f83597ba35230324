"""What findings are made of: the ranks of the largest world, its profile by line, and its wait states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from tare.analysis import profile
from tare.analysis.communication import MAX_GROUPS
from tare.analysis.efficiency import useful_ns
from tare.analysis.explain.finding import Finding
from tare.analysis.rows import UNKNOWN, Placed, place_of
from tare.functions import OUTSIDE_NET

if TYPE_CHECKING:
    from tare._native import (
        Exchange,
        Process,
    )
    from tare._tables import ProfileRow
    from tare.runs.run import Run

# An MPI function, and the line of the program that calls it.
Line = tuple[str, Placed]

_Key = TypeVar("_Key")


@dataclass
class WaitGroup:
    """Wait states of one kind at one line."""

    kind: str
    function: str  # the function in which ranks waited
    at: Placed
    waits: int = 0  # number of wait states
    wait_ns: int = 0  # their time, over all ranks
    of_rank: dict[int, int] = field(default_factory=dict)  # by rank that waited: ns
    by_cause: dict[int, int] = field(default_factory=dict)  # by rank that was waited for: ns
    # By activity that delayed a rank (rank, function, place, in the call or before it): ns of waiting.
    by_delay: dict[tuple[int, str, Placed, bool], int] = field(default_factory=dict)


@dataclass
class Told:
    """What has been found so far, so that no finding says what another has said."""

    findings: list[Finding]
    waits: list[WaitGroup]  # the wait states that no finding has reported, the largest first


class Basis:
    """Read as it is needed: the profile is read once, and the trace where there is one."""

    def __init__(self, run: Run, *, max_events: int | None = None) -> None:
        """A trace of more events than `max_events` is not looked at."""
        self.run = run
        run.expect_profile(["line"])
        run.expect_exchanges(MAX_GROUPS)
        worlds: dict[int, list[Process]] = {}
        for process in run.processes:
            if process["rank"] >= 0:
                worlds.setdefault(process["world"], []).append(process)
        self.world = max(worlds, key=lambda each: sum(p["net_ns"] for p in worlds[each]), default=-1)
        self.processes: Sequence[Process] = worlds.get(self.world, [])
        self.other_worlds = max(len(worlds) - 1, 0)
        self.net_ns = max((process["net_ns"] for process in self.processes), default=0)
        self.total_ns = sum(process["threads_ns"] for process in self.processes)
        self.mpi_ns = sum(process["mpi_ns"] for process in self.processes)
        self.useful_ns = {process["rank"]: useful_ns(process) for process in self.processes}
        events = sum(process["trace"]["events"] for process in run.processes)
        self.is_too_long = max_events is not None and events > max_events
        self.is_traced = events > 0 and not self.is_too_long

    def share(self, time_ns: float) -> float:
        """The share of the net time of all ranks."""
        return time_ns / self.total_ns if self.total_ns else 0.0

    @property
    def ranks(self) -> int:
        """The number of ranks of the world that is explained."""
        return len(self.processes)

    @cached_property
    def lines(self) -> list[ProfileRow]:
        """The profile by line, without what begins and ends the net time, and without look-ups."""
        rows = [row for row in profile.summed(self.run, ["line"]) if row.world == self.world]
        return [row for row in rows if row.timed and row.function not in OUTSIDE_NET]

    @cached_property
    def exchange(self) -> Exchange | None:
        """Messages of the world; None without ranks."""
        found = self.run.exchanges(MAX_GROUPS)
        return next((each for each in found if each["world"] == self.world), None)

    def partners(self, rank: int) -> set[int]:
        """The other ranks that it sends messages to or that send it some. Reads the peers of all ranks."""
        pairs = (
            (row.rank, row.peer)
            for row in self.run.rows(self.run.peer_table(["rank"], [self.world]))
            if row.sent_messages and row.peer is not None
        )
        return {each for pair in pairs if rank in pair for each in pair} - {rank}

    @cached_property
    def waits(self) -> list[WaitGroup]:
        """The largest first; none without a trace."""
        if not self.is_traced:
            return []
        report, groups = self.run.wait_report, _Groups(self.place)
        for wait in report["waits"]:
            if wait["world"] == self.world:
                group = groups.of(wait["kind"], wait["function"], wait["site"])
                group.waits += wait["waits"]
                group.wait_ns += wait["wait_ns"]
                _add(group.of_rank, wait["rank"], wait["wait_ns"])
        for cause in report["causes"]:
            if cause["world"] == self.world:
                group = groups.of(cause["kind"], cause["function"], cause["site"])
                _add(group.by_cause, cause["cause_rank"], cause["wait_ns"])
                # Without a delay of its own it was late because it waited itself.
                if cause["delay_site"] >= 0:
                    place, in_call = self.place(cause["delay_site"]), cause["delay_in_call"]
                    function = self._function_at(cause["delay_site"]) or cause["cause_function"]
                    _add(group.by_delay, (cause["cause_rank"], function, place, in_call), cause["delay_ns"])
        return sorted(groups.all.values(), key=lambda each: -each.wait_ns)

    def place(self, site: int) -> Placed:
        """The place of a call site; calls from one line are at one place, whatever their addresses."""
        found = place_of(site, self.run.sites)
        return line_of(found)

    def _function_at(self, site: int) -> str:
        return self._functions_at.get(site, "")

    @cached_property
    def _functions_at(self) -> dict[int, str]:
        rows = profile.summed(self.run, ["site"], profile.Chosen(worlds=frozenset([self.world])))
        return {row.site: row.function for row in rows if row.site is not None}


def line_of(at: Placed) -> Placed:
    """The place without what tells copies of a line apart."""
    if at.file is None or at.line is None:
        is_known = at.object or at.caller
        return Placed(object=at.object, offset=at.offset, caller=at.caller) if is_known else UNKNOWN
    return Placed(file=at.file, line=at.line, caller=at.caller, object=at.object)


def row_place(row: ProfileRow) -> Placed:
    """The line of a row of the profile; see `line_of`."""
    return line_of(
        Placed(file=row.file, line=row.line, caller=row.caller, object=row.object, offset=row.offset)
    )


class _Groups:
    def __init__(self, place: Callable[[int], Placed]) -> None:
        self.all: dict[tuple[str, str, Placed], WaitGroup] = {}
        self._place = place

    def of(self, kind: str, function: str, site: int) -> WaitGroup:
        at = self._place(site)
        return self.all.setdefault((kind, function, at), WaitGroup(kind, function, at))


def _add(sums: dict[_Key, int], key: _Key, value: int) -> None:
    sums[key] = sums.get(key, 0) + value
