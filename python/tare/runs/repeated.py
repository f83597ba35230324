"""Runs that are named twice: they are no repetitions of one another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tare.errors import UsageError


def refuse(given: Iterable[Mapping[str, str]]) -> None:
    """UsageError if two of what is given have the same run, also as a copy.

    `given`: of each, the names of its runs by their identifiers (`run_id`).
    """
    known: dict[str, str] = {}
    for own in given:
        for run_id, name in own.items():
            if other := known.get(run_id):
                raise UsageError(f"{other} and {name} are the same run: name each once")
        known |= own
