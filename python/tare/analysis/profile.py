"""The profile, summed by any of its keys: call site, function, size, communicator, rank."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from tare.analysis.functions import OUTSIDE_NET, is_collective

if TYPE_CHECKING:
    from tare._native import Communicator, Frame, Process, ProfileRow, Site

Key = Literal["site", "function", "size", "communicator", "rank"]
KEYS: tuple[Key, ...] = ("site", "function", "size", "communicator", "rank")
Row = dict[str, Any]

# What each key adds to a row, then what every row has.
KEY_COLUMNS: dict[Key, tuple[str, ...]] = {
    "site": (
        "function",
        "file",
        "line",
        "caller",
        "object",
        "offset",
        "path",
        "path_shown",
        "path_gap",
        "path_cut",
    ),
    "function": ("function",),
    "size": ("size_from", "size_to"),
    "communicator": ("communicator", "communicator_size"),
    "rank": ("rank",),
}
FIGURES = ("calls", "time_ns", "mean_ns", "min_ns", "max_ns", "bytes", "received", "waited_ns", "timed")
OVER_RANKS = ("ranks", "rank_mean_ns", "rank_min_ns", "rank_min", "rank_max_ns", "rank_max", "imbalance_ns")
OF_A_RANK = ("calls", "time_ns", "bytes", "received", "mpi_share")


class Recorded(Protocol):
    """What a run holds, as far as its profile goes (recording.Recording)."""

    @property
    def profile(self) -> list[ProfileRow]: ...
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

    def has(self, world: int, rank: int) -> bool:
        return (not self.worlds or world in self.worlds) and (not self.ranks or rank in self.ranks)


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
    chosen = chosen or Chosen()
    rows = _chosen(recorded, chosen)
    if list(keys) == ["rank"]:
        return _by_rank(rows, recorded.processes, chosen)
    if not {"site", "function"} & set(keys):
        rows = [row for row in rows if row["function"] not in OUTSIDE_NET]
    describe = _Description(recorded)
    groups = _grouped(rows, describe.key_of(keys))
    imbalances = _imbalances(rows, describe, keys) if "rank" not in keys else {}
    result = []
    for key, group in groups.items():
        row = {"world": group.first["world"], **describe.columns_of(group.first, keys), **group.figures()}
        if "rank" not in keys:
            row |= group.over_ranks()
            row["imbalance_ns"] = imbalances.get(key)
        result.append(row)
    return result


def net_time_ns(rows: Iterable[ProfileRow] | Iterable[Row]) -> int:
    """Time in MPI between leaving MPI_Init and entering MPI_Finalize: what shares are of."""
    return sum(row["time_ns"] for row in rows if row["function"] not in OUTSIDE_NET)


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
        return {"file": None, "line": None, "caller": None, "object": None, "offset": None}
    found = sites[site]
    return {
        "file": found["file"],
        "line": found["line"],
        "caller": found["caller"],
        "object": found["object"] or None,
        "offset": found["offset"],
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


def _chosen(recorded: Recorded, chosen: Chosen) -> list[ProfileRow]:
    names = communicator_names(recorded.communicators) if chosen.communicators else []

    def wanted(row: ProfileRow) -> bool:
        if not chosen.has(row["world"], row["rank"]):
            return False
        if chosen.functions and row["function"] not in chosen.functions:
            return False
        number = row["communicator"]
        return not chosen.communicators or (number >= 0 and names[number] in chosen.communicators)

    return recorded.profile if chosen == Chosen() else [row for row in recorded.profile if wanted(row)]


class _Description:
    """Turns the numbers in rows into keys and columns."""

    def __init__(self, recorded: Recorded) -> None:
        self._sites = recorded.sites
        # Calls from the same lines are one site, though the compiler may have made several of one.
        self._lines = [_lines(site) for site in self._sites]
        self._communicators = recorded.communicators
        self._names = communicator_names(self._communicators)

    def key_of(self, keys: Sequence[Key]) -> Callable[[ProfileRow], Hashable]:
        parts = {key: getattr(self, f"_{key}") for key in keys}
        return lambda row: (row["world"], *(part(row) for part in parts.values()))

    def columns_of(self, row: ProfileRow, keys: Sequence[Key]) -> Row:
        result: Row = {}
        for key in keys:
            if key in ("site", "function"):
                result["function"] = row["function"]
            if key == "site":
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

    def _site(self, row: ProfileRow) -> Hashable:
        site = row["site"]
        return row["function"], self._lines[site] if 0 <= site < len(self._lines) else None

    def _function(self, row: ProfileRow) -> Hashable:
        return row["function"]

    def _size(self, row: ProfileRow) -> Hashable:
        return row["size_class"]

    def _communicator(self, row: ProfileRow) -> Hashable:
        return row["communicator"]

    def _rank(self, row: ProfileRow) -> Hashable:
        return row["rank"]


def size_range(size_class: int) -> tuple[int | None, int | None]:
    """Bytes of the calls of a class, from the first to the second, which is not in it."""
    if size_class < 0:
        return None, None
    return (0, 1) if size_class == 0 else (1 << (size_class - 1), 1 << size_class)


def _lines(site: Site) -> Hashable:
    return site["cut"], site["left_out"], tuple(_line(frame) for frame in site["path"])


def _line(frame: Frame) -> Hashable:
    if frame["file"] is None or frame["line"] is None:
        return frame["object"], frame["offset"]
    return frame["object"], frame["caller"], frame["file"], frame["line"]


class _Group:
    """Rows of one key, added up."""

    def __init__(self, first: ProfileRow) -> None:
        self.first = first
        self.calls = self.time_ns = self.bytes = self.timed_calls = 0
        self.received = self.waited_ns = 0
        self.min_ns: int | None = None
        self.max_ns = 0
        self.by_rank: dict[int, int] = {}

    def add(self, row: ProfileRow) -> None:
        self.calls += row["calls"]
        self.bytes += row["bytes"]
        self.received += row["received"]
        self.waited_ns += row["waited_ns"]
        if not row["timed"] or not row["calls"]:
            return
        self.timed_calls += row["calls"]
        self.time_ns += row["time_ns"]
        self.min_ns = row["min_ns"] if self.min_ns is None else min(self.min_ns, row["min_ns"])
        self.max_ns = max(self.max_ns, row["max_ns"])
        self.by_rank[row["rank"]] = self.by_rank.get(row["rank"], 0) + row["time_ns"]

    def figures(self) -> Row:
        return {
            "calls": self.calls,
            "time_ns": self.time_ns,
            "mean_ns": self.time_ns / self.timed_calls if self.timed_calls else 0.0,
            "min_ns": self.min_ns or 0,
            "max_ns": self.max_ns,
            "bytes": self.bytes,
            "received": self.received,
            "waited_ns": self.waited_ns,
            "timed": self.timed_calls > 0,
        }

    def over_ranks(self) -> Row:
        """The time that single ranks spend in these calls, of those that make them."""
        times = self.by_rank
        if not times:
            return dict.fromkeys(OVER_RANKS)
        least, most = min(times, key=times.__getitem__), max(times, key=times.__getitem__)
        return {
            "ranks": len(times),
            "rank_mean_ns": self.time_ns / len(times),
            "rank_min_ns": times[least],
            "rank_min": least,
            "rank_max_ns": times[most],
            "rank_max": most,
        }

    def imbalance_ns(self) -> int:
        return self.time_ns - len(self.by_rank) * min(self.by_rank.values(), default=0)


def _grouped(rows: Iterable[ProfileRow], key: Callable[[ProfileRow], Hashable]) -> dict[Hashable, _Group]:
    groups: dict[Hashable, _Group] = {}
    for row in rows:
        at = key(row)
        group = groups.get(at)
        if group is None:
            group = groups[at] = _Group(row)
        group.add(row)
    return groups


def _imbalances(
    rows: Iterable[ProfileRow], describe: _Description, keys: Sequence[Key]
) -> dict[Hashable, int]:
    """By key: time in collectives beyond that of the rank with the least, which the others waited for.

    Found for each function, site and communicator: the ranks of different ones do not wait for each other.
    """
    collectives = [row for row in rows if row["timed"] and is_collective(row["function"])]
    coarse = describe.key_of(keys)
    finest: list[Key] = ["site", "communicator", *(key for key in keys if key == "size")]
    found: dict[Hashable, int] = {}
    for group in _grouped(collectives, describe.key_of(finest)).values():
        at = coarse(group.first)
        found[at] = found.get(at, 0) + group.imbalance_ns()
    return found


def _by_rank(rows: Iterable[ProfileRow], processes: Sequence[Process], chosen: Chosen) -> list[Row]:
    """One row a process; the time of all its calls is that of its account."""
    groups = _grouped(rows, lambda row: (row["world"], row["rank"]))
    everything = not chosen.functions and not chosen.communicators
    result = []
    for process in processes:
        if not chosen.has(process["world"], process["rank"]):
            continue
        group = groups.get((process["world"], process["rank"]))
        time_ns = process["mpi_ns"] if everything else group.time_ns if group else 0
        result.append(
            {
                "world": process["world"],
                "rank": process["rank"],
                "calls": group.calls if group else 0,
                "time_ns": time_ns,
                "bytes": group.bytes if group else 0,
                "received": group.received if group else 0,
                "mpi_share": time_ns / process["net_ns"] if process["net_ns"] > 0 else 0.0,
            }
        )
    return result
