"""Peers and phases for people: the sheet of their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tare import units
from tare.reporters import terminal
from tare.reporters.sheet import Heading, Sheet
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare.analysis.profile import Row

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
    Heading("Times"), Heading("Time"), Heading("In MPI"), Heading("MPI share"), Heading("Calls"),
    Heading("Bytes", optional=True),
)  # fmt: skip
OVER_RANKS = (
    Heading("Ranks", optional=True),
    Heading("Shortest", optional=True),
    Heading("Longest", optional=True),
)
OUTSIDE = "(in no phase)"


def sheet(rows: Sequence[Row], keys: Sequence[str], worlds: int) -> Sheet:
    headings = [heading for key in keys for heading in OF_KEY[key]]
    peers = "peer" in keys
    headings += PEER_FIGURES if peers else PHASE_FIGURES
    over_ranks = "rank" not in keys
    if over_ranks:
        headings += (PARTNERS,) if peers else OVER_RANKS
    if worlds > 1:
        headings.append(Heading("World"))
    result = Sheet(headings)
    for row in rows:
        cells = [cell for key in keys for cell in _key_cells(row, key)]
        cells += _peer_figures(row, over_ranks) if peers else _phase_figures(row, over_ranks)
        result.rows.append(cells + ([str(row["world"])] if worlds > 1 else []))
    return result


def _key_cells(row: Mapping[str, Any], key: str) -> list[str]:
    if key == "rank":
        return [terminal.rank(row)]
    if key == "communicator":
        size = row["communicator_size"]
        return [row["communicator"] or NOTHING, NOTHING if size is None else f"{size:,}"]
    if key == "peer":
        return [NOTHING if row["peer"] is None else str(row["peer"])]
    return [OUTSIDE if row["phase"] is None else row["phase"]]


def _peer_figures(row: Mapping[str, Any], over_ranks: bool) -> list[str]:
    return [
        units.count(row["sent_messages"]),
        units.size(row["sent_bytes"]),
        units.count(row["received_messages"]),
        units.size(row["received_bytes"]),
        *([units.count(row["ranks"])] if over_ranks else []),
    ]


def _phase_figures(row: Mapping[str, Any], over_ranks: bool) -> list[str]:
    cells = [
        units.count(row["entries"]) if row["phase"] is not None else NOTHING,
        units.duration(row["time_ns"]),
        units.duration(row["mpi_ns"]),
        units.percent(row["mpi_share"]),
        units.count(row["calls"]),
        units.size(row["bytes"]) if row["bytes"] else NOTHING,
    ]
    if over_ranks:
        cells += [
            units.count(row["ranks"]),
            units.duration(row["rank_min_ns"]),
            units.duration(row["rank_max_ns"]),
        ]
    return cells
