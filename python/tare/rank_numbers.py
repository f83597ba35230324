"""Ranks as people say them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LISTED = 8


def named(ranks: Iterable[int]) -> str:
    """ "rank 3", "ranks 0-2, 7"."""
    return of_ranges(ranges(ranks))


def of_worlds(ranks: Iterable[tuple[int, int]], worlds: int) -> str:
    """The same of ranks as (world, rank): "rank 3 of world 0 and ranks 0-2 of world 1" if it has several."""
    if worlds <= 1:
        return named(rank for _, rank in ranks)
    found: dict[int, list[int]] = {}
    for world, rank in sorted(set(ranks)):
        found.setdefault(world, []).append(rank)
    return " and ".join(f"{named(of)} of world {world}" for world, of in found.items())


def ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """The first and the last number of each range of neighbours."""
    found: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def shown(ranges: Sequence[tuple[int, int]]) -> list[str]:
    """Each range as text: "3", "0-2"."""
    return [str(first) if first == last else f"{first}-{last}" for first, last in ranges]


def of_ranges(ranges: Sequence[tuple[int, int]]) -> str:
    """The same as `named`, of the first and the last number of each range."""
    listed = shown(ranges[:LISTED])
    if len(ranges) > LISTED:
        listed.append(f"and {sum(last - first + 1 for first, last in ranges[LISTED:]):,} more")
    is_one = sum(last - first + 1 for first, last in ranges) == 1
    return f"rank{'' if is_one else 's'} {', '.join(listed)}"
