"""Ranks that could have run, but had no processor."""

from __future__ import annotations

from collections.abc import Sequence

from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.calls import main_line
from tare.analysis.explain.finding import MIN_SHARE, NAMED, Finding
from tare.analysis.explain.losses import Loss, total


def no_processor(basis: Basis, told: Told) -> list[Finding]:
    """What ranks lose because one of them, or another rank that they wait for, had no processor.

    They share processors, or something else ran on these. If nobody waits much for them, or if it is not
    known without a trace, only their own time is told.
    """
    crowd = basis.crowd
    own_ns = [
        (each.rank, each.scheduling.descheduled_ns)
        for each in basis.processes
        if crowd is None or each.rank in crowd.ranks
    ]
    losses: Sequence[Loss] = told.losses.descheduled
    if basis.share(total(losses)) < MIN_SHARE:
        losses = []
    time_ns = total(losses) if losses else sum(ns for _, ns in own_ns)
    share = basis.share(time_ns) if losses else basis.share_of_all(time_ns)
    if share < MIN_SHARE:
        return []
    told.losses.take(losses)
    least_ns = NAMED * max(ns for _, ns in own_ns)
    late = tuple(rank for rank, ns in own_ns if rank >= 0 and ns >= least_ns)  # none without MPI
    found = Finding(
        kind="oversubscription" if crowd else "descheduled",
        share=share,
        time_ns=round(time_ns),
        lost_ns=round(total(losses)),
        ranks=crowd.ranks if crowd else late,
        calls=crowd.processors if crowd else 0,
        threads=crowd.threads if crowd else None,
        most_ns=sum(ns for _, ns in own_ns),
        detail="another world" if basis.other_worlds else "",
    )
    return [main_line(losses, found) if losses else found]
