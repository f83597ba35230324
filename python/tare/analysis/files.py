"""Files by name and interface (`tare run --with files`): calls, bytes, times, sizes and offsets.

A row of the table `files` is a file that a process used; these sum them up. Times are nanoseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tare.analysis.groups import grouped

if TYPE_CHECKING:
    from tare._tables import FilesRow
    from tare.runs.run import Run

KEY = ("file", "naming", "interface", "kind")
SIZES = ("to_100", "to_1k", "to_10k", "to_100k", "to_1m", "to_4m", "to_10m", "to_100m", "to_1g", "above_1g")
SUMS = (
    "opens", "closes", "reads", "writes", "seeks", "syncs", "other_calls", "failed", "read_bytes",
    "written_bytes", "read_ns", "write_ns", "sync_ns", "meta_ns",
    *(f"{direction}_{size}" for direction in ("reads", "writes") for size in SIZES),
)  # fmt: skip
LARGEST = ("longest_read_ns", "longest_write_ns")
# What is known of accesses with an offset.
LOCATED_SUMS = (
    "located_reads", "located_writes", "consecutive_reads", "consecutive_writes", "sequential_reads",
    "sequential_writes", "strided_reads", "strided_writes", "switches",
)  # fmt: skip
LOCATED_LARGEST = ("read_end", "written_end")
FIGURES = (*SUMS, *LARGEST, *LOCATED_SUMS, *LOCATED_LARGEST)


@dataclass(frozen=True, kw_only=True)
class UsedFile:
    """What all ranks, or one rank, did with a file through an interface: the columns of the table `files`."""

    world: int
    rank: int | None = None  # None: of several
    pid: int | None = None  # of one process without a rank
    ranks: int  # processes that used it
    file: str | None  # None: not known
    naming: str
    interface: str
    kind: str | None
    opens: int
    closes: int
    reads: int
    writes: int
    seeks: int
    syncs: int
    other_calls: int
    failed: int
    read_bytes: int
    written_bytes: int
    read_ns: int
    write_ns: int
    sync_ns: int
    meta_ns: int
    longest_read_ns: int
    longest_write_ns: int
    reads_to_100: int
    reads_to_1k: int
    reads_to_10k: int
    reads_to_100k: int
    reads_to_1m: int
    reads_to_4m: int
    reads_to_10m: int
    reads_to_100m: int
    reads_to_1g: int
    reads_above_1g: int
    writes_to_100: int
    writes_to_1k: int
    writes_to_10k: int
    writes_to_100k: int
    writes_to_1m: int
    writes_to_4m: int
    writes_to_10m: int
    writes_to_100m: int
    writes_to_1g: int
    writes_above_1g: int
    located_reads: int | None  # this and the others: None: offsets are not known
    located_writes: int | None
    consecutive_reads: int | None
    consecutive_writes: int | None
    sequential_reads: int | None
    sequential_writes: int | None
    strided_reads: int | None
    strided_writes: int | None
    switches: int | None
    read_end: int | None
    written_end: int | None

    @property
    def time_ns(self) -> int:
        """The time of all calls."""
        return self.read_ns + self.write_ns + self.sync_ns + self.meta_ns

    @property
    def calls(self) -> int:
        """The number of reads and writes."""
        return self.reads + self.writes

    @property
    def bytes(self) -> int:
        """The bytes that were read and written."""
        return self.read_bytes + self.written_bytes

    @property
    def consecutive_share(self) -> float | None:
        """The part of the accesses with an offset that began where the one before ended."""
        return self._share(self.consecutive_reads, self.consecutive_writes)

    @property
    def strided_share(self) -> float | None:
        """The same of those at equal distances."""
        return self._share(self.strided_reads, self.strided_writes)

    def _share(self, reads: int | None, writes: int | None) -> float | None:
        located = (self.located_reads or 0) + (self.located_writes or 0)
        return ((reads or 0) + (writes or 0)) / located if located else None


def summed(rows: Iterable[FilesRow], keys: Sequence[str] = ()) -> list[UsedFile]:
    """The files by name and interface and, if `keys` has it, by "rank"; those with the longest time first."""
    by_rank = "rank" in keys

    def key(row: FilesRow) -> tuple[object, ...]:
        of_rank = (row.rank, row.pid) if by_rank else ()
        return (row.world, *(getattr(row, name) for name in KEY), *of_rank)

    found = [_sum(of, by_rank=by_rank) for of in grouped(rows, key).values()]
    return sorted(found, key=lambda used: -used.time_ns)


def _sum(rows: Sequence[FilesRow], *, by_rank: bool) -> UsedFile:
    def over_rows(how: Callable[[list[int]], int], names: Sequence[str]) -> dict[str, int]:
        return {name: how([getattr(row, name) for row in rows]) for name in names}

    def if_known(how: Callable[[list[int]], int], names: Sequence[str]) -> dict[str, Any]:
        values = {name: [each for row in rows if (each := getattr(row, name)) is not None] for name in names}
        return {name: how(known) if known else None for name, known in values.items()}

    first = rows[0]
    return UsedFile(
        world=first.world,
        rank=first.rank if by_rank else None,
        pid=first.pid if by_rank and first.rank < 0 else None,
        ranks=len({(row.rank, row.pid) for row in rows}),
        file=first.file,
        naming=first.naming,
        interface=first.interface,
        kind=first.kind,
        **over_rows(sum, SUMS),
        **over_rows(max, LARGEST),
        **if_known(sum, LOCATED_SUMS),
        **if_known(max, LOCATED_LARGEST),
    )


def limits(run: Run, rows: Iterable[UsedFile]) -> list[str]:
    """Sentences about what the table does not tell."""
    found = []
    if any(row.naming == "others" for row in rows):
        found.append(
            "A process used more files than its table has room for: those beyond are one row, (other files)"
        )
    if run.has_counted_time:
        found.append("Calls that were only counted (--weigh, --budget) are in no file's row")
    return found
