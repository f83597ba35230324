"""The phases that the trace shows, for the page: times are nanoseconds since the start of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.analysis import structure
from tare.reporters import structure as text
from tare.reporters import terminal

if TYPE_CHECKING:
    from tare.analysis.explain.basis import Basis
    from tare.analysis.structure import LoopRow, PhaseRow
    from tare.runs.run import Run

# Of longer traces they are not looked for: it takes a tenth of a microsecond for each event.
MAX_EVENTS = 50_000_000


def of_run(run: Run, basis: Basis) -> list[dict[str, Any]]:
    """Those of the world that is explained; none of a trace that is too long to look at."""
    if not 0 < sum(process.trace.events for process in run.processes) <= MAX_EVENTS:
        return []
    rows = [row for row in structure.phases(run) if row.world == basis.world]
    kinds = list(dict.fromkeys(row.phase for row in rows))
    return [_row(row, kinds.index(row.phase), run.start_ns) for row in rows]


def _row(row: PhaseRow, kind: int, start_ns: int) -> dict[str, Any]:
    loop = row.loops[0] if row.loops else None
    most = f"{row.function} {terminal.place(row)}"
    return {
        "phase": row.phase,
        "kind": kind,
        "start_ns": row.start_ns - start_ns,
        "duration_ns": row.duration_ns,
        "mpi_share": row.mpi_share,
        "most": f"outside MPI before {most}" if row.outside_calls else most,
        "line_share": row.line_share,
        "loop": f"{loop.function} {terminal.place(loop)}" if loop else None,
        "iterations": loop.iterations if loop else None,
        "median_ns": loop.median_ns if loop else None,
        "longest_ns": loop.longest_ns if loop else None,
        "slow": [slow for each in row.loops for slow in _slow(row.phase, each, start_ns)],
    }


def _slow(phase: str, loop: LoopRow, start_ns: int) -> list[dict[str, Any]]:
    return [
        {
            "phase": phase,
            "iteration": each.iteration,
            "rank": each.rank,
            "start_ns": each.start_ns - start_ns,
            "duration_ns": each.duration_ns,
            "mpi_ns": each.mpi_ns,
            "cause": text.slow_cause(each),
            "cause_ns": each.cause_ns,
        }
        for each in loop.slowest
    ]
