"""POP's efficiencies of a run.

The definitions are in docs/profile.md. They are those of the POP project (https://pop-coe.eu/node/69) and of
M. Wagner, S. Mohr, J. Giménez and J. Labarta, "A Structured Approach to Performance Analysis" (2017).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tare.analysis.groups import grouped
from tare.analysis.ranks import are_mpi_shares_known, end_together, mpi_share
from tare.analysis.scheduling import off_processor

if TYPE_CHECKING:
    from tare._native import Process, ReplayedWorld

# A replay of a larger trace takes seconds and much memory, so it must be asked for.
REPLAYED_RECORDS = 5_000_000

# Two reasons for no replay that the user can do something about.
NO_TRACE = "needs a trace"
TOO_MANY_RECORDS = f"more than {REPLAYED_RECORDS:,} records to replay"


@dataclass(frozen=True, kw_only=True)
class Efficiency:
    """The POP efficiencies of one world (docs/profile.md), 0 to 1.

    None if no rank has net time, or if it is not known what calls took that were only counted. Load balance,
    communication and parallel efficiency also are None if a keeper saved some ranks long before others ended.
    """

    world: int
    ranks: int  # ranks of the world whose results the run has
    size: int  # number of ranks of the world
    net_ns: int  # longest net time of a rank
    mpi_share: float | None  # share of MPI in the net time of all ranks
    load_balance: float | None  # mean time outside MPI / largest time outside MPI
    communication_efficiency: float | None  # largest time outside MPI / net_ns
    parallel_efficiency: float | None  # load_balance * communication_efficiency
    most_computing_rank: int | None  # the rank with the most time outside MPI
    # Of the time, at least: ranks could have run, but had no processor; outside MPI, they slept, waited in
    # the kernel, or were stopped. None: not known.
    descheduled_share: float | None = None
    blocked_share: float | None = None
    # The next four are None without a replay on an ideal network.
    serialisation_efficiency: float | None = None  # largest time outside MPI / ideal_ns
    transfer_efficiency: float | None = None  # ideal_ns / run time
    ideal_ns: int | None = None  # run time on an ideal network
    unknown_share: float | None = None  # share of the run time that could not be replayed
    not_replayed: str | None = None  # why there is no replay


def efficiencies(processes: Sequence[Process]) -> list[Efficiency]:
    """The efficiencies of each world, from the processes that have a rank in it, without a replay."""
    return [_efficiency(world, ranks) for world, ranks in sorted(by_world(processes).items())]


def by_world(processes: Sequence[Process]) -> dict[int, list[Process]]:
    """The processes that have a rank, and results, by world."""
    of_ranks = (each for each in processes if each.rank >= 0 and each.has_results)
    return grouped(of_ranks, lambda process: process.world)


def replayed(
    found: Sequence[Efficiency],
    processes: Sequence[Process],
    replay: Callable[[], Sequence[ReplayedWorld]],
    *,
    always: bool,
) -> list[Efficiency]:
    """`found` with the results of a replay on an ideal network, or the reason why there is none.

    `replay` is called only if some world can be replayed. `always`: large traces are replayed, too.
    """
    records = sum(process.trace.records for process in processes)
    obstacles = {}
    for efficiency in found:
        world = efficiency.world
        ranks = [process for process in processes if process.world == world and process.rank >= 0]
        obstacles[world] = _obstacle(ranks)
        if obstacles[world] is None and records > REPLAYED_RECORDS and not always:
            obstacles[world] = TOO_MANY_RECORDS
    if all(why is not None for why in obstacles.values()):
        return [replace(each, not_replayed=obstacles[each.world]) for each in found]
    by_world = {each.world: each for each in replay()}
    return [
        _with_replay(each, by_world[each.world])
        if obstacles[each.world] is None
        else replace(each, not_replayed=obstacles[each.world])
        for each in found
    ]


def _obstacle(ranks: Sequence[Process]) -> str | None:
    """The reason why the ranks of a world cannot be replayed; None if they can."""
    if any(rank.trace.policy is None for rank in ranks):
        return NO_TRACE
    if not all(rank.trace.written for rank in ranks):
        return "the trace was not written"
    if len(ranks) != ranks[0].size:
        return "not all ranks were measured"
    if not all(rank.finalized for rank in ranks):
        return "a rank has not come to its end"
    if any(rank.trace.dropped or rank.trace.overwritten_bytes for rank in ranks):
        return "the trace has gaps"
    if any(rank.callback_calls for rank in ranks):
        return "a rank has communicated in a callback"
    return None


def _with_replay(of: Efficiency, world: ReplayedWorld) -> Efficiency:
    if world.obstacle is not None or not world.ideal_ns or not world.runtime_ns:
        return replace(of, not_replayed=world.obstacle)
    return replace(
        of,
        ideal_ns=world.ideal_ns,
        # Threads of a rank may compute at the same time. Clocks of different hosts may disagree.
        serialisation_efficiency=min(world.useful_ns / world.ideal_ns, 1.0),
        transfer_efficiency=min(world.ideal_ns / world.runtime_ns, 1.0),
        unknown_share=world.unknown_ns / world.runtime_ns,
    )


def parts(of: Efficiency) -> dict[str, float]:
    """What the time of the ranks goes to, on average: POP's figures as differences, which add up to 1.

    Empty without net time. Communication has two parts where there is a replay: waiting and transfer.
    """
    computing, most = of.parallel_efficiency, of.communication_efficiency
    if computing is None or most is None:
        return {}
    found = {"computing": computing, "imbalance": max(most - computing, 0.0)}
    if of.transfer_efficiency is None:
        return found | {"communication": max(1 - most, 0.0)}
    # On an ideal network the run would take so much of its time: the busiest rank's computing at the least.
    ideal = max(of.transfer_efficiency, most)
    return found | {"waiting": ideal - most, "transfer": 1 - ideal}


def useful_ns(process: Process) -> int:
    """Net time outside MPI; the mean over the threads that call MPI.

    Where the share of MPI is not known, that of the time in which calls were measured is taken for it.
    """
    if process.threads_ns == process.net_ns:
        return max(process.net_ns - process.mpi_ns, 0)
    share = mpi_share(process)
    if share is None:
        share = min(process.mpi_ns / process.threads_ns, 1.0) if process.threads_ns > 0 else 0.0
    return round(process.net_ns * max(1 - share, 0))


def _efficiency(world: int, ranks: Sequence[Process]) -> Efficiency:
    net_ns = max(process.net_ns for process in ranks)
    useful = [useful_ns(process) for process in ranks]
    mean_ns, most_ns = sum(useful) / len(useful), max(useful)
    known = net_ns > 0 and are_mpi_shares_known(ranks)
    are_alike = known and end_together(ranks)
    has_useful = are_alike and most_ns > 0
    off = off_processor(ranks)
    return Efficiency(
        world=world,
        ranks=len(ranks),
        size=max(max(process.size for process in ranks), len(ranks)),
        net_ns=net_ns,
        mpi_share=sum(mpi_share(each) or 0.0 for each in ranks) / len(ranks) if known else None,
        load_balance=mean_ns / most_ns if has_useful else None,
        communication_efficiency=most_ns / net_ns if are_alike else None,
        parallel_efficiency=mean_ns / net_ns if are_alike else None,
        most_computing_rank=ranks[useful.index(most_ns)].rank if has_useful else None,
        descheduled_share=off.descheduled if off else None,
        blocked_share=off.blocked if off else None,
    )
