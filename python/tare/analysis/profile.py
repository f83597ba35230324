"""The profile, summed by any of its keys: call site, line, function, size, communicator, rank.

docs/profile.md defines the figures. Times are nanoseconds, sizes are bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from tare.analysis.rows import PLACE, UNKNOWN, Placed, place_of
from tare.functions import OUTSIDE_NET, is_collective, meaning

if TYPE_CHECKING:
    from tare._native import Communicator, Frame, Process, ProfileSum, Site, SiteTotal, SumKey, SumsQuery

Key = Literal["site", "line", "function", "size", "communicator", "rank"]
KEYS: tuple[Key, ...] = ("site", "line", "function", "size", "communicator", "rank")

# What each key is in the native sums.
NATIVE_KEYS: dict[Key, tuple[SumKey, ...]] = {
    "site": ("function", "site"),
    "line": ("function", "site"),  # with one site for all calls of a line
    "function": ("function",),
    "size": ("size_class",),
    "communicator": ("communicator",),
    "rank": ("rank",),
}
PATH = ("path", "path_shown", "path_gap", "path_cut")
# Fields that each key adds to a row, then the fields of every row.
KEY_COLUMNS: dict[Key, tuple[str, ...]] = {
    "site": ("function", *PLACE, *PATH),
    "line": ("function", *PLACE),
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


@dataclass(frozen=True, kw_only=True)
class OverRanks:
    """The time that single ranks spend in the calls of a row; None if no rank made a timed call."""

    ranks: int | None = None  # number of ranks that made timed calls
    rank_mean_ns: float | None = None  # mean over these ranks
    rank_min_ns: int | None = None  # shortest time of a rank
    rank_min: int | None = None  # the rank with the shortest time
    rank_max_ns: int | None = None  # longest time of a rank
    rank_max: int | None = None  # the rank with the longest time


@dataclass(frozen=True, kw_only=True)
class OfWholeRun:
    """Totals that include calls that were only counted (`--budget`, `--weigh`).

    None if all calls were measured, or if a value is not known. Errors are half the widths of 95 % confidence
    intervals; 0: exact; None: not known.
    """

    whole_calls: int | None = None  # number of all calls
    whole_calls_error: int | None = None
    whole_time_ns: int | None = None  # time of all calls
    whole_time_error_ns: int | None = None
    whole_bytes: int | None = None  # bytes of all calls, without `received`
    whole_bytes_error: int | None = None


@dataclass(frozen=True, kw_only=True)
class Row(Placed, CallPath, OverRanks, OfWholeRun):
    """The sum of the calls with the same keys, over all ranks unless rank is a key.

    Fields of keys that were not asked for have their defaults. `columns` lists the fields that are set.
    """

    world: int
    function: str = ""
    size_from: int | None = None  # bytes of each call: at least this; None: no data, or unknown
    size_to: int | None = None  # and less than this
    communicator: str | None = None  # its name, or # and its index
    communicator_size: int | None = None  # number of its ranks
    rank: int | None = None
    calls: int  # all calls
    time_ns: int  # time of all these calls
    mean_ns: float  # mean, shortest and longest time of a call
    min_ns: int
    max_ns: int
    bytes: int
    received: int  # bytes received by calls that also send, not part of `bytes`
    waited_ns: int  # time of other calls that completed requests of these calls
    timed: bool  # False: no call was timed
    estimated_calls: int  # fast polls and starts of messages, whose time is estimated
    time_error_ns: int | None = None  # for starts: half the width of the 95 % interval of `time_ns`
    counted: int  # part of `calls` that was only counted: times and bytes are those of the others
    imbalance_ns: int | None = None  # of collectives: time in which ranks waited for the last rank


@dataclass(frozen=True, kw_only=True)
class RankRow:
    """All selected calls of one process; its rank is -1 if it has none."""

    world: int
    rank: int
    calls: int
    counted: int  # part of `calls` that was only counted
    time_ns: int
    bytes: int
    received: int  # bytes received by calls that also send, not part of `bytes`
    mpi_share: float  # `time_ns` divided by the net time of the threads that call MPI


def _time_error_ns(of: ProfileSum) -> int | None:
    """Half the width of the 95 % interval of the time of calls of which a sample was timed.

    That of a total by simple random sampling (Cochran, Sampling Techniques, 3rd ed., section 2.6). None for
    polls: what was not timed of them is no random sample.
    """
    calls, sampled = of["timed_calls"], of["timed_calls"] - of["estimated_calls"]
    if of["estimated_calls"] == 0 or sampled < 2 or meaning(of["function"]).poll:
        return None
    mean = of["time_ns"] / calls
    variance = max(0.0, of["squared_ns2"] / calls - mean**2)
    return round(1.96 * calls * math.sqrt(of["estimated_calls"] / calls * variance / sampled))


class Recorded(Protocol):
    """The data of a run that its profile needs (runs.run.Run)."""

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
    """The calls to sum; an empty field selects everything."""

    functions: frozenset[str] = frozenset()
    ranks: frozenset[int] = frozenset()
    communicators: frozenset[str] = frozenset()
    worlds: frozenset[int] = frozenset()


def columns(keys: Sequence[Key]) -> list[str]:
    """The fields of a row by these keys, in the order of JSON and CSV."""
    names = ["world"]
    for key in keys:
        names += KEY_COLUMNS[key]
    names += OF_A_RANK if list(keys) == ["rank"] else FIGURES
    names += OVER_RANKS if "rank" not in keys else ()
    names += OF_WHOLE_RUN if {"site", "line", "function"} & set(keys) else ()
    return list(dict.fromkeys(names))


def summed(
    recorded: Recorded,
    keys: Sequence[Key],
    chosen: Chosen | None = None,
    totals: Callable[[SumsQuery], Sequence[SiteTotal] | None] | None = None,
) -> list[Row]:
    """One row for each combination of `keys` that occurs, in the order of the run.

    The time of MPI_Init and MPI_Finalize is only in rows by function, line or site: it would hide all others.
    `totals` says what rows have in the whole run (totals.by_keys); None: rows are not to say so.
    """
    plan = _Summing(recorded, keys, chosen or Chosen())
    return plan.rows(recorded.profile_sums(plan.queries), totals(plan.queries[0]) if totals else None)


def summed_together(
    recorded: Recorded, several: Sequence[Sequence[Key]], chosen: Chosen | None = None
) -> list[list[Row]]:
    """The same for several combinations of keys, from one reading of the profiles."""
    plans = [_Summing(recorded, keys, chosen or Chosen()) for keys in several]
    sums = iter(recorded.profile_sums([query for plan in plans for query in plan.queries]))
    return [plan.rows([next(sums) for _ in plan.queries]) for plan in plans]


def questions(
    recorded: Recorded, several: Sequence[Sequence[Key]], chosen: Chosen | None = None
) -> list[SumsQuery]:
    """What `summed` asks for each of these combinations of keys, or `by_rank` (Run.expect)."""
    chosen = chosen or Chosen()
    if [list(keys) for keys in several] == [["rank"]]:
        return [_by_rank(recorded, chosen)]
    return [query for keys in several for query in _Summing(recorded, keys, chosen).queries]


class _Summing:
    """What is asked of the profiles for rows by some keys, and how the answers become rows."""

    def __init__(self, recorded: Recorded, keys: Sequence[Key], chosen: Chosen) -> None:
        self._keys = keys
        description = self._description = _Description(recorded)
        query = description.filters(chosen)
        functions = query.get("functions", recorded.functions)
        by_line = "line" in keys and "site" not in keys
        self._site_of = description.places if by_line else description.paths
        query["by"], query["site_of"] = description.native(keys), self._site_of
        if not {"site", "line", "function"} & set(keys):
            query["untimed"] = sorted(OUTSIDE_NET)
        self.queries = [query]
        if "rank" in keys:
            return
        # Ranks at different sites, or on different communicators, do not wait for each other.
        finest: list[Key] = ["site", "communicator", *(key for key in keys if key == "size")]
        finest_query = query.copy()
        finest_query["by"], finest_query["site_of"] = description.native(finest), description.paths
        finest_query["functions"] = [name for name in functions if is_collective(name)]
        self.queries.append(finest_query)

    def rows(
        self, answers: Sequence[list[ProfileSum]], totals: Sequence[SiteTotal] | None = None
    ) -> list[Row]:
        """`answers` to `queries`; `totals` of the rows of the first."""
        by = self.queries[0]["by"]
        whole = {_key(total, by): _of_whole_run(total) for total in totals or ()}
        # Of calls that were only counted, all of which are taken to have been made at known sites.
        otherwise = OfWholeRun() if totals is None else OfWholeRun(whole_calls=0)
        row = self._description.row
        if len(answers) == 1:
            return [
                row(each, self._keys, OverRanks(), None, whole.get(_key(each, by), otherwise))
                for each in answers[0]
            ]
        sums, single = answers
        imbalances = _imbalances(single, by, self._site_of)
        return [
            row(
                each,
                self._keys,
                _over_ranks(each),
                imbalances.get(_key(each, by)),
                whole.get(_key(each, by), otherwise),
            )
            for each in sums
        ]


def by_rank(recorded: Recorded, chosen: Chosen | None = None) -> list[RankRow]:
    """One row for each process. Without filters, the time is that of the process's own account."""
    filters = _by_rank(recorded, chosen or Chosen())
    (sums,) = recorded.profile_sums([filters])
    found = {(row["world"], row["rank"]): row for row in sums}
    is_all = not {"functions", "communicators"} & set(filters)
    worlds, ranks = filters.get("worlds"), filters.get("ranks")
    result = []
    for process in recorded.processes:
        if (worlds and process["world"] not in worlds) or (ranks and process["rank"] not in ranks):
            continue
        row = found.get((process["world"], process["rank"]))
        time_ns = process["mpi_ns"] if is_all else row["time_ns"] if row else 0
        result.append(
            RankRow(
                world=process["world"],
                rank=process["rank"],
                calls=row["calls"] if row else 0,
                counted=row["counted"] if row else 0,
                time_ns=time_ns,
                bytes=row["bytes"] if row else 0,
                received=row["received"] if row else 0,
                mpi_share=time_ns / process["threads_ns"] if process["threads_ns"] > 0 else 0.0,
            )
        )
    return result


def _by_rank(recorded: Recorded, chosen: Chosen) -> SumsQuery:
    return {**_Description(recorded).filters(chosen), "by": ["world", "rank"]}


AnyRow = TypeVar("AnyRow", Row, RankRow)


def ordered(rows: Iterable[AnyRow], column: str, limit: int) -> list[AnyRow]:
    """The rows with the largest values first, and unknown values last; all rows if `limit` is 0."""
    result = sorted(rows, key=lambda row: (getattr(row, column) or 0, row.calls), reverse=True)
    return result[:limit] if limit else result


def communicator_names(communicators: Sequence[Communicator]) -> list[str]:
    """The name of each communicator, or its number in the run if it has none: "#3"."""
    return [each["name"] or f"#{number}" for number, each in enumerate(communicators)]


def call_path(site: int, sites: Sequence[Site]) -> CallPath:
    """The call path of a site; empty for functions that are only counted."""
    if not 0 <= site < len(sites):
        return CallPath(path=[])
    found = sites[site]
    return CallPath(
        path=found["path"], path_shown=found["shown"], path_gap=found["left_out"], path_cut=found["cut"]
    )


class _Description:
    """Converts keys and names to those of the native sums, and native sums to rows."""

    def __init__(self, recorded: Recorded) -> None:
        self._sites = recorded.sites
        self._communicators = recorded.communicators
        self._names = communicator_names(self._communicators)
        # A compiler may copy a line. Calls with the same lines on their paths are one site.
        self.paths = _first_equal(map(_lines, self._sites))
        # Calls from one line of the program, whatever their paths.
        self.places = _first_equal(_line(site) for site in self._sites)

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

    def row(
        self,
        of: ProfileSum,
        keys: Sequence[Key],
        spread: OverRanks,
        imbalance_ns: int | None,
        whole: OfWholeRun,
    ) -> Row:
        with_place = "site" in keys or "line" in keys
        place = place_of(of["site"], self._sites) if with_place else UNKNOWN
        path = call_path(of["site"], self._sites) if "site" in keys else _NO_PATH
        size_from, size_to = size_range(of["size_class"]) if "size" in keys else (None, None)
        communicator = of["communicator"] if "communicator" in keys else -1
        known = communicator >= 0
        timed = of["timed_calls"]
        return Row(
            world=of["world"],
            function=of["function"] if with_place or "function" in keys else "",
            file=place.file,
            line=place.line,
            caller=place.caller,
            object=place.object,
            offset=place.offset,
            tail_call=place.tail_call,
            path=path.path,
            path_shown=path.path_shown,
            path_gap=path.path_gap,
            path_cut=path.path_cut,
            size_from=size_from,
            size_to=size_to,
            communicator=self._names[communicator] if known else None,
            communicator_size=self._communicators[communicator]["size"] if known else None,
            rank=of["rank"] if "rank" in keys else None,
            calls=of["calls"],
            time_ns=of["time_ns"],
            mean_ns=of["time_ns"] / timed if timed else 0.0,
            min_ns=of["min_ns"],
            max_ns=of["max_ns"],
            bytes=of["bytes"],
            received=of["received"],
            waited_ns=of["waited_ns"],
            timed=timed > 0,
            estimated_calls=of["estimated_calls"],
            time_error_ns=_time_error_ns(of) if with_place or "function" in keys else None,
            counted=of["counted"],
            ranks=spread.ranks,
            rank_mean_ns=spread.rank_mean_ns,
            rank_min_ns=spread.rank_min_ns,
            rank_min=spread.rank_min,
            rank_max_ns=spread.rank_max_ns,
            rank_max=spread.rank_max,
            imbalance_ns=imbalance_ns,
            whole_calls=whole.whole_calls,
            whole_calls_error=whole.whole_calls_error,
            whole_time_ns=whole.whole_time_ns,
            whole_time_error_ns=whole.whole_time_error_ns,
            whole_bytes=whole.whole_bytes,
            whole_bytes_error=whole.whole_bytes_error,
        )


_NO_PATH = CallPath()


def size_range(size_class: int) -> tuple[int | None, int | None]:
    """Bytes of the calls of a size class: from the first number to below the second; None: no data."""
    if size_class < 0:
        return None, None
    return (0, 1) if size_class == 0 else (1 << (size_class - 1), 1 << size_class)


def _first_equal(sites: Iterable[Hashable]) -> list[int]:
    """For each site, the number of the first site that is equal to it."""
    first: dict[Hashable, int] = {}
    return [first.setdefault(site, number) for number, site in enumerate(sites)]


def _lines(site: Site) -> Hashable:
    return site["cut"], site["left_out"], tuple(_line(frame) for frame in site["path"])


def _line(frame: Frame | Site) -> Hashable:
    if frame["file"] is None or frame["line"] is None:
        # The caller tells apart frames of imported traces, which have no address.
        return frame["object"], frame["offset"], frame["caller"]
    return frame["object"], frame["caller"], frame["file"], frame["line"], frame["tail_call"]


def _key(row: Mapping[str, Any], by: Iterable[SumKey]) -> Hashable:
    return tuple(row[part] for part in by)


def _of_whole_run(total: SiteTotal) -> OfWholeRun:
    """Of calls of which none was measured, no more is known than their number."""
    measured = total["measured_calls"] > 0
    return OfWholeRun(
        whole_calls=total["calls"],
        whole_calls_error=total["calls_error"],
        whole_time_ns=total["time_ns"] if measured else None,
        whole_time_error_ns=total["time_error_ns"] if measured else None,
        whole_bytes=total["bytes"] if measured else None,
        whole_bytes_error=total["bytes_error"] if measured else None,
    )


def _over_ranks(row: ProfileSum) -> OverRanks:
    if not row["ranks"]:
        return OverRanks()
    return OverRanks(
        ranks=row["ranks"],
        rank_mean_ns=row["time_ns"] / row["ranks"],
        rank_min_ns=row["rank_time_min_ns"],
        rank_min=row["rank_time_min_at"],
        rank_max_ns=row["rank_time_max_ns"],
        rank_max=row["rank_time_max_at"],
    )


def _imbalances(
    single: Iterable[ProfileSum], by: Sequence[SumKey], site_of: Sequence[int]
) -> dict[Hashable, int]:
    """The waiting time in collectives by key: time of all ranks minus that of the rank with the least.

    `single`: the sums of each collective function, site and communicator.
    """
    found: dict[Hashable, int] = {}
    for row in single:
        if row["ranks"]:
            site = row["site"]
            at = _key({**row, "site": site_of[site] if site >= 0 else site}, by)
            found[at] = found.get(at, 0) + row["time_ns"] - row["ranks"] * row["rank_time_min_ns"]
    return found
