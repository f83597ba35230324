"""What keeps ranks busy outside MPI: measuring, and computing longer than the others, which wait for them."""

from __future__ import annotations

from collections.abc import Iterable

from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.calls import polls_in_vain
from tare.analysis.explain.finding import MIN_SHARE, Finding
from tare.analysis.explain.losses import Line, Loss, total
from tare.analysis.explain.waiting import is_one_slow, slow_of
from tare.analysis.groups import added
from tare.analysis.ranks import ENDED_EARLY
from tare.analysis.rows import UNKNOWN


def cost_of_measuring(basis: Basis, _: Told) -> list[Finding]:
    """What recording cost, if that is much."""
    cost = basis.run.total_cost(basis.world)
    if cost.net_share < MIN_SHARE or not cost.calls:
        return []
    polls = sum(row.calls for row in polls_in_vain(basis))
    return [
        Finding(
            kind="cost of measuring",
            share=cost.net_share,
            time_ns=round(cost.net_share * basis.total_ns),
            calls=cost.calls,
            here_share=min(polls / cost.calls, 1.0),
        )
    ]


def imbalance(basis: Basis, told: Told, told_ns: int = 0, at_least: float = 0.0) -> Finding | None:
    """What ranks lose because one computes longer than the mean (POP's load balance), by their profile.

    Of this, `told_ns` is told already. The rest is found if it is this share of what is left, from 0 to 1.
    """
    off_ns = {process.rank: process.scheduling.descheduled_outside_ns for process in basis.processes}
    cut_off = {
        process.rank
        for process in basis.processes
        if not process.finalized and process.net_ns < ENDED_EARLY * basis.net_ns
    }
    times = {rank: max(ns - off_ns[rank], 0) for rank, ns in basis.useful_ns.items() if rank not in cut_off}
    if len(times) < 2:
        return None
    mean_ns, most_ns = sum(times.values()) / len(times), max(times.values())
    left = total(told.losses.left)
    late_ns = round((most_ns - mean_ns) * len(times)) - told_ns
    # A rank that had no processor is early by more than it waits.
    lost_ns = min(late_ns, int(left + told.elsewhere_ns))
    if basis.share(lost_ns) < MIN_SHARE:
        return None
    slow = slow_of(times)
    others = [time_ns for rank, time_ns in times.items() if rank not in slow]
    # Most of it may be in no line.
    function, at = ("", UNKNOWN) if 2 * left < lost_ns else _main_line(basis, told.losses.left)
    # It is not known in which calls the others wait: their share is taken of each.
    part = min(lost_ns / left, 1.0) if left else 1.0
    if part < at_least:
        return None
    for loss in told.losses.left:
        loss.scale(1 - part)
    told.elsewhere_ns -= max(lost_ns - left, 0.0)
    cause = max(times, key=lambda rank: times[rank])
    blocked_ns = {process.rank: process.scheduling.blocked_outside_ns for process in basis.processes}
    usual_ns = sum(blocked_ns.values()) / len(blocked_ns)
    longer_ns = most_ns - mean_ns
    return Finding(
        kind="slow rank" if is_one_slow(times, slow) else "load imbalance",
        share=basis.share(lost_ns),
        time_ns=lost_ns,
        lost_ns=lost_ns,
        function=function,
        at=at,
        ranks=slow,
        cause_rank=cause,
        cause_blocked=basis.share_blocked(
            cause, max(blocked_ns[cause] - usual_ns, 0.0) / longer_ns, longer_ns
        ),
        most_ns=most_ns,
        mean_ns=sum(others) / len(others) if others else mean_ns,
    )


def _main_line(basis: Basis, losses: Iterable[Loss]) -> Line:
    """The line in which most is lost: of collectives it is known what is waiting, of others it may be all."""
    waits_ns = {basis.line_of_row(row): row.imbalance_ns for row in basis.lines if row.imbalance_ns}
    lost_ns = added((loss.line, loss.time_ns) for loss in losses)
    most = {line: min(time_ns, waits_ns.get(line, time_ns)) for line, time_ns in lost_ns.items()}
    return max(most, key=lambda line: most[line], default=("", UNKNOWN))
