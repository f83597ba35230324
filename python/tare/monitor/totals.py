"""The last rounds of several hosts as one: what each event has had since the start, over all ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable

from tare.runs.rounds import Event, Kind, Round, Statistic


def of_rounds(rounds: Iterable[Round]) -> list[Event]:
    """Each event of any of them once, in the order of their names; of different ranks each."""
    found: dict[tuple[Kind, str], list[Event]] = {}
    for made in rounds:
        for event in made.events:
            found.setdefault((event.kind, event.name), []).append(event)
    return [_merged(found[key]) for key in sorted(found)]


def _merged(parts: list[Event]) -> Event:
    if len(parts) == 1:
        return parts[0]
    ranks = [part.ranks for part in parts]
    return Event(
        parts[0].name,
        parts[0].kind,
        sum(ranks),
        _statistic(ranks, [part.calls for part in parts]),
        _statistic(ranks, [part.time for part in parts]),
        _statistic(ranks, [part.bytes for part in parts]),
    )


def _statistic(ranks: list[int], parts: list[Statistic]) -> Statistic:
    """Chan, Golub, LeVeque 1979, as the tree merges them."""
    count = max(sum(ranks), 1)
    mean = sum(n * part.mean for n, part in zip(ranks, parts, strict=True)) / count
    squares = sum(
        n * (part.deviation * part.deviation + (part.mean - mean) ** 2)
        for n, part in zip(ranks, parts, strict=True)
    )
    least = min(parts, key=lambda part: (part.least, part.least_rank))
    most = min(parts, key=lambda part: (-part.most, part.most_rank))
    return Statistic(
        mean, math.sqrt(squares / count), least.least, most.most, least.least_rank, most.most_rank
    )
