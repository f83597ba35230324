"""A whole report: every section of a set of results, with its figures; and sections on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tare.lab.study import description as descriptions
from tare.lab.study import extrapolation, figures, frames
from tare.lab.study.analysis import Analysis
from tare.lab.study.model import FileSystem
from tare.lab.study.parts import (
    cells,
    claim,
    costs,
    messages,
    overheads,
    phases,
    runs,
    truths,
    variation,
    weights,
)
from tare.lab.study.parts.cells import CellFigures
from tare.lab.study.sections import TEXT, Figure, Section, Table, shown
from tare.lab.study.store import FILE, Store
from tare.reporters import terminal
from tare.reporters.sheet import Heading, Sheet

if TYPE_CHECKING:
    from tare.reporters.console import Console

Make = Callable[[Analysis], Section | None]
Draw = Callable[[Analysis], list[Figure]]

# Every section with its figures, in the order of the page.
SECTIONS: tuple[tuple[Make, tuple[Draw, ...]], ...] = (
    (overheads.summary, (figures.net_overhead,)),
    (truths.truths, ()),
    (overheads.overheads, ()),
    (weights.weights, ()),
    (weights.budgets, ()),
    (costs.composition, (figures.composition, figures.bare_scaling, figures.scaling)),
    (costs.written, (figures.parts_of_overhead,)),
    (claim.growth, (figures.parts_over_events,)),
    (costs.event_counts, (figures.over_events, figures.flushes)),
    (phases.phases, ()),
    (messages.sampled, (figures.messages_sampled,)),
    (messages.bandwidth, ()),
    (variation.variation, ()),
    (variation.correlations, ()),
    (costs.reported, ()),
    (variation.systems, ()),
    (runs.sets, ()),
    (runs.outliers, ()),
    (overheads.power, ()),
    (runs.overview, ()),
)


@dataclass(frozen=True)
class Report:
    """The contents of the report of a study."""

    analysis: Analysis  # of the set of runs
    warnings: list[str]
    sections: list[Section]
    cells: list[CellFigures]


def report(file: Path, directory: Path, set_name: str | None, *, with_figures: bool) -> Report:
    """`file` is the description; where it is a directory, the one that the results keep is taken."""
    with Store(directory) as store:
        described = descriptions.read(file) if file.is_file() else _kept(store, directory)
        chosen = set_name or frames.newest_set(store)
        try:
            results = frames.load(store, described, chosen)
        except frames.NoRuns as error:
            return _of_nothing(described, store, chosen, error)
        analysis = Analysis(described, store, results, chosen)
        sections = []
        for make, drawings in SECTIONS:
            if (section := make(analysis)) is not None:
                sections.append(section)
                for draw in drawings if with_figures else ():
                    section.parts += draw(analysis)
        warnings = runs.warnings(analysis)
        # A study without flushes has nothing to extrapolate.
        if store.rows("SELECT 1 FROM flushes LIMIT 1"):
            sections.append(extrapolation.section_or_reason(store, chosen, FileSystem()))
        return Report(analysis, warnings, sections, cells.side_by_side(analysis, directory))


def _of_nothing(
    described: descriptions.Description, store: Store, set_name: str, error: frames.NoRuns
) -> Report:
    """What is known beforehand is reported although nothing is measured. NoRuns if that is nothing either."""
    analysis = Analysis(described, store, frames.nothing(), set_name)
    known = truths.truths(analysis)
    if known is None or not store.rows("SELECT 1 FROM runs WHERE set_name = ? LIMIT 1", set_name):
        raise error
    return Report(analysis, [str(error), *runs.warnings(analysis)], [known], [])


def _kept(store: Store, directory: Path) -> descriptions.Description:
    return descriptions.parse(directory / FILE, store.described("description") or "")


def print_sections(out: Console, sections: Sequence[Section], *, details: bool = False) -> None:
    """Sections that hold nothing but figures and details are left out without `details`."""
    for section in sections:
        tables = [part for part in section.parts if isinstance(part, Table) and (details or not part.detail)]
        if not tables:
            continue
        out.line(section.title, bold=True)
        for table in tables:
            _print_table(out, table)
        out.line()


def _print_table(out: Console, table: Table) -> None:
    out.line(f"  {table.title}")
    if not table.rows:
        out.line("    none")
        return
    made = Sheet([Heading(column.name, text=column.kind == TEXT) for column in table.columns])
    for row in table.rows:
        made.rows.append(
            [shown(value, column.kind) for value, column in zip(row, table.columns, strict=True)]
        )
    terminal.show_whole_sheet(out, made, "    ")
