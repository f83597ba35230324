"""Figures of single locations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare._tables import LocationsRow


def bytes_per_event(location: LocationsRow) -> float | None:
    """The bytes of an event on disk; None if it has no events."""
    return location.bytes / location.events if location.events else None
