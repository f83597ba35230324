"""Events, flushes and bytes by phase and rank, as in table 2 of Mohror and Karavanic."""

from __future__ import annotations

from tare.lab.study.analysis import WRITE, Analysis
from tare.lab.study.plan import Cell
from tare.lab.study.sections import BYTES, COUNT, NUMBER, Section, Table, columns

OUTSIDE = "(in no phase)"
NOT_KNOWN = "(not known)"
# Up to so many ranks, each has its row; of more, the table of means and extremes is what can be read.
FEW_RANKS = 16
Numbers = tuple[float, float, float]  # events, flushes, bytes
ByPhase = dict[str | None, dict[int, Numbers]]  # by rank


def phases(analysis: Analysis) -> Section | None:
    """Medians of the runs; None if tare traced no run."""
    traced = [cell for cell in analysis.cells if _is_traced(analysis, cell)]
    if not traced:
        return None
    runs: dict[str, int] = {}
    found: dict[str, ByPhase] = {}
    for cell, number, phase, rank, *numbers in analysis.store.of_set("phases", analysis.set_name):
        runs[cell] = number
        events, flushes, written = numbers
        found.setdefault(cell, {}).setdefault(phase, {})[rank] = (events, flushes, written)
    summary: list[list[object]] = []
    single: list[list[object]] = []
    for cell in traced:
        label = analysis.label(cell)
        by_phase = found.get(cell.key, {})
        if not by_phase:
            summary.append([label, NOT_KNOWN, 0, None, *([None] * 9)])
        for phase, by_rank in by_phase.items():
            name = OUTSIDE if phase is None else phase
            summary.append([label, name, runs[cell.key], len(by_rank), *_over_ranks(by_rank)])
            if len(by_rank) <= FEW_RANKS:
                single += [[label, name, rank, *numbers] for rank, numbers in by_rank.items()]
    names = columns(
        "run", "phase", ("runs", COUNT), ("ranks", COUNT),
        ("events, mean", COUNT), ("fewest .. most events", COUNT), ("ranks with these events", COUNT),
        ("flushes, mean", NUMBER), ("fewest .. most flushes", COUNT), ("ranks with these flushes", COUNT),
        ("bytes, mean", BYTES), ("least .. most bytes", BYTES), ("ranks with these bytes", COUNT),
    )  # fmt: skip
    note = (
        "Medians of the runs of which they are known. Numbers are those of a rank; beside the least and the "
        "most are the ranks that have them. Phases are those that the program marks (tare_begin_phase, "
        "MPI_Pcontrol), without the phases nested in them. A flush, by a thread or by tared, counts for the "
        "phase in which it began; bytes are what it wrote. Not known: the trace is not complete, its phases "
        "were not read (only some runs are read whole), or an older tare made the results."
    )
    parts = [Table("By phase, over ranks", names, summary, note)]
    if single:
        names = columns(
            "run", "phase", ("rank", COUNT), ("events", COUNT), ("flushes", COUNT), ("bytes", BYTES)
        )
        note = f"Of runs with at most {FEW_RANKS} ranks."
        parts.append(Table("By phase and rank", names, single, note, detail=True))
    return Section("Events, flushes and bytes by phase", parts=[*parts])


def _is_traced(analysis: Analysis, cell: Cell) -> bool:
    """Whether tare wrote a trace that has events."""
    tool = analysis.description.tools[cell.level("tool")]
    by_tare = tool.counter is not None and tool.counter.kind == "tare" and tool.records == "trace"
    written = cell.by_factor.get(WRITE) != "false"
    return by_tare and written and bool((analysis.runs(cell)["events"] > 0).any())


def _over_ranks(by_rank: dict[int, Numbers]) -> list[object]:
    """The mean, the least and the most of events, flushes and bytes, and the ranks that have these."""
    result: list[object] = []
    for at in range(3):
        values = {rank: numbers[at] for rank, numbers in by_rank.items()}
        least, most = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
        result += [sum(values.values()) / len(values), (values[least], values[most]), (least, most)]
    return result
