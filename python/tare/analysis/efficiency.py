"""What the time of the ranks says about the program as a whole (definitions: docs/profile.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypedDict

from tare.analysis.ranks import mpi_share

if TYPE_CHECKING:
    from tare._native import Process, ReplayedWorld

# Of a larger trace, a replay takes seconds and memory, and is made on demand alone.
REPLAYED_EVENTS = 5_000_000


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
    serialisation_efficiency: float | None  # this and the next three of a replay, if there is one
    transfer_efficiency: float | None
    ideal_ns: int | None
    unknown_share: float | None
    not_replayed: str | None  # why there is none


def efficiencies(processes: Sequence[Process]) -> list[Efficiency]:
    """One for each world, of the processes that have a rank in it."""
    worlds: dict[int, list[Process]] = {}
    for process in processes:
        if process["rank"] >= 0:
            worlds.setdefault(process["world"], []).append(process)
    return [_efficiency(world, ranks) for world, ranks in sorted(worlds.items())]


def replayed(
    found: Sequence[Efficiency],
    processes: Sequence[Process],
    replay: Callable[[], Sequence[ReplayedWorld]],
    *,
    always: bool,
) -> None:
    """Adds what a replay on an ideal network tells; `always` makes it of large traces, too."""
    events = sum(process["trace"]["events"] for process in processes)
    for efficiency in found:
        ranks = [
            process
            for process in processes
            if process["world"] == efficiency["world"] and process["rank"] >= 0
        ]
        efficiency["not_replayed"] = _obstacle(ranks)
        if efficiency["not_replayed"] is None and events > REPLAYED_EVENTS and not always:
            efficiency["not_replayed"] = f"{events:,} events to replay: --replay"
    if all(efficiency["not_replayed"] is not None for efficiency in found):
        return
    by_world = {each["world"]: each for each in replay()}
    for efficiency in found:
        if efficiency["not_replayed"] is None:
            _add_replay(efficiency, by_world[efficiency["world"]])


def _obstacle(ranks: Sequence[Process]) -> str | None:
    """Why the ranks of a world cannot be replayed."""
    if any(rank["trace"]["policy"] is None for rank in ranks):
        return "needs a trace: tare run --trace"
    if not all(rank["trace"]["written"] for rank in ranks):
        return "the trace was not written"
    if len(ranks) != ranks[0]["size"]:
        return "not all ranks were measured"
    if not all(rank["finalized"] for rank in ranks):
        return "a rank has not come to its end"
    if any(rank["trace"]["dropped"] or rank["trace"]["overwritten_bytes"] for rank in ranks):
        return "the trace has gaps"
    return None


def _add_replay(efficiency: Efficiency, world: ReplayedWorld) -> None:
    efficiency["not_replayed"] = world["obstacle"]
    if world["obstacle"] is not None or not world["ideal_ns"] or not world["runtime_ns"]:
        return
    efficiency["ideal_ns"] = world["ideal_ns"]
    efficiency["serialisation_efficiency"] = world["useful_ns"] / world["ideal_ns"]
    # Clocks of different hosts may disagree.
    efficiency["transfer_efficiency"] = min(world["ideal_ns"] / world["runtime_ns"], 1.0)
    efficiency["unknown_share"] = world["unknown_ns"] / world["runtime_ns"]


def useful_ns(process: Process) -> int:
    """Net time outside MPI, of the mean of its threads that call it."""
    if process["threads_ns"] == process["net_ns"]:
        return max(process["net_ns"] - process["mpi_ns"], 0)
    return round(process["net_ns"] * max(1 - mpi_share(process), 0))


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
        "serialisation_efficiency": None,
        "transfer_efficiency": None,
        "ideal_ns": None,
        "unknown_share": None,
        "not_replayed": None,
    }
