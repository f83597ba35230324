"""The cells of a study beside one another: their levels, their times, and the runs that were kept of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.analysis.intervals import Interval
from tare.lab.study.analysis import Analysis, Pair
from tare.lab.study.description import BY_REFEREE
from tare.runs.metadata import META

# How deep a tool may put what it writes below the directory that is kept of a run.
DEPTH = 2


@dataclass(frozen=True)
class Overhead:
    """The overhead of a cell in one response, compared with the baseline."""

    relative: Interval | None  # share of the baseline; None: not determined
    verdict: str  # in words
    more: float | None = None  # seconds; None: not known


@dataclass(frozen=True)
class CellFigures:
    """The figures of one cell, as report.json has them."""

    label: str
    levels: dict[str, str]  # levels of the factors that matter to it
    runs: int  # number of runs
    is_baseline: bool
    times: dict[str, Interval]  # seconds, by response
    overheads: dict[str, Overhead]  # by response; empty for the baseline
    kept: list[Path]  # run directories of tare


def side_by_side(analysis: Analysis, directory: Path) -> list[CellFigures]:
    """The figures of the cells in the order of the description; `directory`: that of the results."""
    pairs = {pair.cell.key: pair for pair in analysis.pairs()}
    kept = _kept_runs(analysis, analysis.description.place_of_outputs(directory))
    made = []
    for cell in analysis.cells:
        runs, pair = analysis.runs(cell), pairs.get(cell.key)
        made.append(
            CellFigures(
                analysis.label(cell),
                {name: level for name, level in cell.levels if level is not None},
                len(runs),
                cell.by_factor.get("tool") == analysis.description.baseline,
                {
                    response: analysis.interval(known)
                    for response in analysis.responses()
                    if len(known := runs[response].dropna().to_list())
                },
                _overheads(analysis, pair) if pair is not None else {},
                kept.get(cell.key, []),
            )
        )
    return made


def _overheads(analysis: Analysis, pair: Pair) -> dict[str, Overhead]:
    paired = {response: analysis.paired(pair, response) for response in analysis.responses()}
    found = {
        response: Overhead(each.relative, analysis.verdict(each), each.difference.median)
        for response, each in paired.items()
        if each is not None
    }
    refereed = analysis.refereed(pair.cell)
    if refereed is not None:
        found[BY_REFEREE] = Overhead(refereed.overhead, refereed.verdict)
    return found


def _kept_runs(analysis: Analysis, place: Path) -> dict[str, list[Path]]:
    """What the study kept of its runs, by cell (keep_output), as far as tare has written it."""
    found: dict[str, list[Path]] = {}
    for number, cell in zip(analysis.results.runs["run"], analysis.results.runs["cell"], strict=True):
        runs = run_directories(place / f"run-{number}")
        if runs:
            found.setdefault(cell, []).extend(runs)
    return found


def run_directories(output: Path) -> Sequence[Path]:
    """Run directories of tare in what a tool has written, and that directory itself if it is one."""
    patterns = ["/".join(["*"] * depth + [META]) for depth in range(DEPTH + 1)]
    return sorted(meta.parent for pattern in patterns for meta in output.glob(pattern))
