"""Messages that come before their receives are posted: MPI keeps them, and looks for each among others."""

from __future__ import annotations

from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.finding import MIN_SHARE, Finding
from tare.analysis.explain.losses import Activity, total
from tare.analysis.groups import grouped


def unexpected_messages(basis: Basis, told: Told) -> list[Finding]:
    """Lines of receives, most of which take longer than usual for their messages, because these lie there.

    What other ranks wait because of these receives is told with them.
    """
    if not basis.is_traced:
        return []
    rows = [each for each in basis.run.wait_report.unexpected if each.world == basis.world]
    found = []
    for (function, at), of in grouped(rows, lambda row: (row.function, basis.place(row.site))).items():
        messages, slow, time_ns = (
            sum(getattr(each, name) for each in of) for name in ("messages", "slow", "time_ns")
        )
        line, activity = (function, at), Activity(function, at, in_call=True)
        own = [loss for loss in told.losses.left if not loss.kind and loss.line == line]
        if 2 * slow < messages or not own or basis.share(time_ns) < MIN_SHARE:
            continue
        part = min(time_ns / total(own), 1.0)
        others = [loss for loss in told.losses.left if loss.activity == activity and loss.line != line]
        lost_ns = told.losses.take_part([*own, *others], part)
        found.append(
            Finding(
                kind="unexpected messages",
                share=basis.share(lost_ns),
                time_ns=round(lost_ns),
                lost_ns=round(lost_ns),
                function=function,
                at=at,
                ranks=tuple(sorted({each.rank for each in of if each.slow})),
                calls=messages,
                bytes_per_call=sum(each.bytes for each in of) / messages,
                queue=max(each.longest_queue for each in of),
                most_ns=time_ns / slow,
                detail=str(max(of, key=lambda each: each.messages).source),
            )
        )
    return found
