"""Two tables beside the profile: messages between ranks, and figures of phases (docs/profile.md).

Times are nanoseconds, sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from tare.analysis.peers import CountsMessages
from tare.analysis.profile import Chosen, communicator_names
from tare.errors import Incompatible

if TYPE_CHECKING:
    from tare._native import Communicator, PeerSum, PhaseSum

Subject = Literal["peer", "phase"]
SUBJECTS: tuple[Subject, ...] = ("peer", "phase")
# Keys that can be combined with a subject; its table has no others.
BESIDE: dict[Subject, tuple[str, ...]] = {"peer": ("rank", "communicator"), "phase": ("rank",)}
OTHER = "other"

PEER_FIGURES = ("sent_messages", "sent_bytes", "received_messages", "received_bytes")
PHASE_FIGURES = ("entries", "time_ns", "mpi_ns", "mpi_share", "calls", "bytes")
PHASE_OVER_RANKS = ("ranks", "rank_mean_ns", "rank_min_ns", "rank_max_ns", "rank_max")


@dataclass(frozen=True, kw_only=True)
class PeerRow:
    """Messages sent to a rank and received from it, by all ranks unless rank is a key."""

    world: int
    rank: int | None = None  # None if it is no key
    communicator: str | None = None  # its name, or # and its index; None if it is no key
    communicator_size: int | None = None  # number of its ranks
    peer: int | None  # rank in the world; None: of another world, or no room in the table
    sent_messages: int  # sent to the peer
    sent_bytes: int
    received_messages: int  # received from the peer
    received_bytes: int
    ranks: int  # ranks that exchanged data with the peer


@dataclass(frozen=True, kw_only=True)
class PhaseRow:
    """A phase without the phases nested in it, summed over all ranks unless rank is a key."""

    world: int
    rank: int | None = None  # set if it is a key
    phase: str | None  # None: outside all phases
    entries: int  # how often the phase began
    time_ns: int  # summed over ranks and threads
    mpi_ns: int  # the part in timed calls
    mpi_share: float  # mpi_ns / time_ns
    calls: int
    bytes: int
    ranks: int  # number of ranks that were in the phase
    rank_mean_ns: float | None  # mean, shortest and longest time of these ranks
    rank_min_ns: int
    rank_max_ns: int
    rank_max: int  # the rank with the longest time


class Recorded(CountsMessages, Protocol):
    """The data of a run that these tables need (runs.run.Run)."""

    @property
    def communicators(self) -> list[Communicator]: ...
    def phase_sums(
        self, by: list[str], worlds: list[int] | None, ranks: list[int] | None
    ) -> list[PhaseSum]: ...


def subject_of(keys: Sequence[str]) -> Subject | None:
    """The table that the keys ask for; None: the profile. Incompatible if the keys cannot be combined."""
    subject = next((each for each in SUBJECTS if each in keys), None)
    if subject is None:
        return None
    for key in keys:
        if key != subject and key not in BESIDE[subject]:
            raise Incompatible(f"{subject} goes with {' and '.join(BESIDE[subject])} only, not with {key}")
    return subject


def columns(subject: Subject, keys: Sequence[str]) -> list[str]:
    """The fields of a row, in the order of JSON and CSV."""
    names = ["world"]
    for key in keys:
        names += ("communicator", "communicator_size") if key == "communicator" else (key,)
    names += PEER_FIGURES if subject == "peer" else PHASE_FIGURES
    if "rank" not in keys:
        names += ("ranks",) if subject == "peer" else PHASE_OVER_RANKS
    return names


def peer_rows(recorded: Recorded, keys: Sequence[str], chosen: Chosen) -> list[PeerRow]:
    """One row for each combination of keys. Incompatible if functions are chosen."""
    _refuse_functions("peer", chosen)
    names = communicator_names(recorded.communicators)
    wanted = [number for number, name in enumerate(names) if name in chosen.communicators]
    found = recorded.peer_sums(
        [key for key in keys if key != "peer"],
        sorted(chosen.worlds) or None,
        sorted(chosen.ranks) or None,
        wanted if chosen.communicators else None,
    )
    return [_peer_row(each, names, recorded.communicators) for each in found]


def phase_rows(recorded: Recorded, keys: Sequence[str], chosen: Chosen) -> list[PhaseRow]:
    """One row for each combination of keys. Incompatible if functions or communicators are chosen."""
    _refuse_functions("phase", chosen)
    if chosen.communicators:
        raise Incompatible("communicators cannot be chosen of the table by phase")
    by = [key for key in keys if key != "phase"]
    found = recorded.phase_sums(by, sorted(chosen.worlds) or None, sorted(chosen.ranks) or None)
    return [_phase_row(each) for each in found]


def _refuse_functions(subject: Subject, chosen: Chosen) -> None:
    if chosen.functions:
        raise Incompatible(f"functions cannot be chosen of the table by {subject}")


def _peer_row(found: PeerSum, names: Sequence[str], communicators: Sequence[Communicator]) -> PeerRow:
    number = found.get("communicator", -1)
    return PeerRow(
        world=found["world"],
        rank=found.get("rank"),
        communicator=names[number] if number >= 0 else None,
        communicator_size=communicators[number]["size"] if number >= 0 else None,
        peer=found["peer"] if found["peer"] >= 0 else None,
        sent_messages=found["sent_messages"],
        sent_bytes=found["sent_bytes"],
        received_messages=found["received_messages"],
        received_bytes=found["received_bytes"],
        ranks=found["ranks"],
    )


def _phase_row(found: PhaseSum) -> PhaseRow:
    return PhaseRow(
        world=found["world"],
        rank=found.get("rank"),
        phase=found["phase"] if found["phase"] is not None or found["outside"] else OTHER,
        entries=found["entries"],
        time_ns=found["time_ns"],
        mpi_ns=found["mpi_ns"],
        mpi_share=found["mpi_ns"] / found["time_ns"] if found["time_ns"] > 0 else 0.0,
        calls=found["calls"],
        bytes=found["bytes"],
        ranks=found["ranks"],
        rank_mean_ns=found["time_ns"] / found["ranks"] if found["ranks"] else None,
        rank_min_ns=found["rank_min_ns"],
        rank_max_ns=found["rank_max_ns"],
        rank_max=found["rank_max"],
    )
