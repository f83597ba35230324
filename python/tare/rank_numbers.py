"""Ranks as people say them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LISTED = 8


def named(ranks: Iterable[int]) -> str:
    """ "rank 3", "ranks 0-2, 7"."""
    ranges: list[tuple[int, int]] = []
    for number in sorted(set(ranks)):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return of_ranges(ranges)


def of_ranges(ranges: Sequence[tuple[int, int]]) -> str:
    """The same, of the first and the last number of each range."""
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in ranges[:LISTED]]
    if len(ranges) > LISTED:
        shown.append(f"and {sum(last - first + 1 for first, last in ranges[LISTED:]):,} more")
    is_one = sum(last - first + 1 for first, last in ranges) == 1
    return f"rank{'' if is_one else 's'} {', '.join(shown)}"
