"""What causes the differences between runs: analysis of variance, and correlation with events; and the same
of sets of runs from several systems, machines or settings, with the system as a factor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tare.analysis.groups import grouped
from tare.lab.study import frames, statistics
from tare.lab.study.analysis import WRITE, Analysis
from tare.lab.study.description import RESIDUALS
from tare.lab.study.sections import COUNT, RATIO, SHARE, NotSignificant, P, Section, Table, columns
from tare.lab.study.statistics import Effect

if TYPE_CHECKING:
    import pandas as pd

SIGNIFICANCE_LEVEL = 0.05
# Mohror and Karavanic's table 7 leaves out what explains less, in all columns.
WORTH_SHOWING = 0.1


@dataclass(frozen=True)
class Design:
    """Runs in which the same factors are crossed."""

    name: str
    frame: pd.DataFrame  # one row for each run; factors are columns
    factors: tuple[str, ...]
    of_tool: bool = False  # all runs are of one tool, and vary factors that other tools do not have


@dataclass(frozen=True)
class Share:
    """The share of the variation of a time that one factor, or an interaction of several, explains."""

    design: Design
    response: str  # name of the time
    effect: Effect

    @property
    def factor(self) -> str:
        """The factor, or the combination of factors."""
        return self.effect.name.replace("factor ", "")

    def shown(self) -> object:
        """The share of the variation, marked if it is not significant."""
        share = self.effect.share
        return NotSignificant(share) if self.effect.p > SIGNIFICANCE_LEVEL else share


def variation(analysis: Analysis) -> Section | None:
    """Which factors explain the variation of times, by analysis of variance; None if no factor varies."""
    names = [f"factor {name}" for name in analysis.results.varied if name != "workload"]
    found = [share for design in designs(analysis.results.runs, names) for share in shares(analysis, design)]
    if not found:
        return None
    tables = [*by_design(found), *_side_by_side(analysis, found), in_full(analysis, found)]
    return Section("What causes the differences", parts=[*tables])


def designs(runs: pd.DataFrame, names: Sequence[str]) -> Iterator[Design]:
    """The designs of a workload with all tools, and of each tool that has factors of its own."""
    for workload, of_workload in runs.groupby("factor workload", sort=False):
        common = tuple(name for name in names if of_workload[name].notna().all())
        if common:
            yield Design(str(workload), of_workload, common)
        if "factor tool" not in names:
            continue
        for tool, of_tool in of_workload.groupby("factor tool", sort=False):
            own = [name for name in names if of_tool[name].notna().all() and of_tool[name].nunique() > 1]
            if set(own) - set(common):
                yield Design(f"{workload}, {tool}", of_tool, tuple(own), of_tool=True)


def shares(analysis: Analysis, design: Design, responses: Sequence[str] | None = None) -> Iterator[Share]:
    """The share of each factor and combination in the variation of each response (statistics.anova).

    `responses`: those of the runs that count; None: those that the description asks for.
    """
    kind = analysis.description.analysis.anova_type
    for response in analysis.responses() if responses is None else responses:
        known = design.frame[design.frame[response].notna()]
        for effect in statistics.anova(known, response, design.factors, kind):
            yield Share(design, response, effect)


def by_design(found: Iterable[Share]) -> Iterator[Table]:
    """A table for each design: a row a factor, a column a time."""
    note = "Share of the variation that each factor explains; in brackets where p is above 5 %."
    for name, own in grouped(found, lambda share: share.design.name).items():
        yield crossed(name, own, lambda share: share.response, note)
        note = ""


def crossed(title: str, found: Sequence[Share], column: Callable[[Share], str], note: str) -> Table:
    """A row a factor, and a column for each of what `column` makes of the shares."""
    made = list(dict.fromkeys(column(share) for share in found))
    cells = {(column(share), share.factor): share.shown() for share in found}
    factors = sorted(dict.fromkeys(share.factor for share in found), key=_order)
    rows = [[factor, *(cells.get((name, factor)) for name in made)] for factor in factors]
    return Table(title, columns("factor", *((name, SHARE) for name in made)), rows, note)


def _order(factor: str) -> tuple[bool, int]:
    """Main effects before what several have together, and what nothing explains at the end."""
    return factor == RESIDUALS, factor.count(":")


def _side_by_side(analysis: Analysis, found: Sequence[Share]) -> Iterator[Table]:
    """Mohror and Karavanic's table 7: a column for each program and tool."""
    for response in analysis.responses():
        own = [share for share in found if share.design.of_tool and share.response == response]
        if len({share.design.name for share in own}) < 2:
            continue
        large = {share.factor for share in own if share.effect.share > WORTH_SHOWING} | {RESIDUALS}
        shown = [share for share in own if share.factor in large]
        note = f"Factors that explain more than {100 * WORTH_SHOWING:g} % in a column."
        yield crossed(f"Programs and tools: {response}", shown, lambda share: share.design.name, note)


def in_full(analysis: Analysis, found: Iterable[Share]) -> Table:
    """The table of all shares, with degrees of freedom, F and p."""
    rows = [
        [
            share.design.name, share.response, share.factor, share.effect.share, share.effect.degrees,
            share.effect.f, share.effect.p,
        ]
        for share in found
    ]  # fmt: skip
    names = columns(
        "runs", "time", "factor", ("share of variation", SHARE), ("degrees", COUNT), ("F", RATIO), ("p", P)
    )
    kind = "II" if analysis.description.analysis.anova_type == 2 else "III"
    note = (
        f"n-factor analysis of variance with interactions, sums of squares of type {kind}, as shares of "
        "the total (where runs are missing they need not add up to 100 %). Factors that do not apply to "
        "every tool are analysed for the tools that they apply to."
    )
    return Table("Analysis of variance", names, rows, note, detail=True)


def correlations(analysis: Analysis) -> Section | None:
    """Whether the time follows the events, over cells that differ in ranks or size."""
    rows: list[list[object]] = []
    by_most_events: dict[str, dict[str, dict[str, float]]] = {}  # by time, other levels, program and tool
    every = analysis.results.runs
    runs = every[every["events_max"].notna() & (every["events_max"] > 0)]
    fixed = [
        f"factor {name}" for name in ("workload", "tool", "buffer", WRITE) if name in analysis.results.factors
    ]
    times = ["overall", "net", *(name for name in analysis.responses() if name.endswith(" wall"))]
    for levels, frame in runs.groupby(fixed, dropna=False, sort=False):
        means = frame.groupby("cell")[[*times, "events_mean", "events_max"]].mean()
        label = " ".join(str(level) for level in levels if isinstance(level, str))
        program = ", ".join(str(level) for level in levels[:2])
        others = " ".join(
            f"{name.removeprefix('factor ')}={level}"
            for name, level in zip(fixed[2:], levels[2:], strict=True)
            if isinstance(level, str)
        )
        for response in times:
            by_mean = statistics.correlation(means[response].to_list(), means["events_mean"].to_list())
            by_most = statistics.correlation(means[response].to_list(), means["events_max"].to_list())
            if by_most[0] == by_most[0]:
                rows.append([label, response, by_mean[0], by_most[0], by_most[1], len(means)])
                by_most_events.setdefault(response, {}).setdefault(others, {})[program] = by_most[0]
    if not rows:
        return None
    names = columns(
        "runs", "time", ("with mean events", RATIO), ("with most events", RATIO), ("p", P), ("points", COUNT)
    )
    note = "Pearson's r of mean time and events of a rank, over the combinations that differ in them."
    table = Table("Correlation", names, rows, note, detail=True)
    return Section("Time and events", parts=[*_by_most_events(by_most_events), table])


def _by_most_events(found: dict[str, dict[str, dict[str, float]]]) -> Iterator[Table]:
    """Mohror and Karavanic's table 8: a column for each program and tool."""
    note = (
        "Pearson's r of the mean time with the most events of a rank, over the numbers of ranks and sizes. "
        "Of three points it is near 1 or -1 by chance, too: the long table has p."
    )
    for response, by_others in found.items():
        programs = list(dict.fromkeys(program for row in by_others.values() for program in row))
        rows: list[list[object]] = [
            [others, *(row.get(program) for program in programs)] for others, row in by_others.items()
        ]
        names = columns("levels", *((program, RATIO) for program in programs))
        yield Table(f"Correlation with the most events of a rank: {response}", names, rows, note)
        note = ""


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
    every = [] if runs.empty else list(designs(runs, [SYSTEM, *names]))
    found = [share for design in every for share in shares(analysis, design)]
    if not found:
        return None
    section = Section(
        "The system as a factor",
        "Each set of runs is a system. Sets are not made in turns, so what else has changed between them "
        "counts as the system, too.",
    )
    section.parts += by_design(found)
    for design in every:
        section.parts += _at_each_level(analysis, design)
    section.parts.append(in_full(analysis, found))
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
            found += shares(analysis, part)
        title = f"{design.name}, at each {fixed.removeprefix('factor ')}"
        if found:
            table = crossed(title, found, lambda share: f"{share.response}, {share.design.name}", "")
            yield replace(table, detail=True)
