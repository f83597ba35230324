"""Rows of events, with names in place of the numbers of call sites, communicators, windows and files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tare.analysis.profile import PATH, call_path
from tare.analysis.rows import PLACE, fields, place_of

if TYPE_CHECKING:
    from tare._native import Communicator, EventRow, Scope, Site


def described(
    events: Iterable[EventRow],
    sites: Sequence[Site],
    communicators: Sequence[Communicator],
    scopes: Sequence[Scope],
    *,
    paths: bool = False,
) -> Iterator[dict[str, Any]]:
    """The rows of `tare.events/1` (docs/json.md), one at a time and in the order of `events`.

    A row has only the fields that its event has, so it is a dict. `paths` adds the call path.
    """
    places: dict[int, dict[str, Any]] = {}
    for event in events:
        row: dict[str, Any] = dict(event)
        if "kind" in row:
            yield _with_numbers(row)
            continue
        site = row.pop("site", -1)
        if site not in places:
            places[site] = fields(place_of(site, sites), PLACE)
            if paths:
                places[site] |= fields(call_path(site, sites), PATH)
        _name_communicator(row, communicators)
        for request in row.get("requests", ()):
            _name_communicator(request, communicators)
        if "scope" in row:
            scope: Scope = scopes[row.pop("scope")]
            field = "window" if scope.kind == "window" else "mpi_file"
            row[field] = scope.name
            if scope.key != 0:
                row[f"{field}_key"] = f"{scope.key:016x}"
        yield row | places[site]


def _name_communicator(row: dict[str, Any], communicators: Sequence[Communicator]) -> None:
    """Replaces the index of a communicator by its name and key."""
    communicator = row.pop("communicator", -1)
    if not 0 <= communicator < len(communicators):
        return
    row["communicator"] = communicators[communicator].name
    if communicators[communicator].key != 0:
        row["communicator_key"] = f"{communicators[communicator].key:016x}"


def _with_numbers(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no NaN and no infinity."""
    if "value" in row:
        row["value"] = _number(row["value"])
    if "parameters" in row:
        row["parameters"] = [_number(value) for value in row["parameters"]]
    return row


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
