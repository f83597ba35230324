"""Ranks as people say them."""

from __future__ import annotations

from collections.abc import Iterable

LISTED = 8


def named(ranks: Iterable[int]) -> str:
    """ "rank 3", "ranks 0-2, 7"."""
    numbers = sorted(set(ranks))
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in runs[:LISTED]]
    if len(runs) > LISTED:
        shown.append(f"and {sum(last - first + 1 for first, last in runs[LISTED:]):,} more")
    return f"rank{'s' if len(numbers) > 1 else ''} {', '.join(shown)}"
