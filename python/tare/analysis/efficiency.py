"""What the time of the ranks says about the program as a whole (definitions: docs/profile.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from tare.analysis.ranks import mpi_share

if TYPE_CHECKING:
    from tare._native import Process


class Efficiency(TypedDict):
    """POP's figures of one world, 0 to 1; None where no rank has net time."""

    world: int
    ranks: int
    net_ns: int
    mpi_share: float | None
    load_balance: float | None
    communication_efficiency: float | None
    parallel_efficiency: float | None
    most_computing_rank: int | None


def efficiencies(processes: Sequence[Process]) -> list[Efficiency]:
    """One for each world, of the processes that have a rank in it."""
    worlds: dict[int, list[Process]] = {}
    for process in processes:
        if process["rank"] >= 0:
            worlds.setdefault(process["world"], []).append(process)
    return [_efficiency(world, ranks) for world, ranks in sorted(worlds.items())]


def useful_ns(process: Process) -> int:
    """Net time outside MPI; none if threads together were in MPI for longer than that."""
    return max(process["net_ns"] - process["mpi_ns"], 0)


def _efficiency(world: int, ranks: Sequence[Process]) -> Efficiency:
    net_ns = max(process["net_ns"] for process in ranks)
    useful = [useful_ns(process) for process in ranks]
    mean_ns, most_ns = sum(useful) / len(useful), max(useful)
    known = net_ns > 0
    return {
        "world": world,
        "ranks": len(ranks),
        "net_ns": net_ns,
        "mpi_share": sum(map(mpi_share, ranks)) / len(ranks) if known else None,
        "load_balance": mean_ns / most_ns if most_ns > 0 else None,
        "communication_efficiency": most_ns / net_ns if known else None,
        "parallel_efficiency": mean_ns / net_ns if known else None,
        "most_computing_rank": ranks[useful.index(most_ns)]["rank"] if most_ns > 0 else None,
    }
