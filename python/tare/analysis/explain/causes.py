"""The wait states of a run as findings: by their cause if that is known, else by their kind."""

from __future__ import annotations

from tare.analysis.explain import computing, waiting
from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.finding import MIN_SHARE, Finding


def of_waits(basis: Basis, told: Told) -> list[Finding]:
    """The findings of the waits that are not told yet. Each is told once."""
    found = []
    left = groups = told.waits
    told.waits = []
    serial = waiting.serialised(basis, left)
    if serial:
        found.append(serial)
        left = [group for group in left if group.kind not in waiting.OF_MESSAGES]
    hot = waiting.hot_spot(basis, left)
    if hot:
        found.append(hot)
        hub = hot.cause_rank
        left = [
            group
            for group in left
            if group.kind not in waiting.OF_MESSAGES or 2 * group.by_cause.get(hub or 0, 0) < group.wait_ns
        ]
    slow = computing.slow_ranks(basis)
    of_all = [group for group in left if group.kind in waiting.OF_ALL]
    for_slow = [group for group in of_all if 2 * waiting.caused_by([group], slow) >= group.wait_ns]
    uneven = computing.imbalance(basis, for_slow)
    others = [group for group in left if group not in of_all]
    # Ranks that compute longer are the cause of waits for messages, which say more.
    reported = [*others, *(groups if serial or hot else ())]
    is_reported = uneven and 2 * waiting.caused_by(reported, slow) >= uneven.time_ns
    if uneven and not is_reported:
        found.append(uneven)
        left = [group for group in left if group not in for_slow]
    found += [waiting.of_group(basis, group) for group in left if basis.share(group.wait_ns) >= MIN_SHARE]
    return found
