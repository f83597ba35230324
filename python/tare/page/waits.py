"""What the trace shows: wait states by line, and phases with their loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tare.analysis import structure
from tare.analysis.groups import added
from tare.analysis.rows import fields
from tare.page.call_sites import place
from tare.reporters import structure as text
from tare.reporters import terminal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tare._native import Timeline
    from tare.analysis.explain.basis import Basis, WaitGroup
    from tare.analysis.rows import Placed
    from tare.analysis.structure import LoopRow, PhaseRow
    from tare.page.instances import Instances
    from tare.runs.run import Run

# So many ranks and delays of a line are listed.
LISTED = 12


def of_basis(basis: Basis, worst: Instances | None) -> list[dict[str, Any]]:
    """A row for each kind of wait and line, the longest first; none without a trace."""
    by_time: dict[tuple[str, str, Placed], list[float]] = {}
    for root in basis.root_sums:
        sums = by_time.setdefault(
            (root.kind, root.function, basis.place(root.site)), [0.0] * len(root.by_time)
        )
        for i, time_ns in enumerate(root.by_time):
            sums[i] += time_ns
    return [
        {
            **_row(group, basis),
            "by_time": by_time.get((group.kind, group.function, group.at), []),
            "worst": worst and worst.of_wait(group.function, group.at, group.kind),
        }
        for group in basis.waits
    ]


def places(basis: Basis) -> Iterable[Placed]:
    """Whose source text is shown."""
    for group in basis.waits:
        yield group.at
        yield from (at for _, _, at, _ in _longest(group.by_delay))


def _row(group: WaitGroup, basis: Basis) -> dict[str, Any]:
    by_root = added((rank, cost_ns) for (rank, *_), cost_ns in group.by_delay.items())
    cause, cause_ns = next(iter(_longest(by_root).items()), (None, 0))
    return {
        "kind": group.kind,
        "function": group.function,
        **place(group.at),
        "waits": group.waits,
        "wait_ns": group.wait_ns,
        "share": basis.share(group.wait_ns * basis.weight((group.function, group.at))),
        "ranks": len(group.of_rank),
        "waiting": [[rank, time_ns] for rank, time_ns in _longest(group.of_rank).items()],
        "causes": [[rank, time_ns] for rank, time_ns in _longest(group.by_cause).items()],
        "cause": cause,
        "cause_share": cause_ns / group.wait_ns if group.wait_ns else 0.0,
        "delays": [
            {"rank": rank, "function": function, **place(at), "in_call": in_call, "cost_ns": cost_ns}
            for (rank, function, at, in_call), cost_ns in _longest(group.by_delay).items()
        ],
    }


def _longest(sums: dict[Any, int]) -> dict[Any, int]:
    return dict(sorted(sums.items(), key=lambda each: -each[1])[:LISTED])


# Of longer traces they are not looked for: it takes a tenth of a microsecond for each record.
MAX_PHASE_RECORDS = 50_000_000


# Points of a curve, and of how many phases there are curves: of those that take longest.
MAX_POINTS, MAX_CURVES = 400, 6


def phases(run: Run, basis: Basis, timeline: Timeline | None) -> list[dict[str, Any]]:
    """Those of the world that is explained; none of a trace that is too long to look at.

    With the timeline, how the iterations of their main loops go on.
    """
    if not 0 < sum(process.trace.records for process in run.processes) <= MAX_PHASE_RECORDS:
        return []
    rows = [row for row in structure.phases(run) if row.world == basis.world]
    kinds = list(dict.fromkeys(row.phase for row in rows))
    found = [_phase(row, kinds.index(row.phase), run.start_ns) for row in rows]
    if timeline is not None:
        longest = sorted((i for i in range(len(rows)) if rows[i].loops), key=lambda i: -rows[i].duration_ns)
        for i in longest[:MAX_CURVES]:
            found[i]["curve"] = _curve(run, rows[i], timeline)
    return found


def _curve(run: Run, row: PhaseRow, timeline: Timeline) -> dict[str, Any]:
    """Each point is an instance (instances.py)."""
    ranks = set(row.loops[0].ranks)
    loops = [
        loop
        for loop in run.structure.loops
        if (loop.world, loop.number) == (row.world, row.number) and loop.rank in ranks
    ]
    names = ("number", "row", "start_ns", "longest_ns", "imbalance_ns", "waiting_ns")
    points = [fields(point, names) for point in timeline.curve(loops, MAX_POINTS)]
    return {name: [point[name] for point in points] for name in names}


def _phase(row: PhaseRow, kind: int, start_ns: int) -> dict[str, Any]:
    loop = row.loops[0] if row.loops else None
    most = f"{row.function} {terminal.place(row)}"
    return {
        **fields(row, ("phase", "duration_ns", "mpi_share", "line_share")),
        "kind": kind,
        "start_ns": row.start_ns - start_ns,
        "most": f"outside MPI before {most}" if row.outside_calls else most,
        "loop": f"{loop.function} {terminal.place(loop)}" if loop else None,
        **{name: getattr(loop, name, None) for name in ("iterations", "median_ns", "longest_ns")},
        "slow": [
            {"world": row.world} | slow for each in row.loops for slow in _slow(row.phase, each, start_ns)
        ],
    }


def _slow(phase: str, loop: LoopRow, start_ns: int) -> list[dict[str, Any]]:
    return [
        {
            "phase": phase,
            "start_ns": each.start_ns - start_ns,
            **fields(each, ("iteration", "rank", "duration_ns", "mpi_ns", "cause_ns")),
            "cause": text.slow_cause(each),
        }
        for each in loop.slowest
    ]
