"""What ranks do outside MPI, by the other sources of events: files, OpenMP, samples of stacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from tare.analysis import profile, regions, stacks
from tare.analysis.groups import added, grouped
from tare.analysis.rows import Placed, changed, line_of, placed, row_place
from tare.functions import meaning, of_meaning

if TYPE_CHECKING:
    from tare._tables import FilesRow, ProfileRow, RegionsRow
    from tare.analysis.explain.basis import Basis
    from tare.analysis.explain.finding import Finding
    from tare.runs.run import Run

# The parallel region of OpenMP, in the thread that encounters it.
REGION = next(name for name in of_meaning(kind="start") if meaning(name).source == "openmp")
MPI_IO = "MPI-IO"  # the interface of calls of MPI
# A rank is the only one that does something if the others do less than this part of it.
ALONE = 0.1
ONE_RANK = ("slow rank", "load imbalance")


Code = list[tuple[str | None, str | None]]  # of a call path: the file and the name of each function


class Outside:
    """Calls of other sources in one world, by line and rank; nothing if a run has no other sources."""

    def __init__(self, run: Run, world: int, *, is_estimated: bool = False) -> None:
        """`is_estimated`: where some calls were only counted, times are estimates for all of them."""
        self._run = run
        self._world = world
        self._is_estimated = is_estimated

    @cached_property
    def lines(self) -> list[ProfileRow]:
        """Calls on files and constructs of OpenMP: a row for each line and rank."""
        if not self._run.meta.options.sources:
            return []
        return [row for row in self._of_lines() if meaning(row.function).source != "MPI"]

    def _of_lines(self, *, callers_alone: bool = False) -> list[ProfileRow]:
        rows = self._run.rows(self._run.profile(["line", "rank"], callers_alone=callers_alone))
        found = [row for row in rows if row.world == self._world and row.timed]
        return list(map(_of_whole_run, found)) if self._is_estimated else found

    @cached_property
    def region_weights(self) -> dict[Placed, float]:
        """The estimated time in each region in the whole run, divided by that of which all threads are known.

        A region of which that is not known is not here.
        """
        known_ns = added((line_of(placed(of)), of.time_ns) for of in regions.summed(self.regions))
        return {
            at: row.whole_time_ns / known_ns[at]
            for row in profile.summed(self._run, ["line"])
            if row.world == self._world and row.function == REGION
            if row.whole_time_ns is not None and row.whole_time_error_ns is not None
            if known_ns.get(at := line_of(row_place(row)))
        }

    @property
    def leaves_regions_out(self) -> bool:
        """Whether there are regions of which it is not known what they took in the whole run."""
        if not self._is_estimated or not self.regions:
            return False
        found = regions.summed(self.regions)
        return any(line_of(placed(of)) not in self.region_weights for of in found)

    @cached_property
    def of_files(self) -> list[ProfileRow]:
        """Calls on files, of threads whose time is that of the ranks: a helper may wait in them for ever."""
        if not self._run.meta.options.sources:
            return []
        return [row for row in self._of_lines(callers_alone=True) if meaning(row.function).source == "files"]

    @property
    def of_files_elsewhere_ns(self) -> int:
        """How long other threads are in calls on files."""
        everywhere = [row for row in self.lines if meaning(row.function).source == "files"]
        return sum(row.time_ns for row in everywhere) - sum(row.time_ns for row in self.of_files)

    @cached_property
    def lock_paths(self) -> dict[tuple[str, Placed], list[Code]]:
        """The call paths of what threads wait for at each line, the innermost function first."""
        if not self._run.meta.options.sources:
            return {}
        rows = [
            row
            for row in profile.summed(self._run, ["site"])
            if row.world == self._world and meaning(row.function).waits == "locks"
        ]
        of_lines = grouped(rows, lambda row: (row.function, row_place(row)))
        return {line: [_code_of(self._run, row) for row in of_line] for line, of_line in of_lines.items()}

    @cached_property
    def files(self) -> list[FilesRow]:
        """What ranks did with each file by calls of their own."""
        if not self._run.meta.options.sources:
            return []
        rows = self._run.rows(self._run.file_table)
        return [row for row in rows if row.world == self._world and row.interface != MPI_IO]

    def busiest_file(self, rank: int | None = None) -> str:
        """The file with most of the time of a rank, or of all; "" if none has, or it is not known."""
        of = [row for row in self.files if rank in (None, row.rank)]
        times = added((row.file or "", _time_ns(row)) for row in of)
        name = max(times, key=lambda each: times[each], default="")
        return name if 2 * times.get(name, 0) > sum(times.values()) else ""

    @cached_property
    def code_times(self) -> stacks.CodeTimes:
        """The time of each rank in the functions of the program, by samples of stacks."""
        return stacks.times_of_ranks(self._run, self._world)

    @cached_property
    def regions(self) -> list[RegionsRow]:
        """The threads in parallel regions of OpenMP."""
        if not self._run.meta.options.sources:
            return []
        return [row for row in self._run.rows(self._run.regions) if row.world == self._world]


def _of_whole_run(row: ProfileRow) -> ProfileRow:
    if row.whole_time_ns is None:
        return row
    whole = {"calls": row.whole_calls, "time_ns": row.whole_time_ns, "bytes": row.whole_bytes}
    return changed(row, **{name: value for name, value in whole.items() if value is not None})


def _code_of(run: Run, row: ProfileRow) -> Code:
    path = run.sites[row.site].path if row.site is not None and row.site >= 0 else ()
    return [(frame.file, frame.caller) for frame in path] or [(row.file, row.caller)]


def _time_ns(row: FilesRow) -> int:
    return row.read_ns + row.write_ns + row.sync_ns + row.meta_ns


def described(basis: Basis, found: Finding) -> Finding:
    """The finding, with what its cause does longer than the other ranks, as far as it is recorded."""
    cause = found.cause_rank
    # Where now one rank comes late, now another, sums of the whole run are not what makes the others wait.
    if cause is None or found.cause_in_call or found.kind == "alternating imbalance":
        return found
    found = _with_calls(basis, found, cause)
    more = stacks.more_than_others(basis.outside_mpi.code_times, cause)
    return found if more is None else replace(found, cause_code=more.function, cause_code_ns=more.time_ns)


def _with_calls(basis: Basis, found: Finding, cause: int) -> Finding:
    """The same with the calls of another source that take the cause longer, if most of its delay is there."""
    files, lines = basis.outside_mpi.of_files, basis.outside_mpi.lines
    for rows in (files, [row for row in lines if row.function == REGION]):
        row, more_ns = max(_more(rows, cause, basis.ranks), key=lambda each: each[1], default=(None, 0.0))
        if row is None or more_ns <= 0 or 2 * more_ns < _late_ns(found):
            continue
        is_serial = rows is files and _is_serial(files, found, cause, basis.ranks)
        return replace(
            found,
            kind="serial files" if is_serial else found.kind,
            longer_in=row.function,
            longer_at=row_place(row),
            longer_ns=round(more_ns),
            used_file=basis.outside_mpi.busiest_file(cause) if rows is files else "",
        )
    return found


def _late_ns(found: Finding) -> float:
    """How much later than the others the cause comes, in all."""
    if found.most_ns is not None and found.mean_ns is not None:
        return found.most_ns - found.mean_ns
    return found.time_ns * (found.cause_share or 0.0) / max(len(found.ranks), 1)


def _more(rows: Sequence[ProfileRow], rank: int, ranks: int) -> Iterator[tuple[ProfileRow, float]]:
    """How much more time a rank spends in the calls of each line than the others on average, ns."""
    for of_line in grouped(rows, lambda row: (row.function, row_place(row))).values():
        own = [row for row in of_line if row.rank == rank]
        own_ns = sum(row.time_ns for row in own)
        others_ns = sum(row.time_ns for row in of_line) - own_ns
        if own:
            yield own[0], own_ns - others_ns / max(ranks - 1, 1)


def _is_serial(files: Sequence[ProfileRow], found: Finding, cause: int, ranks: int) -> bool:
    """Whether the cause is the only one that works on files, while the others wait for it."""
    own_ns = sum(row.time_ns for row in files if row.rank == cause)
    others_ns = sum(row.time_ns for row in files) - own_ns
    is_alone = others_ns / max(ranks - 1, 1) < ALONE * own_ns
    return is_alone and found.kind in ONE_RANK and found.ranks == (cause,)
