"""What stands first on the page: where the time goes, what limits the program, what measuring cost."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tare import units
from tare.analysis import ranks, retimed, traces
from tare.analysis.budget import base_of_cost
from tare.analysis.efficiency import NO_TRACE, Efficiency, efficiencies, parts, replayed
from tare.analysis.rows import record
from tare.analysis.spread import spread
from tare.measuring import unseen
from tare.reporters import budget, explanation, last_calls, scheduling, summary
from tare.reporters.profile import MEASURED_ONLY, OVERFLOW_NOTE
from tare.runs import missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare._native import Process
    from tare._tables import ProfileRow
    from tare.analysis.explain.finding import Explanation
    from tare.runs.run import Run


def of_run(run: Run, sites: Sequence[ProfileRow], explained: Explanation) -> dict[str, Any]:
    """`sites`: rows of the profile by call site, places included."""
    processes = run.processes
    of_ranks = ranks.of_ranks(processes)
    found = _efficiencies(run)
    world = _largest(found, processes)
    share = (
        spread([each for each in of_ranks if each.has_results], ranks.mpi_share)
        if ranks.use_mpi(processes) and ranks.are_mpi_shares_known(processes)
        else None
    )
    cost = run.total_cost()
    return {
        "program": run.meta.name,
        "run": str(run.run_dir.resolve()),
        "ending": run.ending,
        "is_going_on": run.is_going_on,
        "wall_ns": run.meta.wall_ns,
        "start_ns": run.start_ns,
        "ranks": len(of_ranks),
        "missing": missing.count(run.missing),
        "hosts": len({process.host for process in processes}),
        "worlds": run.worlds,
        "states": ranks.count_states(of_ranks),
        "mpi": ranks.mpi_versions(processes),
        "uses_mpi": ranks.use_mpi(processes),
        "mpi_ns": ranks.total_mpi_ns(processes),
        "unreturned_ns": ranks.total_unreturned_ns(processes),
        "mpi_share": share
        and {
            "min": share.least,
            "min_rank": _named(run, share.min_at),
            "mean": share.mean,
            "max": share.most,
            "max_rank": _named(run, share.max_at),
        },
        "share_unknown": why_no_share(run),
        "efficiency": [asdict(each) for each in found],
        "parts": _parts(world),
        "ended_early": _have_some_ended_early(run, world),
        "not_replayed": _why_not_replayed(world),
        "cost": record(cost),
        "account": list(summary.account_lines(run)),
        "cost_of": base_of_cost(run),
        "trace": record(run.total_trace()),
        "findings": explanation.sentences(explained, run.start_ns),
        "notes": _notes(run, sites),
        "measured_only": f"{MEASURED_ONLY}. `tare profile` estimates the whole run."
        if run.has_counted_time
        else None,
    }


def _named(run: Run, process: Process) -> str:
    """The rank, and its world where there are several."""
    return f"{process.rank}" + (f" of world {process.world}" if run.worlds > 1 else "")


TITLES = {
    "computing": "Computing",
    "imbalance": "Imbalance of the computing",
    "communication": "Waiting and transfer",
    "waiting": "Waiting for one another",
    "transfer": "Transfer",
}


def parts_of(run: Run) -> list[dict[str, Any]]:
    """What the time of its largest world goes to."""
    return _parts(_largest(_efficiencies(run), run.processes))


def why_no_share(run: Run) -> str | None:
    """Why it is not known how long ranks are in MPI, if it is not."""
    return None if ranks.are_mpi_shares_known(run.processes) else budget.NO_SHARE


def _efficiencies(run: Run) -> list[Efficiency]:
    processes = run.processes
    return replayed(efficiencies(processes), processes, lambda: run.replayed_worlds, always=False)


def _largest(found: Sequence[Efficiency], processes: Sequence[Process]) -> Efficiency | None:
    world = ranks.largest_world(processes)
    return next((each for each in found if each.world == world), None)


def _parts(world: Efficiency | None) -> list[dict[str, Any]]:
    shares = {} if world is None else parts(world)
    return [{"name": name, "title": TITLES[name], "share": share} for name, share in shares.items()]


def _have_some_ended_early(run: Run, world: Efficiency | None) -> bool:
    """Whether ranks ended before others, so that what those computed longer is no imbalance."""
    ended = [each for each in run.processes if world and each.world == world.world and not each.finalized]
    return any(each.net_ns < ranks.ENDED_EARLY * world.net_ns for each in ended if world)


def _why_not_replayed(world: Efficiency | None) -> str | None:
    """Why it is not known what is waiting and what is transfer."""
    if world is None or world.not_replayed is None:
        return None
    if world.not_replayed == NO_TRACE:
        return "a trace tells which: tare run --trace"
    return f"which of them is not known: {world.not_replayed}"


def _notes(run: Run, sites: Sequence[ProfileRow]) -> list[str]:
    """What a reader has to know to trust the figures."""
    notes = list(unseen.sentences(run.meta))
    if run.is_running:
        notes.append("The run is still going on: these are the figures of one moment.")
    if not ranks.use_mpi(run.processes) and not run.missing:
        notes.append("No process of this run has called MPI.")
    notes.extend(map(_sentence, last_calls.sentences(run)))
    trace = run.total_trace()
    if trace.dropped:
        dropped = units.number_of(trace.dropped, "record was dropped", "records were dropped")
        notes.append(f"{dropped}: the trace has gaps.")
    if traces.has_newest_alone(trace):
        notes.append("The trace holds the newest events alone.")
    unmeasured = sum(process.unmeasured_threads for process in run.processes)
    if unmeasured:
        threads = units.number_of(unmeasured, "thread was", "threads were")
        notes.append(f"{threads} not measured: there was no memory for the buffers.")
    texts = [scheduling.sentence(run.meta, run.processes), *ranks.reductions(run.processes)]
    notes.extend(_sentence(text) for text in texts if text)
    if any(row.function == "other" for row in sites):
        notes.append(_sentence(OVERFLOW_NOTE))
    return [*notes, *retimed.sentences(run.retimed), *map(_sentence, run.warnings)]


def _sentence(text: str) -> str:
    """A line of a verb as a sentence; names with which it begins, such as `node.tare:`, stay."""
    first, _, _ = text.partition(" ")
    begin = text[:1].upper() + text[1:] if first.isalpha() else text
    return begin if begin.endswith((".", "!", "?")) else f"{begin}."
