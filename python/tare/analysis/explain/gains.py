"""What a program would gain at most without what a finding names: a replay of the trace without it.

The replay is on an ideal network (docs/profile.md), with and without the change; the difference is the gain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tare.analysis.efficiency import REPLAYED_RECORDS
from tare.analysis.explain.basis import Basis
from tare.analysis.explain.finding import MIN_GAIN, MIN_SHARE, Finding
from tare.analysis.explain.losses import Line
from tare.runs.run import ReplayChange

if TYPE_CHECKING:
    from tare._native import Process

NO_LIMIT_NS = 2**63 - 1
# Where even work gains a smaller part than this of what no work at all would gain, ranks work in turn.
IN_TURN = 0.25
# A replay knows when ranks had no processor if they were outside of calls for this part of that time, without
# that in waits.
OUTSIDE_CALLS = 0.9
# Two ways to share work disagree if one of them gains less than this part of what the other does.
AGREE = 0.8
NO_PROCESSOR = ("oversubscription", "descheduled")
# What these cost is not only the time in their calls.
MORE_THAN_CALLS = ("farm", "tiny messages", *NO_PROCESSOR)


def with_gains(basis: Basis, findings: Sequence[Finding]) -> list[Finding]:
    """The findings with their gains as far as these can be known, the largest first. Known ones stay."""
    is_slow = (each for each in findings if each.kind == "slow iterations" and not each.cause_in_call)
    apart = {(each.cause_function, each.cause_at) for each in is_slow}
    changes = [_change(basis, each, apart) if basis.is_traced else None for each in findings]
    wanted = [change for change in changes if change is not None]
    # The same without any of the work that is evened.
    removed = [_times(even) for _, _, even in wanted if even]
    gains, network_ns = _replayed(basis, [*wanted, *removed])
    of_wanted, of_removed = iter(gains[: len(wanted)]), iter(gains[len(wanted) :])
    found = []
    for each, change in zip(findings, changes, strict=True):
        gain_ns = _in_calls(basis, each) if change is None else next(of_wanted, None)
        removed_ns = next(of_removed, None) if change and change[2] else None
        if gain_ns is not None and change and _is_no_bound(basis, each, gain_ns, removed_ns, network_ns):
            gain_ns = None
        if gain_ns is not None:
            gain_ns = _with_processors(basis, each, change, gain_ns)
        found.append(each if each.gain_ns is not None else replace(each, gain_ns=gain_ns))
    return sorted(found, key=lambda each: -_order(basis, each))


def without_waiting_ns(basis: Basis, line: Line) -> int | None:
    """What the program would take less if nobody waited in the calls of a line; None: it is not known."""
    gains, _ = _replayed(basis, [_not_waiting(basis, line)])
    return gains[0] if gains else None


def _is_no_bound(basis: Basis, of: Finding, gain_ns: int, removed_ns: int | None, network_ns: int) -> bool:
    """Whether other changes than the one that was replayed would gain far more.

    Ranks may work in turn, and what the network takes may hide that they could work at the same time: on an
    ideal network, a send waits for no receiver.
    """
    least_ns = MIN_SHARE * basis.net_ns
    in_turn = removed_ns is not None and removed_ns > least_ns and gain_ns < IN_TURN * removed_ns
    hidden = gain_ns < IN_TURN * of.lost_ns / basis.ranks and network_ns > gain_ns + least_ns
    return in_turn or hidden


def _order(basis: Basis, of: Finding) -> float:
    """The gain as a share of the time of the program; of an unknown one, what is lost."""
    if of.gain_ns is None or not basis.net_ns:
        return of.share
    return of.gain_ns / basis.net_ns


def _with_processors(basis: Basis, of: Finding, change: ReplayChange | None, gain_ns: int) -> int | None:
    """The gain, as far as the processors allow it; None where it is not known when ranks had none.

    What ranks compute takes the processors that they share as long, however it is shared among ranks. Without
    a processor a rank loses nothing while it waits for another one.
    """
    scheduling = {process.rank: process.scheduling for process in basis.processes}
    off_ns = sum(each.descheduled_ns for each in scheduling.values())
    if of.kind in NO_PROCESSOR or basis.share(off_ns) < MIN_SHARE:
        return gain_ns
    outside_ns = sum(each.descheduled_outside_ns for each in scheduling.values())
    in_calls_ns = sum(
        min(
            each.scheduling.descheduled_ns - each.scheduling.descheduled_outside_ns, _transfer_ns(basis, each)
        )
        for each in basis.processes
    )
    if basis.share(in_calls_ns) >= MIN_GAIN and outside_ns < OUTSIDE_CALLS * (outside_ns + in_calls_ns):
        return None
    crowd = basis.crowd
    if crowd is None:
        return gain_ns
    removed_ns = _removed_ns(of, change)
    if crowd.threads > len(crowd.ranks) or len(crowd.ranks) < basis.ranks or removed_ns is None:
        return None
    busy_ns = sum(
        max(basis.useful_ns[rank] - each.descheduled_ns - each.blocked_ns - each.unknown_ns, 0)
        for rank, each in scheduling.items()
    )
    return max(min(gain_ns, round(basis.net_ns - (busy_ns - removed_ns) / crowd.processors)), 0)


def _transfer_ns(basis: Basis, of: Process) -> int:
    """The time of a rank in calls of MPI in which it does not wait for another one."""
    return max(of.mpi_ns - sum(group.of_rank.get(of.rank, 0) for group in basis.waits), 0)


def _removed_ns(of: Finding, change: ReplayChange | None) -> int | None:
    """How much less is computed without the finding; None: it is not known."""
    if of.kind == "slow iterations":
        return of.beyond_ns
    is_same_work = of.kind == "serialised" or change is None or not change[0]
    return 0 if is_same_work else None


def _replayed(basis: Basis, changes: Sequence[ReplayChange]) -> tuple[list[int | None], int]:
    """The gain by each change, and by an ideal network; none where no replay is possible, or takes long.

    A gain is not known if it depends on how ranks share their work, each time or each part of it.

    In calls of which it is not known what they wait for, a replay waits as long, whatever is changed.
    """
    records = sum(process.trace.records for process in basis.run.processes)
    if not changes or records > REPLAYED_RECORDS:
        return [], 0
    worlds = basis.run.replayed_with(basis.world, changes)
    world = next((each for each in worlds if each.world == basis.world), None)
    if world is None or world.obstacle is not None or world.unknown_ns > MIN_SHARE * basis.net_ns:
        return [], 0
    ways = zip(world.without_ns, world.without_by_part_ns, strict=True)
    gains = [_agreed(basis, *(max(world.ideal_ns - time_ns, 0) for time_ns in both)) for both in ways]
    return gains, world.runtime_ns - world.ideal_ns


def _agreed(basis: Basis, one_ns: int, other_ns: int) -> int | None:
    least_ns, most_ns = sorted((one_ns, other_ns))
    if least_ns < AGREE * most_ns and most_ns - least_ns > MIN_GAIN * basis.net_ns:
        return None
    return most_ns


def _change(basis: Basis, of: Finding, apart: Collection[Line]) -> ReplayChange | None:
    """What is different without the finding; None for one that is about the time of calls themselves.

    `apart`: before the calls of these lines, few iterations are slow, which is told apart.
    """
    if of.kind in NO_PROCESSOR:
        found = [each for each in basis.outside if each.descheduled_ns]
        # Where calls are short, it is not known when most of it was; and of threads that do not call MPI.
        has_others = (of.threads or 0) > len(of.ranks)
        if has_others or sum(each.descheduled_ns for each in found) < OUTSIDE_CALLS * (of.most_ns or 0):
            return None
        return _times((each.rank, each.site, 1 - each.descheduled_ns / each.time_ns) for each in found)
    line: Line = of.cause_function, of.cause_at
    times = basis.outside_ns.get(line, {})
    if of.kind == "needless barrier":
        return _not_waiting(basis, (of.function, of.at))
    if not times or of.cause_in_call or not of.lost_ns:
        return None
    sites = basis.sites_of[line]
    if of.kind == "farm":
        if of.cause_rank is None:
            return None
        factor = (of.mean_ns or 0.0) / (of.most_ns or 1.0)
        return _times((of.cause_rank, site, factor) for site in sites)
    if of.kind == "serialised":  # all do it at once
        return _times((rank, site, 1 / len(of.ranks)) for rank in times for site in sites)
    if of.kind == "slow iterations" and of.cause_rank is not None and of.mean_ns is not None:
        # What an iteration does outside MPI takes no longer than all of the median one.
        return [(of.cause_rank, site, 1.0, round(of.mean_ns)) for site in sites], [], []
    if line in apart:  # even work would even the slow iterations as well
        return None
    # The same work, each time evenly on all ranks; who had no processor has none still. What they do in turn
    # is even already, and of several threads of a rank it is not known which of them is slow: the gain is not
    # known.
    worked = basis.worked_ns[line]
    mean_ns = sum(worked.values()) / basis.ranks
    is_in_turn = 2 * (max(worked.values()) - mean_ns) * basis.ranks < of.lost_ns
    if basis.has_threads or (is_in_turn and of.kind != "alternating imbalance"):
        return None
    own = {rank: 1 - worked[rank] / time_ns for rank, time_ns in times.items() if time_ns}
    return [], [], [(rank, site, share) for rank, share in own.items() for site in sites]


def _not_waiting(basis: Basis, line: Line) -> ReplayChange:
    return [], sorted(basis.sites_of.get(line, ())), []


def _times(factors: Iterable[tuple[int, int, float]]) -> ReplayChange:
    return [(rank, site, factor, NO_LIMIT_NS) for rank, site, factor in factors], [], []


def _in_calls(basis: Basis, of: Finding) -> int | None:
    if not basis.is_traced or not of.lost_ns or of.cause_rank is not None or not of.function:
        return None
    if of.kind in MORE_THAN_CALLS:
        return None
    return on_critical_path_ns(basis, (of.function, of.at))


def on_critical_path_ns(basis: Basis, line: Line) -> int:
    """The time in the calls of a line that is on the critical path of a traced run."""
    return sum(
        part.time_ns
        for part in basis.run.wait_report.critical_path
        if part.world == basis.world and part.in_call and (part.function, basis.place(part.site)) == line
    )
