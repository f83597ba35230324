"""Calls and bytes of every function that moves data, in all its forms, on every MPI."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import volumes
from environments import MpiEnvironment, compile_c
from measured import measure
from test_coverage import functions

GROUPS: dict[str, Sequence[volumes.Case | volumes.Statement]] = {
    "collectives": volumes.COLLECTIVES,
    "between groups": volumes.BETWEEN_GROUPS,
    "neighbourhoods": volumes.NEIGHBOURHOODS,
    "point-to-point": [*volumes.SENDS, *volumes.RECEIVES, *volumes.MATCHED, *volumes.EXCHANGES],
    "one-sided": [*volumes.ONE_SIDED, *volumes.ATOMIC],
    "files": volumes.FILES,
    "others": volumes.OTHERS,
}
# What the library does not do on one machine, or crashes in, also without tare.
BROKEN = {
    "debian-openmpi": {"MPI_Win_create", "MPI_Win_create_dynamic"},
    "debian-mpich": {"MPI_Isendrecv", "MPI_Isendrecv_c", "MPI_Isendrecv_replace", "MPI_Isendrecv_replace_c"},
}


@pytest.mark.parametrize("group", GROUPS)
def test_bytes_are_right(mpi: MpiEnvironment, group: str, tare: Path, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    text, lines = volumes.program(GROUPS[group], functions(mpi.library, "MPI_") - BROKEN.get(mpi.name, set()))
    source.write_text(text)
    program = compile_c(mpi, [source], tmp_path / "program")
    measured = measure(tare, mpi, volumes.RANKS, [program], tmp_path / "run")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr

    found = {
        (row["line"], row["function"], row["rank"]): (row["calls"], row["bytes"])
        for row in measured.profile("site,rank")
    }
    wrong = [
        f"{text.splitlines()[line.number - 1].strip()}\n"
        f"  {line.function} of rank {rank}: {got} instead of {wanted} (calls, bytes)"
        for line in lines
        for rank in range(volumes.RANKS)
        if (got := found.get((line.number, line.function, rank)))
        != (wanted := (line.calls, line.bytes_of(rank)))
    ]
    assert not wrong, "\n".join(wrong)
    assert len(lines) > len(GROUPS[group])
