"""All findings of a run, so that none says what another has said, the most severe first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare.analysis.where import Look
    from tare.runs.run import Run

from tare import registry, units
from tare.analysis import regions, retimed, traces
from tare.analysis.efficiency import efficiencies
from tare.analysis.explain import calls, ended, gains, losses, outside, shown
from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.finding import (
    MAX_FINDINGS,
    MIN_MPI_SHARE,
    MIN_SHARE,
    SHORTEST_NS,
    Explanation,
    Finding,
)
from tare.analysis.rows import fields
from tare.errors import CommandError


def explain(run: Run, seen: tuple[Run, Look] | None = None) -> Explanation:
    """Reads a trace up to six times. `seen`: the second look at a run that still goes on."""
    return explain_basis(run, Basis(run), seen)


def explain_basis(run: Run, basis: Basis, seen: tuple[Run, Look] | None = None) -> Explanation:
    """The same of what has been read."""
    first = ended.findings(run, seen)
    is_too_short = basis.net_ns < SHORTEST_NS
    # How long ranks waited that wait for ever depends on who ended the run.
    is_stuck = any(each.kind == "deadlock" for each in first)
    notes: list[str] = []
    lost = losses.all_of(basis)
    told = Told([], lost, max(basis.lost_ns - losses.total(lost.all), 0.0))
    if not (is_too_short or is_stuck):
        _look(basis, told, notes)
    found = gains.with_gains(basis, told.findings)
    rest = None if is_too_short or is_stuck else calls.not_explained(basis, told)
    if rest and rest.share >= (MIN_SHARE if rest.kind == "oversubscription" else MIN_MPI_SHARE):
        found.append(rest)
    if not (is_too_short or is_stuck) and (open_calls := calls.under_way(basis, told)):
        found.insert(0, open_calls)
    if not (is_too_short or is_stuck) and (unknown := calls.only_counted(basis)):
        found.insert(0, unknown)
    return Explanation(
        findings=(*first, *_ordered(found))[:MAX_FINDINGS],
        mpi_share=next((each.mpi_share for each in efficiencies(basis.processes)), None),
        ranks=basis.ranks if basis.uses_mpi else 0,
        **fields(basis, ("net_ns", "total_ns", "lost_ns", "is_traced", "is_too_long")),
        # Sums of estimates may be more than the estimate of all.
        unexplained_ns=max(basis.lost_ns - sum(each.lost_ns for each in found), 0),
        is_too_short=is_too_short,
        notes=(*notes, *_notes(basis, found)),
    )


def _ordered(found: Sequence[Finding]) -> list[Finding]:
    """Puts what the others may be due to first, and what would gain nothing last."""
    return sorted(found, key=lambda each: (each.kind != "oversubscription", each.gain_ns == 0))


def _look(basis: Basis, told: Told, notes: list[str]) -> None:
    """What the registered analyses find, one after another. An analysis of a user that fails is a note."""
    for entry in registry.entries(registry.FINDINGS).values():
        try:
            told.findings += [outside.described(basis, each) for each in _found(entry, basis, told)]
        except CommandError as error:
            if not entry.package:
                raise
            text = str(error) if entry.title in str(error) else f"{entry.title} failed: {error}"
            notes.append(f"{text[0].upper()}{text[1:]}.")


def _found(entry: registry.Entry, basis: Basis, told: Told) -> list[Finding]:
    analysis = entry.load()
    with entry.named():
        found = list(analysis(basis, told))
        for each in found:
            if not isinstance(each, Finding):
                raise TypeError(f"{each!r} is no Finding")
            if entry.package:
                shown.check(each)
        return found


def _of_counted(basis: Basis, found: Sequence[Finding]) -> str:
    """What times are of, where calls were only counted for some of the time."""
    share = sum(p.counted_ns for p in basis.processes) / max(sum(p.net_ns for p in basis.processes), 1)
    said = f"For {units.percent(share)} of the time calls were only counted: "
    if basis.is_estimated:
        by_samples = ", but those by samples of the stacks are of the rest"
        said += "times are estimated from the calls that were measured"
        return f"{said}{by_samples if any(each.cause_code for each in found) else ''}."
    of_all = any(each.kind in gains.NO_PROCESSOR and each.most_ns for each in found)
    said += "times and shares are of the rest"
    said += ", but how long ranks could have run is of all of it" if of_all else ""
    return (
        f"{said}; how long {'ranks are in MPI' if basis.uses_mpi else 'it is in these calls'} is not known."
    )


def _notes(basis: Basis, found: Sequence[Finding]) -> list[str]:
    """What keeps the findings from being all that there is."""
    notes = []
    if basis.run.has_counted_time:
        notes.append(_of_counted(basis, found))
        if basis.outside_mpi.leaves_regions_out:
            notes.append("How long threads idle in parallel regions of OpenMP is not known then.")
    if any(map(regions.is_lost, basis.outside_mpi.regions)):
        notes.append(
            "The profile table had no room for all parallel regions: how long threads idle is not known."
        )
    elsewhere_ns = basis.outside_mpi.of_files_elsewhere_ns
    if basis.share(elsewhere_ns) >= MIN_MPI_SHARE:
        who = "Threads that call no MPI" if basis.uses_mpi else "Threads beside the first"
        duration = units.duration(elsewhere_ns)
        notes.append(f"{who} are in files for {duration} in all: it is not known what waits for them.")
    trace = basis.run.total_trace(basis.world)
    if trace.dropped:
        dropped = units.number_of(trace.dropped, "record of the trace was", "records of the trace were")
        notes.append(f"{dropped} dropped: waits may be missing.")
    if traces.has_newest_alone(trace):
        notes.append("The trace holds the newest events alone: earlier waits are missing.")
    if basis.is_traced:
        violations = basis.run.wait_report.clock_violations
        if violations:
            most = max(each.most_ns for each in violations)
            notes.append(
                f"The clocks of two ranks disagree by {units.duration(most)} at least: waits may be off; "
                "--times corrected corrects them."
            )
        notes += retimed.sentences(basis.run.retimed)
        notes += (f"{line[0].upper()}{line[1:]}." for line in basis.run.wait_report.warnings)
    if polls := calls.between_polls(basis):
        notes.append(polls)
    if basis.other_worlds:
        others = units.number_of(basis.other_worlds, "other world was", "other worlds were")
        notes.append(f"{others} not looked at.")
    return notes
