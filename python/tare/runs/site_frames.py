"""Which frame of a call path stands for a call site: the one that tells it from the others.

The reader takes the innermost frame in the program itself. That says nothing where the application lies in a
shared library of its own, below a main program of a few lines; nor where the program calls MPI in one file of
wrappers. In the first case it is the innermost frame in that library, in the second the wrapper's caller.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tare.functions import OUTSIDE_NET, base

if TYPE_CHECKING:
    from tare._native import Frame, ProfileSum, Site, SumsQuery

# So much of all is nearly all.
NEARLY_ALL = 0.75
# Fewer rows tell nothing about what they have in common.
LEAST_ROWS = 3
# Ranks whose calls are looked at: all are of one program, or of few.
RANKS_SEEN = 64
# Wrappers of wrappers.
MOST_STEPS = 4

Sums = Callable[["Sequence[SumsQuery]"], "list[list[ProfileSum]]"]


@dataclass
class _Call:
    """A function called by one path, and the place in this path that stands for it."""

    function: str
    site: int
    path: list[Frame]
    gap: bool
    at: int

    @property
    def frame(self) -> Frame:
        return self.path[self.at]

    @property
    def row(self) -> Hashable:
        return self.function, _line(self.frame)

    @property
    def outer(self) -> Frame | None:
        """The caller, if it is known."""
        last = len(self.path) - 1
        return self.path[self.at + 1] if self.at < last and not (self.gap and self.at + 1 == last) else None


def with_chosen_frames(sites: list[Site], sums: Sums) -> list[Site]:
    """The sites, with the frame that stands for each chosen anew; asks `sums` only where that can matter."""
    if not any(len(site["path"]) > 1 for site in sites):
        return sites
    (rows,) = sums([{"by": ["function", "site"], "ranks": list(range(RANKS_SEEN))}])
    calls = [
        _Call(base(row["function"]), row["site"], site["path"], site["left_out"], site["shown"])
        for row in rows
        if row["site"] >= 0 and row["function"] not in OUTSIDE_NET
        for site in (sites[row["site"]],)
    ]
    for _ in range(MOST_STEPS):
        before = [call.at for call in calls]
        distinct = _rows(calls)
        _into_library(calls)
        _out_of_wrappers(calls)  # also of those in the library
        if _rows(calls) <= distinct:
            for call, at in zip(calls, before, strict=True):
                call.at = at
            break
    changed = {call.site: call.at for call in calls if call.at != sites[call.site]["shown"]}
    return [_shown(site, changed[number]) if number in changed else site for number, site in enumerate(sites)]


def _into_library(calls: Sequence[_Call]) -> None:
    """Where nearly all come by one line: the innermost frame in the library that this line calls."""
    by_line = _grouped(calls, lambda call: _line(call.frame))
    of_line = max(by_line.values(), key=_rows, default=[])
    inner = [call for call in of_line if call.at > 0]
    if not _are_nearly_all(of_line, calls) or len(inner) < NEARLY_ALL * len(of_line):
        return
    below = Counter(call.path[call.at - 1]["object"] for call in inner)
    library = below.most_common(1)[0][0]
    for call in inner:
        call.at = next((at for at in range(call.at) if _is_own(call, at, library)), call.at - 1)


def _is_own(call: _Call, at: int, library: str) -> bool:
    """In the library, and no wrapper by its name: `solver_MPI_Send`."""
    frame = call.path[at]
    return frame["object"] == library and call.function not in (frame["caller"] or "")


def _out_of_wrappers(calls: Sequence[_Call]) -> None:
    """Where nearly all come from one file of thin functions: their callers, if there are more of these."""
    by_file = _grouped((call for call in calls if call.frame["file"]), lambda call: call.frame["file"])
    of_file = max(by_file.values(), key=_rows, default=[])
    outside = [
        (call, call.at + 1)
        for call in of_file
        if call.outer is not None and call.outer["file"] != call.frame["file"]
    ]
    thin = _grouped(of_file, lambda call: call.frame["caller"]).values()
    are_thin = sum(len({call.function for call in each}) == 1 for each in thin) >= NEARLY_ALL * len(thin)
    if not _are_nearly_all(of_file, calls) or not are_thin or len(outside) < NEARLY_ALL * len(of_file):
        return
    before = {call.row for call, _ in outside}
    after = {(call.function, _line(call.path[at])) for call, at in outside}
    if len({call.function for call in of_file}) > 1 and len(after) > len(before):
        for call, at in outside:
            call.at = at


def _are_nearly_all(some: Sequence[_Call], calls: Sequence[_Call]) -> bool:
    return _rows(some) >= max(LEAST_ROWS, NEARLY_ALL * _rows(calls))


def _rows(calls: Iterable[_Call]) -> int:
    """That a table of these would have."""
    return len({call.row for call in calls})


def _grouped(calls: Iterable[_Call], key: Callable[[_Call], Hashable]) -> dict[Hashable, list[_Call]]:
    groups: dict[Hashable, list[_Call]] = defaultdict(list)
    for call in calls:
        groups[key(call)].append(call)
    return groups


def _line(frame: Frame) -> Hashable:
    if frame["file"] is None or frame["line"] is None:
        return frame["object"], frame["offset"]
    return frame["object"], frame["file"], frame["line"]


def _shown(site: Site, at: int) -> Site:
    return {**site, **site["path"][at], "shown": at}
