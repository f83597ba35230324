"""Sets of runs from several systems, machines or settings, with the system as a factor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tare.lab.study import frames
from tare.lab.study.analysis import Analysis
from tare.lab.study.parts import variation
from tare.lab.study.parts.variation import Design, Share
from tare.lab.study.sections import Section, Table

SYSTEM = "factor system"


def systems(analysis: Analysis) -> Section | None:
    """Mohror and Karavanic's tables 4 and 5; only combinations that all sets have."""
    results = frames.load(analysis.store, analysis.description, None)
    runs = results.runs.assign(**{SYSTEM: results.runs["set_name"]})
    sets = runs["set_name"].nunique()
    if sets < 2:
        return None
    sets_of_cell = runs.groupby("cell")["set_name"].transform("nunique")
    runs = runs[sets_of_cell == sets]
    names = [f"factor {name}" for name in results.varied if name != "workload"]
    every = [] if runs.empty else list(variation.designs(runs, [SYSTEM, *names]))
    found = [share for design in every for share in variation.shares(analysis, design)]
    if not found:
        return None
    section = Section(
        "The system as a factor",
        "Each set of runs is a system. Sets are not made in turns, so what else has changed between them "
        "counts as the system, too.",
    )
    section.parts += variation.by_design(found)
    for design in every:
        section.parts += _at_each_level(analysis, design)
    section.parts.append(variation.in_full(analysis, found))
    return section


def _at_each_level(analysis: Analysis, design: Design) -> Iterator[Table]:
    """Tables of designs with three factors, one fewer for each level of each factor but the system."""
    for fixed in design.factors:
        if fixed == SYSTEM or len(design.factors) < 3:
            continue
        rest = tuple(name for name in design.factors if name != fixed)
        found: list[Share] = []
        for level, frame in design.frame.groupby(fixed, sort=False):
            part = replace(design, name=str(level), frame=frame, factors=rest)
            found += variation.shares(analysis, part)
        title = f"{design.name}, at each {fixed.removeprefix('factor ')}"
        if found:
            table = variation.crossed(
                title, found, lambda share: f"{share.response}, {share.design.name}", ""
            )
            yield replace(table, detail=True)
