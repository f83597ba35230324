"""What causes the differences between runs: analysis of variance, and correlation with events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tare.study import statistics
from tare.study.analysis import WRITE, Analysis
from tare.study.sections import COUNT, RATIO, SHARE, NotSignificant, P, Section, Table, columns

if TYPE_CHECKING:
    import pandas as pd

SIGNIFICANCE_LEVEL = 0.05


def variation(analysis: Analysis) -> Section | None:
    rows: list[list[object]] = []
    for where, frame, factors in _designs(analysis):
        for response in analysis.responses():
            known = frame[frame[response].notna()]
            kind = analysis.description.analysis.anova_type
            for effect in statistics.anova(known, response, factors, kind):
                name = effect.name.replace("factor ", "")
                rows.append([where, response, name, effect.share, effect.degrees, effect.f, effect.p])
    if not rows:
        return None
    names = columns(
        "runs", "time", "factor", ("share of variation", SHARE), ("degrees", COUNT), ("F", RATIO), ("p", P)
    )
    kind_name = "II" if analysis.description.analysis.anova_type == 2 else "III"
    note = (
        f"n-factor analysis of variance with interactions, sums of squares of type {kind_name}, as shares of "
        "the total (where runs are missing they need not add up to 100 %). Factors that do not apply to "
        "every tool are analysed for the tools that they apply to."
    )
    full = Table("Analysis of variance", names, rows, note, detail=True)
    return Section("What causes the differences", parts=[*_shares(rows), full])


def _shares(rows: list[list[object]]) -> Iterator[Table]:
    """A table for each design: a row a factor, a column a time."""
    note = "Share of the variation that each factor explains; in brackets where p is above 5 %."
    for where in dict.fromkeys(str(row[0]) for row in rows):
        own = [row for row in rows if row[0] == where]
        times = list(dict.fromkeys(str(row[1]) for row in own))
        cells = {(row[1], row[2]): _share(row) for row in own}
        factors = dict.fromkeys(str(row[2]) for row in own)
        made = [[factor, *(cells.get((time, factor)) for time in times)] for factor in factors]
        yield Table(where, columns("factor", *((time, SHARE) for time in times)), made, note)
        note = ""


def _share(row: list[object]) -> object:
    share, p = float(str(row[3])), float(str(row[6]))
    return NotSignificant(share) if p > SIGNIFICANCE_LEVEL else share


def _designs(analysis: Analysis) -> Iterator[tuple[str, pd.DataFrame, list[str]]]:
    """Runs that cross the same factors: of a workload with all tools, and with tools that have their own."""
    runs = analysis.results.runs
    names = [f"factor {name}" for name in analysis.results.varied if name != "workload"]
    for workload, of_workload in runs.groupby("factor workload", sort=False):
        common = [name for name in names if of_workload[name].notna().all()]
        if common:
            yield str(workload), of_workload, common
        if "factor tool" not in names:
            continue
        for tool, of_tool in of_workload.groupby("factor tool", sort=False):
            own = [name for name in names if of_tool[name].notna().all() and of_tool[name].nunique() > 1]
            if set(own) - set(common):
                yield f"{workload}, {tool}", of_tool, own


def correlations(analysis: Analysis) -> Section | None:
    """Over cells that differ in ranks or size: does the time follow the events?"""
    rows: list[list[object]] = []
    every = analysis.results.runs
    runs = every[every["events_max"].notna() & (every["events_max"] > 0)]
    fixed = [
        f"factor {name}" for name in ("workload", "tool", "buffer", WRITE) if name in analysis.results.factors
    ]
    times = ["overall", "net", *(name for name in analysis.responses() if name.endswith(" wall"))]
    for levels, frame in runs.groupby(fixed, dropna=False, sort=False):
        means = frame.groupby("cell")[[*times, "events_mean", "events_max"]].mean()
        label = " ".join(str(level) for level in levels if isinstance(level, str))
        for response in times:
            by_mean = statistics.correlation(means[response].to_list(), means["events_mean"].to_list())
            by_most = statistics.correlation(means[response].to_list(), means["events_max"].to_list())
            if by_most[0] == by_most[0]:
                rows.append([label, response, by_mean[0], by_most[0], by_most[1], len(means)])
    if not rows:
        return None
    names = columns(
        "runs", "time", ("with mean events", RATIO), ("with most events", RATIO), ("p", P), ("points", COUNT)
    )
    note = "Pearson's r of mean time and events of a rank, over the combinations that differ in them."
    return Section("Time and events", parts=[Table("Correlation", names, rows, note)])
