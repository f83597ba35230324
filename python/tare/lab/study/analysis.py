"""One set of results, in the arrangement that tables and figures ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.analysis.groups import grouped
from tare.analysis.intervals import Interval, coverage, median_interval, pooled_interval, samples_needed
from tare.errors import UsageError
from tare.lab.study import plan, statistics
from tare.lab.study.description import BY_REFEREE, WRITING, Description
from tare.lab.study.frames import MOST, Results, load
from tare.lab.study.plan import Cell
from tare.lab.study.referee.tools import reason_not_weighable
from tare.lab.study.store import Store

if TYPE_CHECKING:
    import pandas as pd

WRITE = "write"
NOT_DETERMINED = "not determined"


@dataclass(frozen=True)
class Pair:
    """A cell and its baseline, with the runs of the blocks that have both."""

    cell: Cell
    label: str  # name of the cell in the report
    ours: pd.DataFrame  # runs of the cell
    bare: pd.DataFrame  # runs of the baseline


@dataclass(frozen=True)
class Split:
    """A cell that writes, the same cell without writing, and its baseline; all with the same blocks."""

    pair: Pair  # the cell that writes, and the baseline
    silent: pd.DataFrame  # runs of the cell without writing

    def part(self, of: str, response: str) -> pd.Series[float]:
        """Seconds of a part of the overhead, by block: of recording without writing, or of writing."""
        if of == WRITING:
            return self.pair.ours[response] - self.silent[response]
        return self.silent[response] - self.pair.bare[response]


@dataclass(frozen=True)
class Refereed:
    """What a cell's tool costs by the referee, from spells within runs of their own (docs/referee.md)."""

    overhead: Interval | None  # mean of the runs that have a result, a share; None: not determined
    verdict: str  # in words

    @property
    def shown(self) -> tuple[object, object]:
        """The overhead and its interval, as tables have them."""
        of = self.overhead
        return (NOT_DETERMINED, None) if of is None else (of.median, (of.low, of.high))


class Analysis:
    """The results of a study, as the sections of its report need them. Runs are data frames (frames.py)."""

    def __init__(self, description: Description, store: Store, results: Results, set_name: str) -> None:
        self.description = description
        self.store = store
        self.results = results
        self.set_name = set_name
        self.confidence = description.analysis.confidence
        self.bound = description.analysis.equivalence
        self.precision = description.analysis.precision
        self.cells = [cell for cell in plan.cells(description) if cell.key in set(results.runs["cell"])]
        self._by_cell = {key: frame for key, frame in results.runs.groupby("cell", sort=False)}
        self._by_referee = grouped(store.of_set("refereed", set_name), lambda row: str(row[0]))
        wanted = description.analysis.responses
        # Whether the report has what the referee says.
        self.has_referee = bool(self._by_referee or description.referee) and (
            not wanted or BY_REFEREE in wanted
        )

    def runs(self, cell: Cell) -> pd.DataFrame:
        """The runs of a cell, one row each."""
        frame: pd.DataFrame = self._by_cell[cell.key]
        return frame

    def label(self, cell: Cell) -> str:
        """A cell as text: the levels of the factors that vary, or its workload."""
        return cell.label(frozenset(self.results.varied)) or cell.level("workload")

    def short_label(self, cell: Cell) -> str:
        """The label of a cell where the workload is known."""
        varied = frozenset(self.results.varied) - {"workload"}
        return cell.label(varied) or cell.level("tool")

    def responses(self) -> list[str]:
        """Those that the description asks for, by name or phase."""
        return [name for name in self.results.responses() if self.description.analyses(name)]

    def timed_cells(self) -> list[Cell]:
        """Those that have a net time: of programs with MPI."""
        return [cell for cell in self.cells if self.runs(cell)["net"].notna().any()]

    def timed_by_workload(self) -> dict[str, list[Cell]]:
        """The cells with times, by workload."""
        return grouped(self.timed_cells(), lambda cell: cell.level("workload"))

    def pairs(self) -> Iterator[Pair]:
        """Each cell with its baseline, as far as both have runs in the same blocks."""
        for cell in self.cells:
            base = plan.baseline_of(self.description, cell)
            if base is None or base == cell or base.key not in self._by_cell:
                continue
            ours, bare = self.runs(cell).set_index("block"), self.runs(base).set_index("block")
            blocks = ours.index.intersection(bare.index)
            if len(blocks):
                yield Pair(cell, self.label(cell), ours.loc[blocks], bare.loc[blocks])

    def timed_pairs(self) -> dict[str, list[Pair]]:
        """The pairs of which both sides have net times, by workload."""
        timed = (each for each in self.pairs() if (each.ours["net"].notna() & each.bare["net"].notna()).any())
        return grouped(timed, lambda pair: pair.cell.level("workload"))

    def splits(self) -> Iterator[Split]:
        """The splits of cells with `write` at "true" whose silent twin has runs in the same blocks."""
        for pair in self.pairs():
            if pair.cell.by_factor.get(WRITE) != "true":
                continue
            levels = tuple((name, "false" if name == WRITE else level) for name, level in pair.cell.levels)
            silent = self._by_cell.get(Cell(levels).key)
            if silent is None:
                continue
            silent = silent.set_index("block")
            blocks = pair.ours.index.intersection(silent.index)
            if len(blocks):
                of_blocks = Pair(pair.cell, pair.label, pair.ours.loc[blocks], pair.bare.loc[blocks])
                yield Split(of_blocks, silent.loc[blocks])

    def paired(self, pair: Pair, response: str) -> statistics.Paired | None:
        """None where the program or the bare one does not have this time, or it is 0."""
        ours, bare = pair.ours[response], pair.bare[response]
        known = (ours.notna() & bare.notna() & (bare > 0)).to_numpy()
        if not known.any():
            return None
        ours, bare = ours[known], bare[known]
        return statistics.paired(ours.to_list(), bare.to_list(), self.confidence, self.bound, self.precision)

    def known(
        self, response: str, pairs: Iterable[Pair] | None = None
    ) -> Iterator[tuple[Pair, statistics.Paired]]:
        """The pairs, or these of them, of which both sides have this time, compared."""
        for pair in self.pairs() if pairs is None else pairs:
            if (found := self.paired(pair, response)) is not None:
                yield pair, found

    def refereed(self, cell: Cell) -> Refereed | None:
        """What runs under the referee say of a cell with a tool; None if there are none of its program."""
        if not self.has_referee or not self.description.workloads[cell.level("workload")].mpi:
            return None
        rows = [row[1:] for row in self._by_referee.get(cell.key, [])]
        known = [
            row[:3] for row in rows if None not in row[:3] and all(abs(each) <= MOST for each in row[:3])
        ]
        if known:
            half_widths = [(high - low) / 2 for _, low, high in known]
            overhead = pooled_interval([each for each, _, _ in known], half_widths)
            return Refereed(overhead, self._verdict_by_referee(overhead))
        tool = self.description.tools[cell.level("tool")]
        why = reason_not_weighable(tool, cell.by_factor) or (
            str(rows[-1][3]) if rows else "no run under the referee ended well"
        )
        return Refereed(None, f"{NOT_DETERMINED}: {why}")

    def _verdict_by_referee(self, overhead: Interval) -> str:
        if -self.bound < overhead.low and overhead.high < self.bound:
            return f"none beyond ±{100 * self.bound:g} %"
        if overhead.high < 0:
            return "faster"
        if overhead.high < self.bound:
            return f"below {100 * self.bound:g} %"
        return "slower" if overhead.low > 0 else "not decided"

    def referee_note(self) -> str:
        """A note below tables that have what the referee says; empty if they have not."""
        if not self.has_referee:
            return ""
        return (
            f" {BY_REFEREE.capitalize()}: from spells with and without the tool within the same runs, which "
            "are none of those above; the mean of the runs, with an interval of 95 % that is made of theirs, "
            "and of how much they scatter. "
            "Calls that make, free or change an object, MPI_Init and MPI_Finalize are not in it "
            "(docs/referee.md)."
        )

    def verdict(self, found: statistics.Paired) -> str:
        """What the tests of a pair say of its overhead, in a few words.

        The tests are of the mean, and reports show the median: a verdict is given where it is true of both.
        """
        alpha, median = 1 - self.confidence, found.relative.median
        if found.p_equivalent < alpha and abs(median) < self.bound:
            return f"none beyond ±{100 * self.bound:g} %"
        # Before the bound: what is faster is below it, too.
        if found.p_difference < alpha and found.mean < 0 and median < 0:
            return "faster"
        if found.p_overhead_below < alpha and median < self.bound:
            return f"below {100 * self.bound:g} %"
        if found.p_difference < alpha and found.mean > 0 and median > 0:
            return "slower"
        return "not decided"

    def interval(self, values: Iterable[float]) -> Interval:
        """The median and its confidence interval, in the unit of the values."""
        return median_interval(list(values), self.confidence)

    def interval_note(self) -> str:
        """A note below tables; says so if the blocks are too few for the confidence asked for."""
        text = f"Intervals of {100 * self.confidence:g} % between order statistics of the blocks"
        few = min((len(pair.ours) for pair in self.pairs()), default=0)
        needed = samples_needed(self.confidence)
        if few >= needed or few == 0:
            return f"{text}."
        if few == 1:
            return f"{text}; one block gives none, {needed} are needed."
        covered = f"{100 * coverage(few, 0):.0f} %"
        return f"{text}; {few} blocks give their range, which covers {covered}: {needed} are needed."


def times_to_know(description: Description, workload: str) -> list[str]:
    """The times in which `--until` wants to know the overheads of a workload: the net time.

    A program without MPI has none: those that it prints, or else that of its command, if they are analysed.
    """
    described = description.workloads[workload]
    if described.mpi:
        return ["net"]
    printed = [f"{each.phase} {each.quantity}" for each in described.measures if each.phase]
    found = [[time for time in times if description.analyses(time)] for times in (printed, ["overall"])]
    return found[0] or found[1]


def check_overheads_to_know(description: Description) -> None:
    """UsageError if runs of the study can never reach the precision that `--until` asks for."""
    cells = dict.fromkeys(plan.cells(description))
    bare = ((cell, plan.without_tool(description, cell)) for cell in cells)
    compared = dict.fromkeys(cell.level("workload") for cell, base in bare if base != cell and base in cells)
    if not compared:
        raise UsageError(f"--until: {description.path} compares no tool with the baseline")
    for workload in compared:
        if not times_to_know(description, workload):
            raise UsageError(
                f"--until: workload '{workload}' of {description.path} has no net time, as it has no MPI, "
                "and analysis.responses names no other time of it"
            )


def is_precise(store: Store, description: Description, set_name: str, half_width: float) -> bool:
    """Whether the interval of every cell's overhead is no wider than `half_width` on either side (`--until`).

    `half_width` is a share of the bare time. Cells without a run that ended well are left out.
    """
    results = load(store, description, set_name)
    analysis = Analysis(description, store, results, set_name)
    needed = samples_needed(analysis.confidence)
    overheads = [
        (pair.ours[time] / pair.bare[time].where(pair.bare[time] > 0) - 1).dropna()
        for pair in analysis.pairs()
        for time in times_to_know(description, pair.cell.level("workload"))
        if time in results.runs
    ]
    known = [each for each in overheads if len(each)]
    return bool(known) and all(
        len(each) >= needed and analysis.interval(each).half_width <= half_width for each in known
    )
