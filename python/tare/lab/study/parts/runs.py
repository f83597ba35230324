"""The runs themselves: how they were made, sets that were recorded apart, and outliers."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tare import units
from tare.lab.study import frames, plan, provenance, statistics
from tare.lab.study.analysis import Analysis
from tare.lab.study.plan import Cell
from tare.lab.study.sections import CHANGE, COUNT, RATIO, SECONDS, SHARE, P, Section, Table, columns

if TYPE_CHECKING:
    import pandas as pd

# Others that use more of the machine than this are worth a warning.
BUSY_SHARE = 0.05
SHOWN_FACTS = (
    "machine.host",
    "machine.processor",
    "machine.processors",
    "machine.memory",
    "machine.kernel",
    "machine.governor",
    "software.tare",
)


def warnings(analysis: Analysis) -> list[str]:
    """What a reader must know before any number."""
    found = []
    busy = analysis.results.runs["foreign_share"]
    disturbed = int((busy > BUSY_SHARE).sum())
    if disturbed:
        found.append(
            f"others used more than {100 * BUSY_SHARE:.0f} % of the machine during {disturbed} of "
            f"{len(busy)} runs (median {100 * busy.median():.0f} %): repeat on a quiet machine before you "
            "believe small differences"
        )
    if failed := _failed(analysis):
        found.append(
            f"{units.number_of(failed, 'run')} failed; SELECT cell, message FROM runs WHERE state <> 'ok'"
        )
    return found


def _failed(analysis: Analysis) -> int:
    question = "SELECT count(*) FROM runs WHERE state <> 'ok' AND set_name = ?"
    return int(analysis.store.rows(question, analysis.set_name)[0][0])


def overview(analysis: Analysis) -> Section:
    """Facts of the whole study: how many runs, failures, and what else the machine did."""
    elapsed, used, paused = analysis.store.rows(
        "SELECT sum(elapsed_s), sum(runs_s), sum(pauses_s) FROM sessions WHERE set_name = ?",
        analysis.set_name,
    )[0]
    lost = None if not elapsed else f"{100 * (1 - (used + paused) / elapsed):.1f} % of {elapsed:.0f} s"
    busy = analysis.results.runs["foreign_share"]
    rows: list[list[object]] = [
        ["set", analysis.set_name],
        ["runs", f"{len(busy)}, of {len(analysis.cells)} combinations; {_failed(analysis)} failed"],
        ["time taken by the harness", lost],
        ["processor used by others", f"median {100 * busy.median():.1f} %, most {100 * busy.max():.1f} %"],
    ]
    found = analysis.store.provenance_of_sets().get(analysis.set_name, {})
    rows += [[name, found[name]] for name in SHOWN_FACTS if name in found]
    rows += [
        [name, value] for name, value in found.items() if name.startswith(("mpi.", "output.file_system"))
    ]
    note = "All recorded facts: SELECT fact, value FROM environments."
    return Section("How it was run", parts=[Table("Runs and machine", columns("what", "value"), rows, note)])


def sets(analysis: Analysis) -> Section | None:
    """What differs between sets of runs that were recorded apart; None if there is one set."""
    by_set = analysis.store.provenance_of_sets()
    if len(by_set) < 2:
        return None
    section = Section(
        "Sets that were recorded apart",
        "Where the times of two sets disagree, one of the facts that differ is the likely cause.",
    )
    for before, after in pairwise(by_set):
        differing = provenance.differences(by_set[before], by_set[after])
        title = f"Provenance that differ between set {before} and set {after}"
        rows: list[list[object]] = [list(each) for each in differing] or [["none", "", ""]]
        section.parts.append(Table(title, columns("fact", before, after), rows))
        section.parts.append(_set_times(analysis, before, after))
    return section


def _set_times(analysis: Analysis, before: str, after: str) -> Table:
    every = frames.load(analysis.store, analysis.description, None).runs
    rows = [
        row
        for cell in plan.cells(analysis.description)
        for row in _change_rows(analysis, cell, every[every["cell"] == cell.key], before, after)
    ]
    names = columns("run", "time", (before, SECONDS), (after, SECONDS), ("change", CHANGE), ("p of none", P))
    return Table("Times (medians; Welch's test)", names, rows)


def _change_rows(
    analysis: Analysis, cell: Cell, runs: pd.DataFrame, before: str, after: str
) -> list[list[object]]:
    rows: list[list[object]] = []
    left, right = runs[runs["set_name"] == before], runs[runs["set_name"] == after]
    for response in analysis.responses():
        old, new = left[response].dropna(), right[response].dropna()
        if len(old) and len(new) and old.median() > 0:
            p = statistics.welch(old.to_list(), new.to_list())
            change = new.median() / old.median() - 1
            rows.append([analysis.label(cell), response, old.median(), new.median(), change, p])
    return rows


def outliers(analysis: Analysis) -> Section:
    """Runs whose times differ much from those of their cell."""
    rows: list[list[object]] = []
    for cell in analysis.cells:
        runs = analysis.runs(cell)
        for response in analysis.responses():
            known = runs[runs[response].notna()]
            for found in statistics.outliers(known[response].to_list()):
                run = known.iloc[found.index]
                rows.append(
                    [
                        int(run["run"]), analysis.label(cell), response, found.value,
                        float(known[response].median()), found.z, float(run["foreign_share"]),
                        float(run["load_before"]),
                    ]
                )  # fmt: skip
    names = columns(
        ("run number", COUNT), "run", "time", ("value", SECONDS), ("median", SECONDS), ("z", RATIO),
        ("others used", SHARE), ("load before", RATIO),
    )  # fmt: skip
    note = (
        f"Values whose distance from the median is more than {statistics.OUTLIER_Z} times the scaled median "
        "absolute deviation, or the mean one where more than half of the values are equal. They are in every "
        "number of this report: medians bear them."
    )
    title = f"{len(rows)} values far from the others"
    return Section("Outliers", parts=[Table(title, names, rows, note, detail=bool(rows))])
