"""Sums of what processes did with files, computed by hand, and how they are shown."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tare.analysis.files import FIGURES, LOCATED_LARGEST, LOCATED_SUMS, limits, summed
from tare.reporters import tables


def row(rank: int, file: str | None, interface: str, **values: Any) -> Any:
    """A row of the table `files`; what is not given is 0, with MPI-IO null."""
    known: dict[str, Any] = dict.fromkeys(FIGURES, 0)
    if interface == "MPI-IO":
        known |= dict.fromkeys((*LOCATED_SUMS, *LOCATED_LARGEST), None)
    known |= {"naming": "whole", "kind": "file"} | values
    return SimpleNamespace(world=0, rank=rank, pid=100 + rank, file=file, interface=interface, **known)


ROWS = [
    row(0, "/data", "POSIX", reads=4, located_reads=4, consecutive_reads=3, read_ns=100, read_end=400,
        longest_read_ns=70, read_bytes=400, opens=1),
    row(1, "/data", "POSIX", writes=6, located_writes=6, strided_writes=4, write_ns=300, read_end=50, opens=2,
        longest_read_ns=20, written_bytes=60, sync_ns=5, meta_ns=1),
    row(0, "/data", "MPI-IO", writes=2, written_bytes=1000, write_ns=900, naming="given", kind=None),
]  # fmt: skip


def test_files_of_all_ranks() -> None:
    of_mpi, of_posix = summed(ROWS)
    assert (of_mpi.interface, of_mpi.ranks, of_mpi.calls, of_mpi.bytes, of_mpi.time_ns) == (
        "MPI-IO",
        1,
        2,
        1000,
        900,
    )
    assert (of_mpi.opens, of_mpi.read_end, of_mpi.consecutive_share) == (0, None, None)
    assert (of_posix.ranks, of_posix.rank, of_posix.calls, of_posix.bytes) == (2, None, 10, 460)
    assert (of_posix.opens, of_posix.read_end) == (3, 400)
    assert (of_posix.longest_read_ns, of_posix.time_ns) == (70, 406)
    assert of_posix.consecutive_share == pytest.approx(0.3)
    assert of_posix.strided_share == pytest.approx(0.4)


def test_files_of_each_rank() -> None:
    by_rank = {(each.rank, each.interface): each for each in summed(ROWS, ["rank"])}
    assert len(by_rank) == 3
    assert by_rank[0, "POSIX"].consecutive_share == 0.75
    assert by_rank[1, "POSIX"].strided_share == pytest.approx(4 / 6)


def test_cells() -> None:
    sheet = tables.sheet("file", summed(ROWS), ["file"], 1)
    titles = [heading.title for heading in sheet.headings]
    cells = [dict(zip(titles, cells, strict=True)) for cells in sheet.rows]
    assert (cells[0]["Through"], cells[0]["Reads"], cells[0]["Consecutive"]) == ("MPI-IO", "0", "-")
    assert (cells[1]["File"], cells[1]["Opens"], cells[1]["Reads"], cells[1]["Writes"]) == (
        "/data",
        "3",
        "4",
        "6",
    )
    assert (cells[1]["Consecutive"], cells[1]["Strided"], cells[1]["Ranks"]) == ("30.0 %", "40.0 %", "2")


def test_names_that_are_not_whole() -> None:
    rows = [
        row(0, "/long", "POSIX", naming="cut", read_ns=3),
        row(0, None, "POSIX", naming="unknown", kind=None, read_ns=2),
        row(0, None, "POSIX", naming="others", kind=None, read_ns=1),
    ]
    found = summed(rows)
    assert [line[0] for line in tables.sheet("file", found, ["file"], 1).rows] == [
        "/long…", "(not known)", "(other files)",
    ]  # fmt: skip
    run: Any = SimpleNamespace(has_counted_time=True)
    assert len(limits(run, found)) == 2
    assert len(limits(SimpleNamespace(has_counted_time=False), found[:2])) == 0  # type: ignore[arg-type]
