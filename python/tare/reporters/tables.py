"""Peers and phases as text: sheets of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tare import units
from tare.reporters import terminal
from tare.reporters.sheet import Heading, Sheet
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare._tables import PeersRow, PhasesRow
    from tare.analysis.tables import Subject

OF_KEY = {
    "rank": (Heading("Rank"),),
    "communicator": (Heading("Communicator", text=True), Heading("Ranks", optional=True)),
    "peer": (Heading("Peer"),),
    "phase": (Heading("Phase", text=True),),
}
PEER_FIGURES = (
    Heading("Messages to"), Heading("Bytes to"), Heading("Messages from"), Heading("Bytes from"),
)  # fmt: skip
PARTNERS = Heading("Partners", optional=True)
PHASE_FIGURES = (
    Heading("Entered"), Heading("Time"), Heading("In calls"), Heading("Share in calls"),
    Heading("Timed calls"), Heading("Bytes", optional=True),
)  # fmt: skip
OVER_RANKS = (
    Heading("Ranks", optional=True),
    Heading("Shortest", optional=True),
    Heading("Longest", optional=True),
)
OUTSIDE = "(in no phase)"


def sheet(subject: Subject, rows: Sequence[Any], keys: Sequence[str], worlds: int) -> Sheet:
    """The table of messages between ranks, or of phases (docs/profile.md)."""
    over_ranks = "rank" not in keys
    figures, more = (PEER_FIGURES, (PARTNERS,)) if subject == "peer" else (PHASE_FIGURES, OVER_RANKS)
    headings = [heading for key in keys for heading in OF_KEY[key]]
    headings += [*figures, *(more if over_ranks else ())]
    result = Sheet(headings + ([Heading("World")] if worlds > 1 else []))
    cells_of = _peer_figures if subject == "peer" else _phase_figures
    for row in rows:
        cells = [cell for key in keys for cell in _key(row, key)]
        cells += cells_of(row, over_ranks)
        result.rows.append(cells + ([str(row.world)] if worlds > 1 else []))
    return result


def _key(row: Any, key: str) -> list[str]:
    if key == "rank":
        return [NOTHING if row.rank is None else terminal.rank(row.rank)]
    if key == "phase":
        return [OUTSIDE if row.phase is None else row.phase]
    if key == "communicator":
        size = row.communicator_size
        return [row.communicator or NOTHING, NOTHING if size is None else f"{size:,}"]
    return [NOTHING if row.peer is None else str(row.peer)]


def _peer_figures(row: PeersRow, over_ranks: bool) -> list[str]:
    return [
        units.count(row.sent_messages),
        units.size(row.sent_bytes),
        units.count(row.received_messages),
        units.size(row.received_bytes),
        *([units.count(row.ranks)] if over_ranks else []),
    ]


def _phase_figures(row: PhasesRow, over_ranks: bool) -> list[str]:
    cells = [
        units.count(row.entries) if row.phase is not None else NOTHING,
        units.duration(row.time_ns),
        units.duration(row.calls_ns),
        units.percent(row.calls_share),
        units.count(row.timed_calls),
        units.size(row.bytes) if row.bytes else NOTHING,
    ]
    if over_ranks:
        cells += [units.count(row.ranks), units.duration(row.rank_min_ns), units.duration(row.rank_max_ns)]
    return cells
