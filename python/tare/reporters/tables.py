"""Peers and phases as text: sheets of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tare import units
from tare.reporters import profile
from tare.reporters.sheet import WORLD, Column, Sheet
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare.analysis.tables import Subject

OUTSIDE = "(in no phase)"
OF_KEY = {
    **{key: profile.OF_KEY[key] for key in ("rank", "communicator")},
    "peer": (Column("Peer", cell=lambda row: NOTHING if row.peer is None else str(row.peer)),),
    "phase": (Column("Phase", text=True, cell=lambda row: OUTSIDE if row.phase is None else row.phase),),
}
PEER_FIGURES = (
    Column("Messages to", cell=lambda row: units.count(row.sent_messages)),
    Column("Bytes to", cell=lambda row: units.size(row.sent_bytes)),
    Column("Messages from", cell=lambda row: units.count(row.received_messages)),
    Column("Bytes from", cell=lambda row: units.size(row.received_bytes)),
)
PARTNERS = Column("Partners", optional=True, cell=lambda row: units.count(row.ranks))
PHASE_FIGURES = (
    Column("Entered", cell=lambda row: NOTHING if row.phase is None else units.count(row.entries)),
    Column("Time", cell=lambda row: units.duration(row.time_ns)),
    Column("In calls", cell=lambda row: units.duration(row.calls_ns)),
    Column("Share in calls", cell=lambda row: units.percent(row.calls_share)),
    Column("Timed calls", cell=lambda row: units.count(row.timed_calls)),
    Column("Bytes", optional=True, cell=lambda row: units.size_or_nothing(row.bytes)),
)
OVER_RANKS = (
    Column("Ranks", optional=True, cell=lambda row: units.count(row.ranks)),
    Column("Shortest", optional=True, cell=lambda row: units.duration(row.rank_min_ns)),
    Column("Longest", optional=True, cell=lambda row: units.duration(row.rank_max_ns)),
)


def sheet(subject: Subject, rows: Sequence[Any], keys: Sequence[str], worlds: int) -> Sheet:
    """The table of messages between ranks, or of phases (docs/profile.md)."""
    figures, more = (PEER_FIGURES, (PARTNERS,)) if subject == "peer" else (PHASE_FIGURES, OVER_RANKS)
    columns = [column for key in keys for column in OF_KEY[key]]
    columns += (*figures, *(() if "rank" in keys else more), *([WORLD] if worlds > 1 else ()))
    return Sheet.of(columns, rows)
