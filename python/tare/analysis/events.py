"""Rows of events with their site and communicator spelled out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tare.analysis.profile import place

if TYPE_CHECKING:
    from tare._native import Communicator, EventRow, Site


def described(
    events: Iterable[EventRow], sites: Sequence[Site], communicators: Sequence[Communicator]
) -> Iterator[dict[str, Any]]:
    """Each event with `file`, `line`, `caller`, `object` for its site, and its communicator's name."""
    places: dict[int, dict[str, Any]] = {}
    for event in events:
        row: dict[str, Any] = dict(event)
        site = row.pop("site", -1)
        if site not in places:
            places[site] = place(site, sites)
        communicator = row.get("communicator", -1)
        if 0 <= communicator < len(communicators):
            row["communicator"] = communicators[communicator]["name"]
        else:
            row.pop("communicator", None)
        yield row | places[site]
