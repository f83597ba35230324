"""Peers, phases, regions and files as text: sheets of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tare import units
from tare.analysis.tables import with_rank
from tare.reporters import profile, terminal
from tare.reporters.sheet import WORLD, Column, Sheet
from tare.units import NOTHING

if TYPE_CHECKING:
    from tare.analysis.files import UsedFile
    from tare.analysis.regions import Region
    from tare.analysis.tables import Subject

OUTSIDE = "(in no phase)"
OF_KEY = {
    **{key: profile.OF_KEY[key] for key in ("rank", "communicator")},
    "peer": (Column("Peer", cell=lambda row: NOTHING if row.peer is None else str(row.peer)),),
    "phase": (Column("Phase", text=True, cell=lambda row: OUTSIDE if row.phase is None else row.phase),),
    "region": (
        Column("Region in", text=True, key=True, cell=terminal.caller),
        Column("Where", text=True, key=True, cell=terminal.place),
    ),
    "file": (
        Column("File", text=True, key=True, cell=lambda row: file_name(row)),
        Column("Through", text=True, key=True, cell=lambda row: row.interface),
    ),
    "thread": (Column("Thread", cell=lambda row: str(row.thread)),),
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
    Column("Share in calls", cell=lambda row: terminal.share(row.calls_share)),
    Column("Timed calls", cell=lambda row: units.count(row.timed_calls)),
    Column("Bytes", optional=True, cell=lambda row: units.size_or_nothing(row.bytes)),
)
REGION_FIGURES = (
    Column("Calls", cell=lambda row: units.count(row.calls)),
    Column("Time", cell=lambda row: units.duration(row.time_ns)),
)
OVER_THREADS = (
    Column("Threads", cell=lambda row: units.count(row.threads)),
    Column("Mean work", cell=lambda row: units.duration(row.work_mean_ns)),
    Column("Most work", cell=lambda row: units.duration(row.work_max_ns)),
    Column("By thread", text=True, optional=True, cell=lambda row: busiest_thread(row)),
)
WORK_OF_THREAD = Column("Work", cell=lambda row: units.duration(row.work_ns))
IDLE = Column("Idle", cell=lambda row: units.percent(row.idle_share))
FILE_FIGURES = (
    Column("Time", cell=lambda row: units.duration(row.time_ns)),
    Column("Reads", cell=lambda row: units.count(row.reads)),
    Column("Read", cell=lambda row: units.size_or_nothing(row.read_bytes)),
    Column("Writes", cell=lambda row: units.count(row.writes)),
    Column("Written", cell=lambda row: units.size_or_nothing(row.written_bytes)),
    Column("Consecutive", optional=True, cell=lambda row: terminal.share(row.consecutive_share)),
    Column("Strided", optional=True, cell=lambda row: terminal.share(row.strided_share)),
    Column("In reads", optional=True, cell=lambda row: _duration(row.read_ns, row.reads)),
    Column("In writes", optional=True, cell=lambda row: _duration(row.write_ns, row.writes)),
    Column("Opens", optional=True, cell=lambda row: units.count(row.opens)),
)
RANKS = Column("Ranks", optional=True, cell=lambda row: units.count(row.ranks))
OVER_RANKS = (
    Column("Ranks", optional=True, cell=lambda row: units.count(row.ranks)),
    Column("Shortest", optional=True, cell=lambda row: units.duration(row.rank_min_ns)),
    Column("Longest", optional=True, cell=lambda row: units.duration(row.rank_max_ns)),
)


def sheet(subject: Subject, rows: Sequence[Any], keys: Sequence[str], worlds: int) -> Sheet:
    """The table of messages between ranks, of phases, of regions, or of files (docs/profile.md)."""
    if subject == "region":
        return _region_sheet(rows, keys, worlds)
    if subject == "file":
        return _file_sheet(rows, keys, worlds)
    figures, more = (PEER_FIGURES, (PARTNERS,)) if subject == "peer" else (PHASE_FIGURES, OVER_RANKS)
    columns = [column for key in keys for column in OF_KEY[key]]
    columns += (*figures, *(() if "rank" in keys else more), *([WORLD] if worlds > 1 else ()))
    return Sheet.of(columns, rows)


def _region_sheet(rows: Sequence[Region], keys: Sequence[str], worlds: int) -> Sheet:
    several = len({(row.world, row.rank, row.pid) for row in rows}) > 1
    shown = with_rank(keys) if several or any(row.rank not in (None, -1) for row in rows) else keys
    columns = [column for key in shown for column in OF_KEY[key]]
    columns += (*REGION_FIGURES, *((WORK_OF_THREAD,) if "thread" in keys else OVER_THREADS), IDLE)
    return Sheet.of([*columns, *([WORLD] if worlds > 1 else ())], rows)


def _file_sheet(rows: Sequence[UsedFile], keys: Sequence[str], worlds: int) -> Sheet:
    columns = [column for key in keys for column in OF_KEY[key]]
    columns += (*FILE_FIGURES, *(() if "rank" in keys else (RANKS,)))
    return Sheet.of([*columns, *([WORLD] if worlds > 1 else ())], rows)


def file_name(row: UsedFile) -> str:
    """The name; what stands for it in parentheses."""
    if row.naming == "others":
        return "(other files)"
    if row.file is None:
        return "(not known)"
    return f"{row.file}…" if row.naming == "cut" else row.file


def _duration(ns: int, calls: int) -> str:
    return units.duration(ns) if calls else NOTHING


def busiest_thread(row: Region) -> str:
    """The thread with the most work; of a program of MPI with its rank."""
    thread = str(row.work_max_thread)
    return thread if row.work_max_rank < 0 else f"{thread} of {row.work_max_rank}"
