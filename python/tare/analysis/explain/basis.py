"""What findings are made of: the ranks of the largest world, its profile by line, and its wait states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from tare.analysis import endings, profile
from tare.analysis.communication import MAX_GROUPS
from tare.analysis.efficiency import by_world, useful_ns
from tare.analysis.explain.finding import BLOCKED, MIN_SHARE, Finding
from tare.analysis.explain.losses import Line, Losses
from tare.analysis.explain.outside import Outside
from tare.analysis.groups import added, grouped
from tare.analysis.ranks import are_mpi_shares_known, largest_world, total_unreturned_ns
from tare.analysis.rows import Placed, changed, line_of, place_of, row_place
from tare.analysis.scheduling import Crowd, busy_threads, crowd_of
from tare.functions import OUTSIDE_NET, contains_program, meaning

if TYPE_CHECKING:
    from tare._native import (
        CurrentCall,
        Exchange,
        OutsideSum,
        Process,
        RootSum,
    )
    from tare._tables import ProfileRow
    from tare.runs.run import Run

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
    # By what caused the waits in the end (rank, function, place, in the call or before it): ns of waiting.
    by_delay: dict[tuple[int, str, Placed, bool], int] = field(default_factory=dict)


@dataclass
class Told:
    """What has been found so far, so that no finding says what another has said."""

    findings: list[Finding]
    losses: Losses  # the time that no finding has taken
    # The same in calls that have not returned, and by how much net times are shorter than the longest, if
    # that is no known wait.
    elsewhere_ns: float = 0.0


class Basis:
    """Read as it is needed: the profile is read once, and the trace where there is one."""

    def __init__(self, run: Run, *, max_records: int | None = None) -> None:
        """A trace of more records than `max_records` is not looked at."""
        self.run = run
        run.expect_profile(["line"])
        if run.meta.options.sources:
            run.expect_profile(["line", "rank"], ["site"])
            run.expect_profile(["line", "rank"], callers_alone=True)
        run.expect_exchanges(MAX_GROUPS)
        worlds = by_world(run.processes)
        self.world = largest_world(run.processes)
        self.processes: Sequence[Process] = worlds.get(self.world, [])
        self.uses_mpi = bool(worlds)
        if not worlds:  # what the processes do without MPI
            self.processes = [each for each in run.processes if each.has_results]
            self.world = self.processes[0].world if self.processes else -1
        self.other_worlds = max(len(worlds) - 1, 0)
        self.net_ns = max((process.net_ns for process in self.processes), default=0)
        # Of ranks that did not end by themselves, and of which it is not known in which call they are: how
        # long their calls were only counted.
        self.counting_ns = _counting_ns(run, self.world) if run.has_counted_time else {}
        # Where calls were only counted for some of the time: whether times are estimates for the whole run.
        # Else they are those of the time in which calls were measured. Who hangs makes no calls to count.
        hangs = max(self.counting_ns.values(), default=0) >= MIN_SHARE * self.net_ns
        self.is_estimated = run.has_counted_time and self._is_whole_run_known() and not hangs
        self.calls_under_way = calls_under_way(run, self.world, uses_mpi=self.uses_mpi)
        threads_ns = sum(p.threads_ns + self._counted_ns(p) for p in self.processes)
        # The longest time of a rank that the profile covers, by measuring or by estimates.
        self.profiled_ns = max(
            (p.net_ns - p.counted_ns + self._counted_ns(p) for p in self.processes), default=0
        )
        # As if all ranks took part from the start to the end, but those of which no more is known. Processes
        # without MPI need not: one may run several programs, one after another.
        absent = [self.net_ns - p.net_ns for p in self.processes if self.uses_mpi and not p.saved]
        self.absent_ns = sum(absent)
        self.total_ns = threads_ns + self.absent_ns
        self.mpi_ns = sum((p.whole_mpi_ns or 0) if self.is_estimated else p.mpi_ns for p in self.processes)
        self.lost_ns = self.absent_ns + self.mpi_ns
        self.unreturned_ns = total_unreturned_ns(self.processes)
        # Whether several threads of a rank call MPI.
        self.has_threads = any(p.threads_ns + p.counted_ns > p.net_ns for p in self.processes)
        self.useful_ns = {process.rank: self.useful_ns_of(process) for process in self.processes}
        records = sum(process.trace.records for process in run.processes)
        self.is_too_long = max_records is not None and records > max_records
        self.is_traced = records > 0 and not self.is_too_long

    def _is_whole_run_known(self) -> bool:
        """Whether it can be estimated what ranks do: how long they are in MPI, or else in other calls."""
        if self.uses_mpi:
            return are_mpi_shares_known(self.processes)
        of_whole_run = profile.summed(self.run, ["line"]) if self.run.meta.options.sources else []
        return all(row.whole_time_error_ns is not None for row in of_whole_run if row.timed)

    def useful_ns_of(self, process: Process) -> int:
        """What a process computes, ns, without calls that have not returned, and time that is not known."""
        computing_ns, measured_ns = useful_ns(process), process.net_ns - process.counted_ns
        if not self.is_estimated and process.counted_ns:
            mpi_share = process.mpi_ns / process.threads_ns if process.threads_ns else 1.0
            computing_ns = round(measured_ns * max(1 - mpi_share, 0))
        others = [
            ns for call, ns in self.calls_under_way if call.rank == process.rank and not is_of_mpi(call)
        ]
        return max(computing_ns - max(others, default=0), 0)

    def _counted_ns(self, process: Process) -> int:
        return process.counted_ns if self.is_estimated else 0

    def share(self, time_ns: float) -> float:
        """The share of the ranks' time: of the longest net time of a rank, for each of them.

        It does not have the time in which calls were only counted, unless that is estimated.
        """
        return time_ns / self.total_ns if self.total_ns else 0.0

    def share_of_all(self, time_ns: float) -> float:
        """The same of a time that is known of all of the run, as that without a processor is."""
        counted_ns = sum(process.counted_ns - self._counted_ns(process) for process in self.processes)
        all_ns = self.total_ns + counted_ns
        return time_ns / all_ns if all_ns else 0.0

    @property
    def ranks(self) -> int:
        """The number of ranks of the world that is explained."""
        return len(self.processes)

    @cached_property
    def lines(self) -> list[ProfileRow]:
        """The profile of MPI by line, without what begins and ends the net time, and without look-ups."""
        rows = [row for row in self._measured_lines if row.function not in OUTSIDE_NET]
        if not self.is_estimated:
            return rows
        weighted = [(row, self.weight(self.line_of_row(row))) for row in rows]
        return [
            changed(
                row,
                time_ns=round(row.time_ns * weight),
                imbalance_ns=row.imbalance_ns and round(row.imbalance_ns * weight),
            )
            for row, weight in weighted
        ]

    @cached_property
    def _measured_lines(self) -> list[ProfileRow]:
        rows = [row for row in profile.summed(self.run, ["line"]) if row.world == self.world]
        return [row for row in rows if row.timed]

    @cached_property
    def _weights(self) -> dict[Line, float]:
        sums: dict[Line, tuple[int, int]] = {}
        for row in self._measured_lines:
            measured_ns, whole_ns = sums.get(self.line_of_row(row), (0, 0))
            whole = row.time_ns if row.whole_time_ns is None else row.whole_time_ns
            sums[self.line_of_row(row)] = measured_ns + row.time_ns, whole_ns + whole
        # Estimates of single lines may be more than there is.
        in_mpi = sum(whole for (function, _), (_, whole) in sums.items() if function not in OUTSIDE_NET)
        most = min(self.mpi_ns / in_mpi, 1.0) if in_mpi else 1.0
        return {line: most * whole / measured for line, (measured, whole) in sums.items() if measured}

    def weight(self, line: Line) -> float:
        """The time of the calls of a line in the whole run, divided by that of those that were measured."""
        return self._weights.get(line, 1.0) if self.is_estimated else 1.0

    @cached_property
    def outside_mpi(self) -> Outside:
        """What ranks do outside MPI, as far as other sources of events tell it."""
        return Outside(self.run, self.world, is_estimated=self.is_estimated)

    @cached_property
    def exchange(self) -> Exchange | None:
        """Messages of the world; None without ranks."""
        found = self.run.exchanges(MAX_GROUPS)
        return next((each for each in found if each.world == self.world), None)

    def share_blocked(self, rank: int, known: float, late_ns: float) -> float | None:
        """The share `known` of `late_ns` in which a rank was blocked; None if it may be most of it, or not.

        Where calls are short, it is not known in which of them, or between which, a rank was blocked; nor
        what it has done since its last call, if it makes no other.
        """
        process = next((each for each in self.processes if each.rank == rank), None)
        if process is None or late_ns <= 0:
            return known
        found = process.scheduling
        if not found.observed_ns and (self.run.meta.imported is not None or process.finalized):
            return known  # nothing was read
        elsewhere_ns = max(found.blocked_ns + found.unknown_ns - found.blocked_outside_ns, 0)
        elsewhere_ns += max(process.net_ns - found.observed_ns, 0)
        return None if known <= BLOCKED < known + elsewhere_ns / late_ns else known

    @cached_property
    def crowd(self) -> Crowd | None:
        """The ranks that have most to share their processors; None if each thread can have one of its own."""
        busy = busy_threads(self.outside_mpi.regions, self.processes)
        return crowd_of(self.run.meta, self.processes, busy)

    def partners(self, rank: int) -> set[int]:
        """The other ranks that it sends messages to or that send it some. Reads the peers of all ranks."""
        pairs = (
            (row.rank, row.peer)
            for row in self.run.rows(self.run.peers(["rank"], [self.world]))
            if row.sent_messages and row.peer is not None
        )
        return {each for pair in pairs if rank in pair for each in pair} - {rank}

    def messages_with(self, rank: int) -> tuple[dict[int, int], dict[int, int]]:
        """The numbers of messages to it and from it, by the other rank. Reads the peers of all ranks."""
        rows = list(self.run.rows(self.run.peers(["rank"], [self.world])))
        to_it = added((row.rank, row.sent_messages) for row in rows if row.peer == rank != row.rank)
        own = ((row.peer, row.sent_messages) for row in rows if row.rank == rank)
        return to_it, added((peer, sent) for peer, sent in own if peer not in (None, rank))

    @cached_property
    def waits(self) -> list[WaitGroup]:
        """The largest first; none without a trace."""
        if not self.is_traced:
            return []
        report, groups = self.run.wait_report, _Groups(self.place)
        for wait in report.waits:
            if wait.world == self.world:
                group = groups.of(wait.kind, wait.function, wait.site)
                group.waits += wait.waits
                group.wait_ns += wait.wait_ns
                _add(group.of_rank, wait.rank, wait.wait_ns)
        for awaited in report.awaited:
            if awaited.world == self.world:
                group = groups.of(awaited.kind, awaited.function, awaited.site)
                _add(group.by_cause, awaited.rank, awaited.wait_ns)
        for root in self.root_sums:
            if root.cause_rank >= 0:
                group = groups.of(root.kind, root.function, root.site)
                place = self.place(root.cause_site)
                delay = (
                    root.cause_rank,
                    root.cause_function,
                    place,
                    root.cause_in_call,
                )
                _add(group.by_delay, delay, round(root.wait_ns))
        return sorted(groups.all.values(), key=lambda each: -each.wait_ns)

    def place(self, site: int) -> Placed:
        """The place of a call site; calls from one line are at one place, whatever their addresses."""
        return line_of(place_of(site, self.run.sites))

    @cached_property
    def root_sums(self) -> list[RootSum]:
        """The waits by what caused them in the end."""
        if not self.is_traced:
            return []
        return [each for each in self.run.wait_report.causes if each.world == self.world]

    @cached_property
    def outside(self) -> list[OutsideSum]:
        """The time of each rank outside MPI before the calls of each site; none without a trace."""
        if not self.is_traced:
            return []
        return [each for each in self.run.wait_report.outside if each.world == self.world]

    @cached_property
    def outside_ns(self) -> dict[Line, dict[int, int]]:
        """The time of each rank outside MPI before the calls of each line."""
        return self._outside(lambda of: of.time_ns)

    @cached_property
    def worked_ns(self) -> dict[Line, dict[int, int]]:
        """The same, without the time in which they had no processor."""
        return self._outside(lambda of: of.time_ns - of.descheduled_ns)

    def _outside(self, time_ns: Callable[[OutsideSum], int]) -> dict[Line, dict[int, int]]:
        of_lines = grouped(self.outside, lambda of: (of.function, self.place(of.site)))
        return {line: added((of.rank, time_ns(of)) for of in found) for line, found in of_lines.items()}

    @cached_property
    def sites_of(self) -> dict[Line, set[int]]:
        """The call sites of each line of the trace."""
        of_lines = grouped(self.outside, lambda of: (of.function, self.place(of.site)))
        return {line: {of.site for of in found} for line, found in of_lines.items()}

    def calls_of(self, row: ProfileRow) -> int:
        """All calls of a row of the profile by line, estimated if some were only counted.

        Where the reader has no estimate, those that were counted are taken for calls of the lines that were
        measured.
        """
        if row.whole_calls is not None:
            return row.whole_calls
        return round(row.calls * self._all_calls.get(row.function, 1.0))

    @cached_property
    def _all_calls(self) -> dict[str, float]:
        """All calls of each function, divided by those that were measured."""
        if not self.run.has_counted_time:
            return {}
        rows = profile.summed(self.run, ["function"])
        return {
            row.function: row.calls / (row.calls - row.counted) for row in rows if row.counted < row.calls
        }

    def line_of_row(self, row: ProfileRow) -> Line:
        """The line of a row of the profile by line."""
        return row.function, row_place(row)


def is_of_mpi(call: CurrentCall) -> bool:
    """Whether it is a call of MPI, and not of another source."""
    return meaning(call.function).source == "MPI"


def calls_under_way(run: Run, world: int, *, uses_mpi: bool) -> list[tuple[CurrentCall, int]]:
    """The calls that have not returned, and how long they take already, or took until a process ended.

    Those of threads that call MPI; without MPI, of the first thread. To be in a construct such as a region is
    no call.
    """
    found = []
    for call in run.current_calls:
        process = run.processes[call.process]
        is_callers = call.made_mpi_calls if uses_mpi else call.thread == 0
        waits = call.inside and not contains_program(call.function)
        # One that aborts makes the call that ends it; src/reader/model/account.cpp has the same of MPI.
        may_wait = process.world == world and process.state in ("running", "killed", "exited")
        if is_callers and waits and may_wait:
            since_ns = max(endings.end_ns(process) - call.enter_ns, 0)
            found.append((call, min(since_ns, process.net_ns)))
    return found


def _counting_ns(run: Run, world: int) -> dict[int, int]:
    found = {}
    for call in run.current_calls:
        process = run.processes[call.process]
        may_hang = call.world == world and process.state in ("running", "killed")
        if may_hang and call.counted_since_ns is not None:
            found[call.rank] = max(endings.end_ns(process) - call.counted_since_ns, 0)
    return found


class _Groups:
    def __init__(self, place: Callable[[int], Placed]) -> None:
        self.all: dict[tuple[str, str, Placed], WaitGroup] = {}
        self._place = place

    def of(self, kind: str, function: str, site: int) -> WaitGroup:
        at = self._place(site)
        return self.all.setdefault((kind, function, at), WaitGroup(kind, function, at))


def _add(sums: dict[_Key, int], key: _Key, value: int) -> None:
    sums[key] = sums.get(key, 0) + value
