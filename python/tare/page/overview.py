"""What stands first on the page: where the time goes, what limits the program, what measuring cost."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tare import units
from tare.analysis import ranks
from tare.analysis.efficiency import Efficiency, efficiencies, replayed
from tare.analysis.spread import spread
from tare.functions import OUTSIDE_NET
from tare.measuring import unseen
from tare.reporters import summary, terminal
from tare.reporters.profile import OVERFLOW_NOTE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare._native import Process
    from tare.analysis.profile import Row
    from tare.runs.run import Run

# Below these, a figure is no finding.
SMALL_MPI_SHARE = 0.1
SMALL_LOSS = 0.02


def of_run(run: Run, sites: Sequence[Row]) -> dict[str, Any]:
    """`sites`: rows of the profile by call site, places included."""
    processes = run.processes
    found = replayed(efficiencies(processes), processes, lambda: run.replayed_worlds, always=False)
    share = spread(processes, ranks.mpi_share)
    cost = ranks.total_cost(processes)
    parts = _parts(found)
    return {
        "program": run.meta.name,
        "run": str(run.run_dir.resolve()),
        "ending": summary.ending(run),
        "is_going_on": run.is_going_on,
        "wall_ns": run.meta.wall_ns,
        "start_ns": run.start_ns,
        "ranks": len(processes),
        "hosts": len({process["host"] for process in processes}),
        "worlds": run.worlds,
        "states": ranks.count_states(processes),
        "mpi": list(dict.fromkeys(process["mpi"].split(", package:")[0] for process in processes)),
        "mpi_ns": ranks.total_mpi_ns(processes),
        "unreturned_ns": ranks.total_unreturned_ns(processes),
        "mpi_share": share
        and {
            "min": share.least,
            "min_rank": share.least_at["rank"],
            "mean": share.mean,
            "max": share.most,
            "max_rank": share.most_at["rank"],
        },
        "efficiency": [asdict(each) for each in found],
        "parts": parts,
        "cost": asdict(cost),
        "trace": ranks.total_trace(processes),
        "findings": _findings(processes, found, parts, sites, cost.net_share),
        "notes": _notes(run, sites),
    }


def _parts(found: Sequence[Efficiency]) -> list[dict[str, Any]]:
    """What the time of the largest world goes to; the shares add up to 1. POP's figures, as differences."""
    if not found:
        return []
    world = max(found, key=lambda each: each.ranks * each.net_ns)
    computing, most = world.parallel_efficiency, world.communication_efficiency
    if computing is None or most is None:
        return []
    parts = [
        {"name": "computing", "title": "Computing", "share": computing},
        {"name": "imbalance", "title": "Imbalance of the computing", "share": max(most - computing, 0.0)},
    ]
    transfer = world.transfer_efficiency
    if transfer is None:
        parts.append({"name": "communication", "title": "Waiting and transfer", "share": max(1 - most, 0.0)})
        return parts
    # On an ideal network the run would take so much of its time: the busiest rank's computing at the least.
    ideal = max(transfer, most)
    parts += [
        {"name": "waiting", "title": "Waiting for one another", "share": ideal - most},
        {"name": "transfer", "title": "Transfer", "share": 1 - ideal},
    ]
    return parts


def _findings(
    processes: Sequence[Process],
    found: Sequence[Efficiency],
    parts: Sequence[dict[str, Any]],
    sites: Sequence[Row],
    cost: float,
) -> list[str]:
    """A few sentences in plain words; each has the number that bears it out."""
    share = spread(processes, ranks.mpi_share)
    if share is None:
        return []
    said = [_of_mpi(share.mean, share.least, share.most, len(processes))]
    if share.mean >= SMALL_MPI_SHARE:
        said += _of_worst_site(sites, ranks.total_mpi_ns(processes))
    losses = [part for part in parts if part["name"] != "computing" and part["share"] >= SMALL_LOSS]
    if losses:
        worst = max(losses, key=lambda part: part["share"])
        said.append(_MEANING[worst["name"]].format(share=units.percent(worst["share"])))
    said.append(f"Measuring took at least {100 * cost:.2f} % of the time between MPI_Init and MPI_Finalize.")
    return said


_MEANING = {
    "imbalance": "Most of what is lost, {share} of the time, is imbalance: some ranks compute longer than "
    "others, which wait for them.",
    "waiting": "Most of what is lost, {share} of the time, is waiting in the order of messages: it would be "
    "there on an infinitely fast network, too.",
    "transfer": "Most of what is lost, {share} of the time, is transfer: the network, MPI itself, and ranks "
    "that wait for a processor.",
    "communication": "Most of what is lost, {share} of the time, is waiting for messages or transferring "
    "them; a trace (tare run --trace) tells which.",
}


def _of_mpi(mean: float, least: float, most: float, count: int) -> str:
    if count == 1:
        return f"MPI takes {units.percent(mean)} of the time."
    return (
        f"MPI takes {units.percent(mean)} of the time of a rank on average, from {units.percent(least)} to "
        f"{units.percent(most)}."
    )


def _of_worst_site(sites: Sequence[Row], total_ns: int) -> list[str]:
    timed = [row for row in sites if row.timed and row.function not in OUTSIDE_NET]
    if not timed or not total_ns:
        return []
    by_line: dict[tuple[str, str], int] = {}
    for row in timed:
        key = row.function, terminal.place(row)
        by_line[key] = by_line.get(key, 0) + row.time_ns
    (function, place), time_ns = max(by_line.items(), key=lambda each: each[1])
    return [f"{units.percent(time_ns / total_ns)} of the time in MPI is in {function} at {place}."]


def _notes(run: Run, sites: Sequence[Row]) -> list[str]:
    """What a reader has to know to trust the figures."""
    notes = list(unseen.sentences(run.meta))
    if run.is_going_on:
        notes.append("The run is still going on: these are the figures of one moment.")
    if not run.processes:
        notes.append("No process of this run has called MPI.")
    trace = ranks.total_trace(run.processes)
    if trace["dropped"]:
        notes.append(f"{trace['dropped']:,} records were dropped: the trace has gaps.")
    if trace["overwritten_bytes"]:
        notes.append("The trace holds the newest events alone.")
    unmeasured = sum(process["unmeasured_threads"] for process in run.processes)
    if unmeasured:
        notes.append(f"{unmeasured:,} threads were not measured: there was no memory for their buffers.")
    if any(row.function == "other" for row in sites):
        notes.append(OVERFLOW_NOTE)
    return notes + run.warnings
