"""Items by what they have in common, and sums by key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key")
Number = TypeVar("Number", int, float)


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """The items of each key, in the order in which they come."""
    found: dict[Key, list[Item]] = {}
    for each in items:
        found.setdefault(key(each), []).append(each)
    return found


def added(values: Iterable[tuple[Key, Number]]) -> dict[Key, Number]:
    """The sum of the values of each key."""
    sums: dict[Key, Number] = {}
    for key, value in values:
        sums[key] = sums[key] + value if key in sums else value
    return sums
