"""The profile, summed by call site, by function or by rank."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

from tare.analysis.ranks import mpi_share

if TYPE_CHECKING:
    from tare._native import Process, ProfileRow, Site

# What begins and ends the net time does not count into it.
OUTSIDE_NET = frozenset({"MPI_Init", "MPI_Init_thread", "MPI_Finalize"})
Column = Literal["time_ns", "calls", "bytes"]


class FunctionRow(TypedDict):
    """Calls of one function in one world; `timed` is false where calls were only counted."""

    world: int
    function: str
    calls: int
    time_ns: int
    min_ns: int
    max_ns: int
    bytes: int
    timed: bool


class SiteRow(FunctionRow):
    """Calls of one function from one place in the program."""

    file: str | None
    line: int | None
    caller: str | None
    object: str | None
    offset: int | None


class RankRow(TypedDict):
    """Calls of one rank; `mpi_share` is the part of its net time spent inside MPI."""

    world: int
    rank: int
    calls: int
    time_ns: int
    bytes: int
    mpi_share: float


Row = TypeVar("Row", FunctionRow, SiteRow, RankRow)


def by_function(profile: Iterable[ProfileRow]) -> list[FunctionRow]:
    groups = _grouped(profile, lambda row: (row["world"], row["function"]))
    return [_total(rows) for rows in groups]


def by_site(profile: Iterable[ProfileRow], sites: Sequence[Site]) -> list[SiteRow]:
    """Calls from one line are one row, though the compiler may have made several of it."""
    lines = [_line(site, number) for number, site in enumerate(sites)]

    def key(row: ProfileRow) -> Hashable:
        site = row["site"]
        return row["world"], row["function"], lines[site] if 0 <= site < len(lines) else None

    return [{**_total(rows), **place(rows[0]["site"], sites)} for rows in _grouped(profile, key)]  # type: ignore[typeddict-item]


def _line(site: Site, number: int) -> Hashable:
    if site["file"] is None or site["line"] is None:
        return number
    return site["object"], site["caller"], site["file"], site["line"]


def by_rank(profile: Iterable[ProfileRow], processes: Sequence[Process]) -> list[RankRow]:
    """One row a process: calls and bytes of the profile, time and share of its account."""
    sums = {
        (rows[0]["world"], rows[0]["rank"]): _total(rows)
        for rows in _grouped(profile, lambda row: (row["world"], row["rank"]))
    }
    result: list[RankRow] = []
    for process in processes:
        total = sums.get((process["world"], process["rank"]))
        result.append(
            {
                "world": process["world"],
                "rank": process["rank"],
                "calls": total["calls"] if total else 0,
                "time_ns": process["mpi_ns"],
                "bytes": total["bytes"] if total else 0,
                "mpi_share": mpi_share(process),
            }
        )
    return result


def place(site: int, sites: Sequence[Site]) -> dict[str, Any]:
    """Where a call came from, as columns; nothing is known of functions that are only counted."""
    if not 0 <= site < len(sites):
        return {"file": None, "line": None, "caller": None, "object": None, "offset": None}
    found = sites[site]
    return {
        "file": found["file"],
        "line": found["line"],
        "caller": found["caller"],
        "object": found["object"] or None,
        "offset": found["offset"],
    }


def net_time_ns(rows: Iterable[ProfileRow] | Iterable[FunctionRow]) -> int:
    """Time in MPI between leaving MPI_Init and entering MPI_Finalize: what shares are of."""
    return sum(row["time_ns"] for row in rows if row["function"] not in OUTSIDE_NET)


def ordered(rows: Iterable[Row], column: Column, limit: int) -> list[Row]:
    """Largest first; all of them if `limit` is 0."""
    result = sorted(rows, key=lambda row: (row[column], row["calls"]), reverse=True)
    return result[:limit] if limit else result


def _grouped(profile: Iterable[ProfileRow], key: Callable[[ProfileRow], Hashable]) -> list[list[ProfileRow]]:
    groups: dict[Hashable, list[ProfileRow]] = {}
    for row in profile:
        groups.setdefault(key(row), []).append(row)
    return list(groups.values())


def _total(rows: Sequence[ProfileRow]) -> FunctionRow:
    timed = [row for row in rows if row["timed"] and row["calls"]]
    return {
        "world": rows[0]["world"],
        "function": rows[0]["function"],
        "calls": sum(row["calls"] for row in rows),
        "time_ns": sum(row["time_ns"] for row in rows),
        "min_ns": min((row["min_ns"] for row in timed), default=0),
        "max_ns": max((row["max_ns"] for row in timed), default=0),
        "bytes": sum(row["bytes"] for row in rows),
        "timed": bool(timed),
    }
