"""What takes the time in files: many small accesses, or all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.finding import MIN_MPI_SHARE, MIN_SHARE, NAMED, OFTEN_PER_S, Finding
from tare.analysis.groups import added, grouped
from tare.analysis.rows import row_place
from tare.units import NS_PER_S

if TYPE_CHECKING:
    from tare._tables import ProfileRow

# An access that moves at most this much costs more for the call than for the bytes: a page.
SMALL_BYTES = 4096


def of_files(basis: Basis, told: Told) -> list[Finding]:
    """Small accesses by line; and the rest of the time in files, without that of ranks told to be late."""
    rows = basis.outside_mpi.of_files
    found = []
    for of_line in grouped(rows, lambda row: (row.function, row_place(row))).values():
        small = _small(basis, of_line)
        if small is not None:
            found.append(small)
            rows = [row for row in rows if row not in of_line]
    late = {each.cause_rank for each in told.findings if each.longer_in}
    rest = [row for row in rows if row.rank not in late]
    time_ns = sum(row.time_ns for row in rest)
    if basis.share(time_ns) >= MIN_MPI_SHARE:
        lines = grouped(rest, lambda row: (row.function, row_place(row))).values()
        most = max(lines, key=lambda of_line: sum(row.time_ns for row in of_line))
        found.append(_finding(basis, "files", most, time_ns, rest))
    return found


def _small(basis: Basis, of_line: Sequence[ProfileRow]) -> Finding | None:
    """Accesses of few bytes, so often that their number is what takes the time."""
    time_ns, calls = sum(row.time_ns for row in of_line), sum(row.calls for row in of_line)
    moved = sum(row.bytes for row in of_line)
    rate = (
        max((row.calls for row in of_line), default=0) / basis.profiled_ns * NS_PER_S
        if basis.profiled_ns
        else 0.0
    )
    is_small = 0 < moved <= SMALL_BYTES * calls and rate >= OFTEN_PER_S
    if not is_small or basis.share(time_ns) < MIN_SHARE:
        return None
    return _finding(basis, "small accesses", of_line, time_ns, of_line, per_second=rate)


def _finding(
    basis: Basis,
    kind: str,
    main: Sequence[ProfileRow],
    time_ns: int,
    of: Sequence[ProfileRow],
    per_second: float | None = None,
) -> Finding:
    """A finding of calls `of`, most of them those of the line `main`."""
    by_rank = added((-1 if row.rank is None else row.rank, row.time_ns) for row in of)
    main_ns, calls = sum(row.time_ns for row in main), sum(row.calls for row in of)
    return Finding(
        kind=kind,
        used_file=basis.outside_mpi.busiest_file(),
        share=basis.share(time_ns),
        time_ns=time_ns,
        function=main[0].function,
        at=row_place(main[0]),
        here_share=main_ns / time_ns if time_ns else None,
        ranks=tuple(
            sorted(rank for rank, ns in by_rank.items() if rank >= 0 and ns >= NAMED * max(by_rank.values()))
        ),
        calls=calls,
        bytes_per_call=sum(row.bytes for row in of) / calls if calls else None,
        per_second=per_second,
    )
