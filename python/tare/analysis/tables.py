"""What ranks exchanged with whom, and what happened in each phase: tables of their own beside the profile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from tare.analysis.profile import Chosen, Row, communicator_names
from tare.errors import Incompatible

if TYPE_CHECKING:
    from tare._native import Communicator, PeerSum, PhaseSum

Subject = Literal["peer", "phase"]
SUBJECTS: tuple[Subject, ...] = ("peer", "phase")
# Keys that a subject goes with: its table tells nothing else apart.
BESIDE: dict[Subject, tuple[str, ...]] = {"peer": ("rank", "communicator"), "phase": ("rank",)}
OTHER = "other"

PEER_FIGURES = ("sent_messages", "sent_bytes", "received_messages", "received_bytes")
PHASE_FIGURES = ("entries", "time_ns", "mpi_ns", "mpi_share", "calls", "bytes")
PHASE_OVER_RANKS = ("ranks", "rank_mean_ns", "rank_min_ns", "rank_max_ns", "rank_max")


class Recorded(Protocol):
    """What a run holds, as far as these tables go (recording.Run)."""

    @property
    def communicators(self) -> list[Communicator]: ...
    def peer_sums(
        self,
        by: list[str],
        worlds: list[int] | None,
        ranks: list[int] | None,
        communicators: list[int] | None,
    ) -> list[PeerSum]: ...
    def phase_sums(
        self, by: list[str], worlds: list[int] | None, ranks: list[int] | None
    ) -> list[PhaseSum]: ...


def subject_of(keys: Sequence[str]) -> Subject | None:
    """The table that the keys ask for, if it is one of these; Incompatible if they do not go together."""
    subject = next((each for each in SUBJECTS if each in keys), None)
    if subject is None:
        return None
    for key in keys:
        if key != subject and key not in BESIDE[subject]:
            raise Incompatible(f"{subject} goes with {' and '.join(BESIDE[subject])} only, not with {key}")
    return subject


def columns(subject: Subject, keys: Sequence[str]) -> list[str]:
    """The names of a row's fields, in order."""
    names = ["world"]
    for key in keys:
        names += ("communicator", "communicator_size") if key == "communicator" else (key,)
    names += PEER_FIGURES if subject == "peer" else PHASE_FIGURES
    if "rank" not in keys:
        names += ("ranks",) if subject == "peer" else PHASE_OVER_RANKS
    return names


def rows(recorded: Recorded, subject: Subject, keys: Sequence[str], chosen: Chosen) -> list[Row]:
    """One row for each combination of keys."""
    if chosen.functions:
        raise Incompatible(f"functions cannot be chosen of the table by {subject}")
    by = [key for key in keys if key != subject]
    worlds, ranks = sorted(chosen.worlds) or None, sorted(chosen.ranks) or None
    names = columns(subject, keys)
    if subject == "phase":
        if chosen.communicators:
            raise Incompatible("communicators cannot be chosen of the table by phase")
        found = [_phase_row(each) for each in recorded.phase_sums(by, worlds, ranks)]
    else:
        known = communicator_names(recorded.communicators)
        wanted = [number for number, name in enumerate(known) if name in chosen.communicators]
        peers = recorded.peer_sums(by, worlds, ranks, wanted if chosen.communicators else None)
        found = [_peer_row(each, known, recorded.communicators) for each in peers]
    return [{name: row[name] for name in names} for row in found]


def _peer_row(found: PeerSum, names: Sequence[str], communicators: Sequence[Communicator]) -> Row:
    row: Row = {**found, "peer": found["peer"] if found["peer"] >= 0 else None}
    number = found.get("communicator", -1)
    row["communicator"] = names[number] if number >= 0 else None
    row["communicator_size"] = communicators[number]["size"] if number >= 0 else None
    return row


def _phase_row(found: PhaseSum) -> Row:
    phase = found["phase"] if found["phase"] is not None or found["outside"] else OTHER
    share = found["mpi_ns"] / found["time_ns"] if found["time_ns"] > 0 else 0.0
    mean = found["time_ns"] / found["ranks"] if found["ranks"] else None
    return {**found, "phase": phase, "mpi_share": share, "rank_mean_ns": mean}
