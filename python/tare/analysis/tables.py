"""Tables beside the profile: messages between ranks, figures of phases, regions and files (docs/profile.md).

Times are nanoseconds, sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from tare.analysis import files
from tare.analysis.files import UsedFile
from tare.analysis.profile import Chosen
from tare.analysis.regions import Region
from tare.analysis.regions import summed as summed_regions
from tare.analysis.rows import PLACE
from tare.errors import Incompatible

if TYPE_CHECKING:
    from tare._tables import PeersRow, PhasesRow
    from tare.runs.run import Run


class _OfRank(Protocol):
    @property
    def world(self) -> int: ...
    @property
    def rank(self) -> int: ...


_Row = TypeVar("_Row", bound=_OfRank)

Subject = Literal["peer", "phase", "region", "file"]
SUBJECTS: tuple[Subject, ...] = ("peer", "phase", "region", "file")
# Keys that can be combined with a subject; its table has no others.
BESIDE: dict[Subject, tuple[str, ...]] = {
    "peer": ("rank", "communicator"),
    "phase": ("rank",),
    "region": ("rank", "thread"),
    "file": ("rank",),
}

PEER_FIGURES = ("sent_messages", "sent_bytes", "received_messages", "received_bytes")
PHASE_FIGURES = ("entries", "time_ns", "calls_ns", "calls_share", "timed_calls", "bytes")
REGION_FIGURES = (
    *PLACE, "calls", "time_ns", "threads", "team_ns", "work_ns", "idle_ns", "work_mean_ns",
    "work_max_ns", "work_max_rank", "work_max_thread", "idle_share",
)  # fmt: skip
FILE_FIGURES = (*files.KEY, *files.FIGURES)
PHASE_OVER_RANKS = ("ranks", "rank_mean_ns", "rank_min_ns", "rank_max_ns", "rank_max")


def subject_of(keys: Sequence[str]) -> Subject | None:
    """The table that the keys ask for; None: the profile. Incompatible if the keys cannot be combined."""
    subject = next((each for each in SUBJECTS if each in keys), None)
    if subject is None:
        if "thread" in keys:
            raise Incompatible(
                "thread goes with region, and in runs with samples of stacks with function or line"
            )
        return None
    for key in keys:
        if key != subject and key not in BESIDE[subject]:
            raise Incompatible(f"{subject} goes with {' and '.join(BESIDE[subject])} only, not with {key}")
    return subject


def columns(subject: Subject, keys: Sequence[str]) -> list[str]:
    """The fields of a row, in the order of JSON and CSV."""
    names = ["world"]
    if subject == "region":
        of = [key for key in with_rank(keys) if key != "region"]
        return [*names, *of, *(["pid"] if of else []), *REGION_FIGURES]
    if subject == "file":
        return [*names, *(("rank", "pid") if "rank" in keys else ("ranks",)), *FILE_FIGURES]
    for key in keys:
        names += ("communicator", "communicator_size") if key == "communicator" else (key,)
    names += PEER_FIGURES if subject == "peer" else PHASE_FIGURES
    if "rank" not in keys:
        names += ("ranks",) if subject == "peer" else PHASE_OVER_RANKS
    return names


def with_rank(keys: Sequence[str]) -> list[str]:
    """The keys of the table by region, with that of ranks before that of threads, which ranks number."""
    found = []
    for key in keys:
        found += ["rank", key] if key == "thread" and "rank" not in keys else [key]
    return found


def peer_rows(run: Run, keys: Sequence[str], chosen: Chosen) -> list[PeersRow]:
    """One row for each combination of keys. Incompatible if functions are chosen."""
    _refuse_functions("peer", chosen)
    return run.rows(run.peers([key for key in keys if key != "peer"], **chosen.arguments()))


def phase_rows(run: Run, keys: Sequence[str], chosen: Chosen) -> list[PhasesRow]:
    """One row for each combination of keys. Incompatible if functions or communicators are chosen."""
    _refuse_functions("phase", chosen)
    if chosen.communicators:
        raise Incompatible("communicators cannot be chosen of the table by phase")
    return run.rows(run.phases([key for key in keys if key != "phase"], **chosen.arguments()))


def region_rows(run: Run, keys: Sequence[str], chosen: Chosen) -> list[Region]:
    """One row for each combination of keys. Incompatible if functions or communicators are chosen."""
    return summed_regions(_chosen_rows(run.rows(run.regions), "region", chosen), keys)


def file_rows(run: Run, keys: Sequence[str], chosen: Chosen) -> list[UsedFile]:
    """One row for each combination of keys. Incompatible if functions or communicators are chosen."""
    return files.summed(_chosen_rows(run.rows(run.file_table), "file", chosen), keys)


def _chosen_rows(rows: Sequence[_Row], subject: Subject, chosen: Chosen) -> list[_Row]:
    _refuse_functions(subject, chosen)
    if chosen.communicators:
        raise Incompatible(f"communicators cannot be chosen of the table by {subject}")
    return [
        row
        for row in rows
        if (not chosen.ranks or row.rank in chosen.ranks)
        and (not chosen.worlds or row.world in chosen.worlds)
    ]


def _refuse_functions(subject: Subject, chosen: Chosen) -> None:
    if chosen.functions:
        raise Incompatible(f"functions cannot be chosen of the table by {subject}")
