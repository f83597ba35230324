"""What keeps ranks busy outside MPI: measuring, and computing longer than the others, which wait for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tare.analysis import ranks
from tare.analysis.explain.basis import Basis, Line, Told, WaitGroup, row_place
from tare.analysis.explain.finding import MIN_SHARE, Finding
from tare.analysis.rows import UNKNOWN

# One rank is the slow one if the others are as balanced as this: mean over longest computing time.
BALANCED = 0.9


def cost_of_measuring(basis: Basis, _: Told) -> list[Finding]:
    """What recording cost, if that is much."""
    cost = ranks.total_cost(basis.run, basis.world)
    if cost.net_share < MIN_SHARE or not cost.calls:
        return []
    time_ns = round(cost.net_share * basis.total_ns)
    return [Finding(kind="cost of measuring", share=cost.net_share, time_ns=time_ns, calls=cost.calls)]


def slow_ranks(basis: Basis) -> frozenset[int]:
    """Those that compute more than the mean."""
    mean_ns = _mean(basis.useful_ns.values()) if basis.useful_ns else 0.0
    return frozenset(rank for rank, time_ns in basis.useful_ns.items() if time_ns > mean_ns)


def imbalance(basis: Basis, waits: Sequence[WaitGroup]) -> Finding | None:
    """`waits`: at which the others wait for these ranks; without a trace, where collectives take longest."""
    times = basis.useful_ns
    if len(times) < 2:
        return None
    mean_ns, most_ns = _mean(times.values()), max(times.values())
    lost_ns = (most_ns - mean_ns) * len(times)
    if basis.share(lost_ns) < MIN_SHARE:
        return None
    middle_ns = (mean_ns + most_ns) / 2
    slow = tuple(sorted(rank for rank, time_ns in times.items() if time_ns > middle_ns))
    others = [time_ns for rank, time_ns in times.items() if rank not in slow]
    is_one = len(slow) == 1 and len(others) > 1 and _mean(others) >= BALANCED * max(others)
    function, at = _where(basis, waits)
    before, before_at = _delay(waits, slow)
    slowest = max(times, key=lambda rank: times[rank])
    return Finding(
        kind="slow rank" if is_one else "load imbalance",
        share=basis.share(lost_ns),
        time_ns=round(lost_ns),
        function=function,
        at=at,
        ranks=slow,
        cause_rank=slowest,
        cause_function=before,
        cause_at=before_at,
        most_ns=most_ns,
        mean_ns=_mean(others) if others else mean_ns,
    )


def _where(basis: Basis, waits: Sequence[WaitGroup]) -> Line:
    if waits:
        return waits[0].function, waits[0].at
    collectives = [row for row in basis.lines if row.imbalance_ns]
    rows = collectives or basis.lines
    row = max(rows, key=lambda each: each.imbalance_ns or each.time_ns, default=None)
    return (row.function, row_place(row)) if row else ("", UNKNOWN)


def _delay(waits: Sequence[WaitGroup], slow: Sequence[int]) -> Line:
    """The call before which they compute: what cost the others most."""
    sums: dict[Line, int] = {}
    for group in waits:
        for (rank, function, at, in_call), time_ns in group.by_delay.items():
            if rank in slow and not in_call:
                sums[function, at] = sums.get((function, at), 0) + time_ns
    return max(sums, key=lambda each: sums[each]) if sums else ("", UNKNOWN)


def _mean(times: Collection[int]) -> float:
    return sum(times) / len(times)
