"""Detected phases as text: a sheet of them, then their loops, each with its slowest iterations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tare import rank_numbers, units
from tare.reporters import terminal
from tare.reporters.sheet import Heading, Sheet
from tare.units import NOTHING, NS_PER_S

if TYPE_CHECKING:
    from tare.analysis.structure import LoopRow, PhaseRow, Slow
    from tare.reporters.console import Console

WITHOUT_TRACE = "No phases: this run has no trace. tare run --trace records one."
NOT_FOUND = "No phases: the trace has no calls of MPI between MPI_Init and MPI_Finalize."
HEADINGS = (
    Heading("Phase", text=True, key=True), Heading("Begins"), Heading("Takes"), Heading("MPI share"),
    Heading("Iterations"), Heading("Median", optional=True), Heading("Of phase"),
    Heading("Most time in and before", text=True),
)  # fmt: skip


def show(out: Console, rows: Sequence[PhaseRow], start_ns: int, *, is_traced: bool) -> None:
    """`start_ns`: when the run began, Unix time; times of day are shown since then."""
    if not rows:
        out.line(NOT_FOUND if is_traced else WITHOUT_TRACE)
        return
    worlds = len({row.world for row in rows})
    sheet = Sheet([*HEADINGS, *([Heading("World")] if worlds > 1 else [])])
    for row in rows:
        sheet.rows.append(_cells(row, start_ns) + ([str(row.world)] if worlds > 1 else []))
    terminal.show_sheet(out, sheet)
    for row in rows:
        for loop in row.loops:
            out.line()
            out.paragraph(_loop(row, loop))
            for slow in loop.slowest:
                out.paragraph(_slow(slow, start_ns), "  ")


def slow_cause(slow: Slow) -> str:
    """What takes longer in it than usual: "outside MPI before MPI_Send at a.c:12, on rank 3"."""
    what = "in" if slow.cause_in_call else "outside MPI before"
    return f"{what} {terminal.call(slow.cause_function, slow.cause_at)}, on rank {slow.cause_rank}"


def _cells(row: PhaseRow, start_ns: int) -> list[str]:
    loop = row.loops[0] if row.loops else None
    what = "outside MPI before " if row.outside_calls else ""
    return [
        row.phase,
        f"{(row.start_ns - start_ns) / NS_PER_S:.3f} s",
        units.duration(row.duration_ns),
        units.percent(row.mpi_share),
        units.count(loop.iterations) if loop else NOTHING,
        units.duration(loop.median_ns) if loop else NOTHING,
        units.percent(row.line_share),
        f"{what}{terminal.call(row.function, row)}",
    ]


def _loop(row: PhaseRow, loop: LoopRow) -> str:
    many = f"; {loop.slow_iterations:,} take more than twice the third quartile"
    slow = many if loop.slow_iterations else ""
    ranks = rank_numbers.named(loop.ranks)
    return (
        f"Phase {row.phase} ({row.number}): {units.number_of(loop.iterations, 'iteration')} of {ranks}, "
        f"from one call of {terminal.call(loop.function, loop)} to the next; the median is "
        f"{units.duration(loop.median_ns)}, the longest {units.duration(loop.longest_ns)}{slow}."
    )


def _slow(slow: Slow, start_ns: int) -> str:
    begins_s = (slow.start_ns - start_ns) / NS_PER_S
    return (
        f"Iteration {slow.iteration:,} at {begins_s:.3f} s takes "
        f"{units.duration(slow.duration_ns)} on rank {slow.rank}: {units.duration(slow.cause_ns)} longer "
        f"than usual {slow_cause(slow)}."
    )
