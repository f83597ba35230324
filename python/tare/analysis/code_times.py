"""The time of a run by function or line: the program's by samples of its stacks, beside that in calls.

By rank, too, a row says how much longer the rank is there than the mean of all ranks (sampling_error.py).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tare import functions
from tare.analysis import profile, rank_differences, sampling_error
from tare.analysis.groups import added
from tare.analysis.profile import Chosen
from tare.analysis.ranks import has_ranks
from tare.analysis.rows import fields
from tare.analysis.sampling_error import Sampled
from tare.analysis.stacks import UNKNOWN, frames, function_name, samples

if TYPE_CHECKING:
    from tare._native import Frame, Site
    from tare._tables import ProfileRow, StackSamplesRow
    from tare.runs.run import Run

CODE = ("function", "line")
INLINED = re.compile(r" \(inlined in (.+)\)$")

Rank = tuple[int, int]  # world, rank
# World, rank, process if it has no rank, thread; None: of all.
Whose = tuple[int | None, int | None, int | None, int | None]
Code = tuple[str, str | None, str | None, int | None]  # function, file, object, line


@dataclass(frozen=True, kw_only=True)
class CodeTime:
    """The time of a function or line, of all threads, of a rank or of a thread.

    Of code of the program: processor time by samples. Of a function of MPI or of another source of events:
    time in its calls.
    """

    function: str
    source: str  # "program", or the source of events, like "MPI"
    world: int | None = None  # None: of all, as with the next two
    rank: int | None = None
    thread: int | None = None
    pid: int | None = None  # of what has no rank, the process; None: several, or it has a rank
    time_ns: int  # in the function or line itself
    error_ns: int | None  # half the width of the 95 % confidence interval of it; 0: exact; None: not known
    with_callees_ns: int  # and in the functions that it calls
    calls: int | None  # None: they are not counted
    # Of the ranks that the run has: their mean, the longest, and whose that is; None where there are none.
    rank_mean_ns: float | None
    rank_max_ns: int | None
    rank_max: int | None
    # Of a rank: time beyond the mean of all ranks, half its 95 % confidence interval, and whether that is no
    # chance.
    more_ns: int | None = None
    more_error_ns: int | None = None
    more_is_certain: bool | None = None
    file: str | None = None
    line: int | None = None
    object: str | None = None
    # Of calls some of which were only counted, as the profile estimates them.
    whole_calls: int | None = None
    whole_calls_error: int | None = None
    whole_time_ns: int | None = None
    whole_time_error_ns: int | None = None
    whole_bytes: int | None = None
    whole_bytes_error: int | None = None

    @property
    def contains_others(self) -> bool:
        """Whether its time is that of other rows, too."""
        return functions.contains_program(self.function)


def is_by_code(keys: Sequence[str]) -> bool:
    """Whether rows can stand for this: a function or a line, of all ranks, of a rank or of a thread."""
    return sorted(keys) in [sorted((code, *of)) for code in CODE for of in ((), ("rank",), ("thread",))]


def by(recorded: Run, keys: Sequence[str], chosen: Chosen | None = None) -> list[CodeTime]:
    """Code of the program and of the sources of events, the longest time first; `keys`: see is_by_code.

    By thread, there is the program's alone: calls are not known by thread.
    """
    chosen = chosen or Chosen()
    every = replace(chosen, ranks=frozenset()) if "rank" in keys else chosen
    found = list(_of_program(recorded, samples(recorded, every), keys, every))
    if "thread" not in keys:
        found += _of_calls(recorded, keys, every)
    if "rank" in keys:
        found = [each for each in found if not chosen.ranks or each.rank in chosen.ranks]
    return sorted(found, key=lambda each: each.time_ns, reverse=True)


@dataclass
class _Sums:
    own: Sampled = field(default_factory=Sampled)
    with_callees_ns: int = 0
    of_rank: dict[tuple[int, int, int], Sampled] = field(default_factory=lambda: defaultdict(Sampled))


def _of_program(
    recorded: Run, rows: Sequence[StackSamplesRow], keys: Sequence[str], chosen: Chosen
) -> Iterator[CodeTime]:
    by_line = "line" in keys
    of_all: dict[Whose, Sampled] = defaultdict(Sampled)
    sums: dict[tuple[Code, Whose], _Sums] = defaultdict(_Sums)
    sites = recorded.sites
    files = {} if by_line else _files_of(sites)
    known: dict[Hashable, tuple[Code, Sequence[Code]]] = {}
    for row in rows:
        time = Sampled(row.time_ns, row.samples)
        whose = _whose(row, row.pid, row.thread, keys)
        of_all[whose] = of_all[whose].plus(time)
        if row.activity != "program":
            continue
        place = row.site, row.caller, row.line
        if place not in known:
            known[place] = _codes(row, sites, files, by_line=by_line)
        own, codes = known[place]
        at = sums[own, whose]
        at.own = at.own.plus(time)
        who = row.world, row.rank, row.pid
        at.of_rank[who] = at.of_rank[who].plus(time)
        for code in codes:
            sums[code, whose].with_callees_ns += row.time_ns
    for (site, whose), time_ns in _calls_of_sites(recorded, keys, chosen).items():
        for code in _codes_of_path(site, sites, files, by_line=by_line):
            sums[code, whose].with_callees_ns += time_ns
    ranks, have_ranks = rank_differences.ranks_of(recorded), has_ranks(recorded.processes)
    of_ranks = {
        (code, (world, rank)): of.own
        for (code, (world, rank, pid, _)), of in sums.items()
        if world is not None and rank is not None and pid is None
    }
    differences = (
        rank_differences.from_mean(of_ranks, rank_differences.totals(rows), ranks) if "rank" in keys else {}
    )
    in_world = added(((code, world), time.time_ns) for (code, (world, _)), time in of_ranks.items())
    for (code, (world, rank, pid, thread)), of in sums.items():
        (_, longest, _), longest_time = max(
            of.of_rank.items(), key=lambda each: each[1].time_ns, default=((0, -1, 0), Sampled())
        )
        more, is_certain = differences.get((code, (world or 0, -1 if rank is None else rank)), (None, None))
        in_all_ns, of_so_many = of.own.time_ns, sum(ranks.values())
        is_of_ranks = have_ranks if rank is None else rank >= 0
        if world is not None and pid is None:
            in_all_ns, of_so_many = in_world[code, world], ranks.get(world, 1)
        name, file, object_, line = code
        yield CodeTime(
            function=name,
            source="program",
            world=world,
            rank=rank,
            thread=thread,
            pid=pid,
            time_ns=round(of.own.time_ns),
            error_ns=round(sampling_error.error_ns(of.own, of_all[world, rank, pid, thread])),
            with_callees_ns=max(of.with_callees_ns, round(of.own.time_ns)),
            calls=None,
            rank_mean_ns=in_all_ns / max(1, of_so_many) if is_of_ranks else None,
            rank_max_ns=round(longest_time.time_ns) if is_of_ranks else None,
            rank_max=longest if longest >= 0 else None,
            more_ns=None if more is None else round(more.more_ns),
            more_error_ns=None if more is None else round(more.error_ns),
            more_is_certain=is_certain,
            file=file,
            line=line,
            object=object_,
        )


def _calls_of_sites(
    recorded: Run, keys: Sequence[str], chosen: Chosen
) -> dict[tuple[int | None, Whose], int]:
    """The time in calls, by call path; none by thread, as it is not known of calls."""
    if "thread" in keys:
        return {}
    by: list[profile.Key] = ["function", "site", *(["rank"] if "rank" in keys else [])]  # type: ignore[list-item]
    rows = [row for row in profile.summed(recorded, by, chosen) if profile.has_own_time(row)]
    return added(((row.site, _whose(row, row.pid, None, keys)), row.time_ns) for row in rows)


def _whose(
    row: StackSamplesRow | ProfileRow, pid: int | None, thread: int | None, keys: Sequence[str]
) -> Whose:
    if not {"thread", "rank"} & set(keys):
        return None, None, None, None
    return row.world, row.rank, pid if row.rank < 0 else None, thread if "thread" in keys else None


# By name and object of a function.
Files = dict[tuple[str, str | None], set[str | None]]


def _files_of(sites: Sequence[Site]) -> Files:
    """The files of functions, from the frames that are in no inlined function."""
    found: Files = defaultdict(set)
    for site in sites:
        for inner, frame in enumerate(site.path):
            name = function_name(frame, is_innermost=not inner)
            if not INLINED.search(name):
                found[name, frame.object or None].add(frame.file or None)
    return found


def _codes(
    row: StackSamplesRow, sites: Sequence[Site], files: Files, *, by_line: bool
) -> tuple[Code, Sequence[Code]]:
    """Whose own time a sample is, and all that were under way.

    By line it is that of the innermost function of the program itself, which may have called a library.
    """
    codes = _codes_of_path(row.site, sites, files, by_line=by_line)
    if by_line:
        return (function_name(row), row.file or None, row.object or None, row.line or None), codes
    return (codes[0] if codes else (UNKNOWN, None, None, None)), codes


def _codes_of_path(site: int | None, sites: Sequence[Site], files: Files, *, by_line: bool) -> Sequence[Code]:
    """All that are under way, each once, innermost first."""
    path = frames(site, sites)
    of_path = (_codes_of(frame, inner, files, by_line=by_line) for inner, frame in enumerate(path))
    return list(dict.fromkeys(code for of_frame in of_path for code in of_frame))


def _codes_of(frame: Frame, inner: int, files: Files, *, by_line: bool) -> Iterator[Code]:
    """The function of a frame, or its line; and the function that it is inlined in.

    `inner`: the number of frames below it. The frame has the file of the inlined function; that of the other
    is not known unless other frames tell it.
    """
    name, place = function_name(frame, is_innermost=not inner), (frame.file or None, frame.object or None)
    yield name, *place, (frame.line or None) if by_line else None
    if not by_line and (outer := INLINED.search(name)):
        own = files.get((outer[1], place[1]), set())
        yield outer[1], next(iter(own)) if len(own) == 1 else None, place[1], None


def _of_calls(recorded: Run, keys: Sequence[str], chosen: Chosen) -> Iterator[CodeTime]:
    code: profile.Key = "line" if "line" in keys else "function"
    by_rank = "rank" in keys
    ranks, have_ranks = rank_differences.ranks_of(recorded), has_ranks(recorded.processes)
    of_ranks: dict[Hashable, dict[tuple[int, int, int | None], int]] = defaultdict(dict)
    of_world: dict[Hashable, int] = defaultdict(int)
    rows = profile.summed(recorded, [code, "rank"], chosen)
    for row in rows:
        of_ranks[_place(row, code)][row.world, row.rank, row.pid] = row.time_ns
        of_world[row.world, _place(row, code)] += row.time_ns
    for row in rows if by_rank else profile.summed(recorded, [code], chosen):
        if not row.timed:
            continue
        of_rank = of_ranks[_place(row, code)]
        (_, longest, _), longest_ns = max(of_rank.items(), key=lambda each: each[1])
        mean_ns = row.time_ns / max(1, sum(ranks.values()))
        if by_rank:
            longest, longest_ns = row.rank, row.time_ns
            mean_ns = of_world[row.world, _place(row, code)] / max(1, ranks.get(row.world, 1))
        is_of_ranks = row.rank >= 0 if by_rank else have_ranks
        error_ns = row.time_error_ns if row.estimated_calls else 0
        is_compared = by_rank and row.rank >= 0 and ranks.get(row.world, 0) > 1 and error_ns == 0
        yield CodeTime(
            function=row.function,
            source=functions.meaning(row.function).source,
            world=row.world if by_rank else None,
            rank=row.rank if by_rank else None,
            pid=row.pid,
            time_ns=row.time_ns,
            error_ns=error_ns,
            with_callees_ns=row.time_ns,
            calls=row.calls,
            rank_mean_ns=mean_ns if is_of_ranks else None,
            rank_max_ns=longest_ns if is_of_ranks else None,
            rank_max=longest if longest >= 0 else None,
            more_ns=round(row.time_ns - mean_ns) if is_compared else None,
            more_error_ns=0 if is_compared else None,
            more_is_certain=round(row.time_ns - mean_ns) != 0 if is_compared else None,
            file=row.file if code == "line" else None,
            line=row.line if code == "line" else None,
            object=row.object if code == "line" else None,
            **fields(row, profile.OF_WHOLE_RUN),
        )


def _place(row: ProfileRow, code: profile.Key) -> Hashable:
    if code == "function":
        return row.function
    return row.function, row.file, row.line, row.object, row.offset if row.line is None else None
