"""The profile, summed by any of its keys: call site, line, function, size, communicator, rank.

The reader makes its rows (src/reader/tables/profile_rows.h); docs/profile.md defines the figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tare import functions
from tare.analysis.rows import PLACE
from tare.runs.run import PROFILE_KEYS, ProfileKey

if TYPE_CHECKING:
    from tare._native import Frame, Site
    from tare._tables import ProfileRow
    from tare.runs.run import Run

Key = ProfileKey
KEYS = PROFILE_KEYS

PATH = ("path", "path_shown", "path_gap", "path_cut")
# Fields that each key adds to a row, then the fields of every row.
KEY_COLUMNS: dict[Key, tuple[str, ...]] = {
    "site": ("function", *PLACE, *PATH),
    "line": ("function", *PLACE),
    "function": ("function",),
    "size": ("size_from", "size_to"),
    "communicator": ("communicator", "communicator_size"),
    "rank": ("rank", "pid"),
}
FIGURES = (
    "calls",
    "time_ns",
    "mean_ns",
    "min_ns",
    "max_ns",
    "bytes",
    "received",
    "waited_ns",
    "timed",
    "estimated_calls",
    "time_error_ns",
    "counted",
)
OVER_RANKS = ("ranks", "rank_mean_ns", "rank_min_ns", "rank_min", "rank_max_ns", "rank_max", "imbalance_ns")
# Of rows by site, line or function.
OF_WHOLE_RUN = (
    "whole_calls",
    "whole_calls_error",
    "whole_time_ns",
    "whole_time_error_ns",
    "whole_bytes",
    "whole_bytes_error",
)
OF_A_RANK = ("calls", "counted", "time_ns", "bytes", "received", "mpi_share")


@dataclass(frozen=True, kw_only=True)
class CallPath:
    """How the program came to a call."""

    path: Sequence[Frame] = ()  # innermost frame first
    path_shown: int = 0  # index of the frame that represents the call site
    path_gap: bool = False  # frames before the last one are left out
    path_cut: bool = False  # the stack goes on, but could not be unwound


@dataclass(frozen=True)
class Chosen:
    """The calls to sum; an empty field selects everything."""

    functions: frozenset[str] = frozenset()
    ranks: frozenset[int] = frozenset()
    communicators: frozenset[str] = frozenset()
    worlds: frozenset[int] = frozenset()

    def arguments(self) -> dict[str, Any]:
        """The arguments of Run.profile() that choose these calls."""
        return {name: sorted(chosen) for name, chosen in vars(self).items() if chosen}

    def may_be_there(self) -> bool:
        """Whether a run can have all of these ranks and worlds, as far as their numbers say."""
        return all(0 <= number < 1 << 31 for number in self.ranks | self.worlds)


def columns(keys: Sequence[Key]) -> list[str]:
    """The fields of a row by these keys, in the order of JSON and CSV."""
    names = ["world"]
    for key in keys:
        names += KEY_COLUMNS[key]
    names += OF_A_RANK if list(keys) == ["rank"] else FIGURES
    names += OVER_RANKS if "rank" not in keys else ()
    names += OF_WHOLE_RUN if {"site", "line", "function"} & set(keys) else ()
    return list(dict.fromkeys(names))


def summed(recorded: Run, keys: Sequence[Key], chosen: Chosen | None = None) -> list[ProfileRow]:
    """One row for each combination of `keys` that occurs, in the order of the run.

    Fields of other keys are None. The time of MPI_Init and MPI_Finalize is only in rows by function, line or
    site: it would hide all others. By rank alone, every process has a row. Of other sources of events,
    rows by communicator have no calls, and docs/profile.md says which others have.
    """
    return recorded.rows(recorded.profile(keys, **(chosen or Chosen()).arguments()))


def has_own_time(row: ProfileRow) -> bool:
    """Whether the time of the calls is known, and not that of the program's code."""
    return row.timed and row.time_ns > 0 and not functions.contains_program(row.function)


def is_of_mpi(recorded: Run, keys: Sequence[str], chosen: Chosen) -> bool:
    """Whether rows that are of several functions are of MPI alone.

    Communicators and, unless functions are chosen, ranks alone are MPI's whatever else the run has.
    """
    if "communicator" in keys:
        return True
    if chosen.functions:
        return not any(functions.meaning(name).source in functions.SOURCES for name in chosen.functions)
    return list(keys) == ["rank"] or not has_others(recorded)


def has_others(recorded: Run) -> bool:
    """Whether calls of other sources of events than MPI were recorded."""
    return bool(({*functions.SOURCES} - {"stacks"}) & {*recorded.meta.options.sources})


def ordered(rows: Iterable[ProfileRow], column: str, limit: int) -> list[ProfileRow]:
    """The rows with the largest values first, and unknown values last; all rows if `limit` is 0."""
    result = sorted(rows, key=lambda row: (getattr(row, column) or 0, row.calls), reverse=True)
    return result[:limit] if limit else result


def record(row: ProfileRow, names: Sequence[str], sites: Sequence[Site]) -> dict[str, Any]:
    """The row as JSON has it: these of its fields, of its path each frame."""
    path = call_path(row.site, sites)
    return {name: getattr(path if name in PATH else row, name) for name in names}


def call_path(site: int | None, sites: Sequence[Site]) -> CallPath:
    """The call path of a site; empty for functions that are only counted."""
    if site is None or not 0 <= site < len(sites):
        return CallPath(path=[])
    found = sites[site]
    return CallPath(path=found.path, path_shown=found.shown, path_gap=found.left_out, path_cut=found.cut)
