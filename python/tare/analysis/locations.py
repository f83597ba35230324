"""Figures of single locations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tare._tables import LocationsRow


def bytes_per_record(location: LocationsRow) -> float | None:
    """The bytes of a record on disk; None if it has none."""
    return location.bytes / location.records if location.records else None
