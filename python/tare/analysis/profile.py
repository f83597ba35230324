"""The profile, summed by any of its keys: call site, line, function, size, communicator, rank."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from tare.functions import OUTSIDE_NET, is_collective

if TYPE_CHECKING:
    from tare._native import Communicator, Frame, Process, ProfileSum, Site, SumKey, SumsQuery

Key = Literal["site", "line", "function", "size", "communicator", "rank"]
KEYS: tuple[Key, ...] = ("site", "line", "function", "size", "communicator", "rank")
Row = dict[str, Any]

# What each key is in the native sums.
NATIVE_KEYS: dict[Key, tuple[SumKey, ...]] = {
    "site": ("function", "site"),
    "line": ("function", "site"),  # with one site for all of a line
    "function": ("function",),
    "size": ("size_class",),
    "communicator": ("communicator",),
    "rank": ("rank",),
}
# What each key adds to a row, then what every row has.
PLACE = ("function", "file", "line", "caller", "object", "offset", "tail_call")
KEY_COLUMNS: dict[Key, tuple[str, ...]] = {
    "site": (*PLACE, "path", "path_shown", "path_gap", "path_cut"),
    "line": PLACE,
    "function": ("function",),
    "size": ("size_from", "size_to"),
    "communicator": ("communicator", "communicator_size"),
    "rank": ("rank",),
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
    "lookups",
)
OVER_RANKS = ("ranks", "rank_mean_ns", "rank_min_ns", "rank_min", "rank_max_ns", "rank_max", "imbalance_ns")
OF_A_RANK = ("calls", "time_ns", "bytes", "received", "mpi_share")


class Recorded(Protocol):
    """What a run holds, as far as its profile goes (recording.Run)."""

    def profile_sums(self, queries: Sequence[SumsQuery]) -> list[list[ProfileSum]]: ...
    @property
    def functions(self) -> list[str]: ...
    @property
    def sites(self) -> list[Site]: ...
    @property
    def communicators(self) -> list[Communicator]: ...
    @property
    def processes(self) -> list[Process]: ...


@dataclass(frozen=True)
class Chosen:
    """What is to be summed; empty: everything."""

    functions: frozenset[str] = frozenset()
    ranks: frozenset[int] = frozenset()
    communicators: frozenset[str] = frozenset()
    worlds: frozenset[int] = frozenset()


def columns(keys: Sequence[Key]) -> list[str]:
    """The names of a row's fields, in order."""
    names = ["world"]
    for key in keys:
        names += KEY_COLUMNS[key]
    names += OF_A_RANK if list(keys) == ["rank"] else FIGURES
    names += OVER_RANKS if "rank" not in keys else ()
    return list(dict.fromkeys(names))


def summed(recorded: Recorded, keys: Sequence[Key], chosen: Chosen | None = None) -> list[Row]:
    """One row for each combination of `keys` that occurs, in no order but that of the run.

    MPI_Init and MPI_Finalize have rows of their own, or none: they would drown what is added to them.
    """
    describe = _Description(recorded)
    filters = describe.filters(chosen or Chosen())
    if list(keys) == ["rank"]:
        return _by_rank(recorded, filters)
    site_of = describe.places if "line" in keys and "site" not in keys else describe.paths
    query: SumsQuery = {**filters, "by": describe.native(keys), "site_of": site_of}
    if not {"site", "line", "function"} & set(keys):
        query["without"] = sorted(OUTSIDE_NET)
    if "rank" in keys:
        (sums,) = recorded.profile_sums([query])
        return [{**describe.columns_of(each, keys), **_figures(each)} for each in sums]
    # The ranks of different sites and communicators do not wait for each other.
    finest: list[Key] = ["site", "communicator", *(key for key in keys if key == "size")]
    collectives = [name for name in filters.get("functions", recorded.functions) if is_collective(name)]
    finest_query: SumsQuery = {**query, "by": describe.native(finest), "functions": collectives}
    finest_query["site_of"] = describe.paths
    sums, single = recorded.profile_sums([query, finest_query])
    imbalances = _imbalances(single, query["by"], site_of)
    rows = []
    for each in sums:
        row = {**describe.columns_of(each, keys), **_figures(each), **_over_ranks(each)}
        row["imbalance_ns"] = imbalances.get(_key(each, query["by"]))
        rows.append(row)
    return rows


def ordered(rows: Iterable[Row], column: str, limit: int) -> list[Row]:
    """Largest first, what is not known last; all of them if `limit` is 0."""
    result = sorted(rows, key=lambda row: (row[column] or 0, row["calls"]), reverse=True)
    return result[:limit] if limit else result


def communicator_names(communicators: Sequence[Communicator]) -> list[str]:
    """The name that each has, or else a number of its own: "#3"."""
    return [each["name"] or f"#{number}" for number, each in enumerate(communicators)]


def place(site: int, sites: Sequence[Site]) -> Row:
    """Where a call came from, as columns; nothing is known of functions that are only counted."""
    if not 0 <= site < len(sites):
        return dict.fromkeys(PLACE[1:])
    found = sites[site]
    return {
        "file": found["file"],
        "line": found["line"],
        "caller": found["caller"],
        "object": found["object"] or None,
        "offset": found["offset"],
        "tail_call": found["tail_call"],
    }


def path(site: int, sites: Sequence[Site]) -> Row:
    """How the program came to a call, as columns; innermost frame first."""
    if not 0 <= site < len(sites):
        return {"path": [], "path_shown": 0, "path_gap": False, "path_cut": False}
    found = sites[site]
    return {
        "path": found["path"],
        "path_shown": found["shown"],
        "path_gap": found["left_out"],
        "path_cut": found["cut"],
    }


class _Description:
    """Turns keys and names into those of the native sums, and these into columns."""

    def __init__(self, recorded: Recorded) -> None:
        self._sites = recorded.sites
        self._communicators = recorded.communicators
        self._names = communicator_names(self._communicators)
        # Calls from the same lines are one site, though the compiler may have made several of one.
        self.paths = _first_alike(map(_lines, self._sites))
        # And from one line of the program, in whatever way.
        self.places = _first_alike(_line(site) for site in self._sites)

    def native(self, keys: Sequence[Key]) -> list[SumKey]:
        return list(dict.fromkeys(("world", *(part for key in keys for part in NATIVE_KEYS[key]))))

    def filters(self, chosen: Chosen) -> SumsQuery:
        query: SumsQuery = {}
        if chosen.worlds:
            query["worlds"] = sorted(chosen.worlds)
        if chosen.ranks:
            query["ranks"] = sorted(chosen.ranks)
        if chosen.functions:
            query["functions"] = sorted(chosen.functions)
        if chosen.communicators:
            named = enumerate(self._names)
            query["communicators"] = [number for number, name in named if name in chosen.communicators]
        return query

    def columns_of(self, row: ProfileSum, keys: Sequence[Key]) -> Row:
        result: Row = {"world": row["world"]}
        for key in keys:
            if key in ("site", "function"):
                result["function"] = row["function"]
            if key == "line":
                result |= {"function": row["function"], **place(row["site"], self._sites)}
            elif key == "site":
                result |= place(row["site"], self._sites) | path(row["site"], self._sites)
            elif key == "size":
                result["size_from"], result["size_to"] = size_range(row["size_class"])
            elif key == "communicator":
                number = row["communicator"]
                result["communicator"] = self._names[number] if number >= 0 else None
                result["communicator_size"] = self._communicators[number]["size"] if number >= 0 else None
            elif key == "rank":
                result["rank"] = row["rank"]
        return result


def size_range(size_class: int) -> tuple[int | None, int | None]:
    """Bytes of the calls of a class, from the first to the second, which is not in it."""
    if size_class < 0:
        return None, None
    return (0, 1) if size_class == 0 else (1 << (size_class - 1), 1 << size_class)


def _first_alike(sites: Iterable[Hashable]) -> list[int]:
    """For each, the number of the first that is equal to it."""
    first: dict[Hashable, int] = {}
    return [first.setdefault(site, number) for number, site in enumerate(sites)]


def _lines(site: Site) -> Hashable:
    return site["cut"], site["left_out"], tuple(_line(frame) for frame in site["path"])


def _line(frame: Frame | Site) -> Hashable:
    if frame["file"] is None or frame["line"] is None:
        return frame["object"], frame["offset"]
    return frame["object"], frame["caller"], frame["file"], frame["line"], frame["tail_call"]


def _key(row: Mapping[str, Any], by: Iterable[SumKey]) -> Hashable:
    return tuple(row[part] for part in by)


def _figures(row: ProfileSum) -> Row:
    timed = row["timed_calls"]
    return {
        # Those that the time and the mean are of: look-ups, which are counted only, stand beside them.
        "calls": timed or row["calls"],
        "time_ns": row["time_ns"],
        "mean_ns": row["time_ns"] / timed if timed else 0.0,
        "min_ns": row["min_ns"],
        "max_ns": row["max_ns"],
        "bytes": row["bytes"],
        "received": row["received"],
        "waited_ns": row["waited_ns"],
        "timed": timed > 0,
        "estimated_calls": row["estimated_calls"],
        "lookups": row["calls"] - timed,
    }


def _over_ranks(row: ProfileSum) -> Row:
    """The time that single ranks spend in these calls, of those that make them."""
    if not row["ranks"]:
        return dict.fromkeys(OVER_RANKS)
    return {
        "ranks": row["ranks"],
        "rank_mean_ns": row["time_ns"] / row["ranks"],
        "rank_min_ns": row["rank_time_min_ns"],
        "rank_min": row["rank_time_min_at"],
        "rank_max_ns": row["rank_time_max_ns"],
        "rank_max": row["rank_time_max_at"],
    }


def _imbalances(
    single: Iterable[ProfileSum], by: Sequence[SumKey], site_of: Sequence[int]
) -> dict[Hashable, int]:
    """By key: time in collectives beyond that of the rank with the least, which the others waited for.

    `single`: the sums of each collective function, site and communicator.
    """
    found: dict[Hashable, int] = {}
    for row in single:
        if row["ranks"]:
            site = row["site"]
            at = _key({**row, "site": site_of[site] if site >= 0 else site}, by)
            found[at] = found.get(at, 0) + row["time_ns"] - row["ranks"] * row["rank_time_min_ns"]
    return found


def _by_rank(recorded: Recorded, filters: SumsQuery) -> list[Row]:
    """One row a process; the time of all its calls is that of its account."""
    (sums,) = recorded.profile_sums([{**filters, "by": ["world", "rank"]}])
    found = {(row["world"], row["rank"]): row for row in sums}
    everything = not {"functions", "communicators"} & set(filters)
    worlds, ranks = filters.get("worlds"), filters.get("ranks")
    result = []
    for process in recorded.processes:
        if (worlds and process["world"] not in worlds) or (ranks and process["rank"] not in ranks):
            continue
        row = found.get((process["world"], process["rank"]))
        time_ns = process["mpi_ns"] if everything else row["time_ns"] if row else 0
        result.append(
            {
                "world": process["world"],
                "rank": process["rank"],
                "calls": row["calls"] if row else 0,
                "time_ns": time_ns,
                "bytes": row["bytes"] if row else 0,
                "received": row["received"] if row else 0,
                "mpi_share": time_ns / process["threads_ns"] if process["threads_ns"] > 0 else 0.0,
            }
        )
    return result
