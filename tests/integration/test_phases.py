"""Phases of the API and of MPI_Pcontrol in the profile, on every MPI."""

from __future__ import annotations

from pathlib import Path

import pytest
from environments import ROOT, MpiEnvironment, compile_c
from measured import PROGRAMS, measure
from tare.runs.run import open_run

# Entries, timed calls and bytes, as phases.c has them. MPI_Pcontrol counts for the phase that it ends.
EXPECTED = {
    "setup": (2, 3 + 1 + 1, 24 + 8),
    "iterate": (5, 5 * 3, 5 * 16),
    "inner": (5, 5 * 4, 0),
    "pcontrol 7": (2, 3 + 1 + 1 + 1, 0),
    "pcontrol 8": (1, 4 + 1, 0),
}


# The sum of the phases may miss what a busy machine puts between two clock readings.
@pytest.mark.alone
@pytest.mark.flaky(reruns=2)
@pytest.mark.parametrize("trace", [False, True], ids=["profile", "trace"])
def test_calls_count_for_their_phase(mpi: MpiEnvironment, trace: bool, tare: Path, tmp_path: Path) -> None:
    (library,) = tare.parent.parent.glob("lib/python3.*/site-packages/tare/lib/libtare_record.so")
    (tmp_path / "libtare_record.so.0").symlink_to(library)
    flags = [f"-I{ROOT}/include", str(tmp_path / "libtare_record.so.0"), f"-Wl,-rpath,{tmp_path}"]
    program = compile_c(mpi, [PROGRAMS / "phases.c"], tmp_path / "phases", *flags)
    options = ["--trace"] if trace else []
    measured = measure(tare, mpi, 2, [program], tmp_path / "run", *options)
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr

    recorded = open_run(measured.directory)
    for rank in (0, 1):
        rows = {row.phase: row for row in recorded.rows(recorded.phases(["rank"], None, [rank]))}
        outside = rows.pop(None)
        # MPI_Finalize is in "setup", which has not ended.
        expected = {name: (n, calls + (name == "setup"), size) for name, (n, calls, size) in EXPECTED.items()}
        assert {name: (row.entries, row.timed_calls, row.bytes) for name, row in rows.items()} == expected
        # MPI_Init, the first MPI_Pcontrol(7), those of levels 2 and 0, and the last one of level 1.
        sends_outside = 2 + 1
        assert outside.timed_calls == sends_outside + 5
        assert rows["setup"].time_ns > 20_000_000
        assert all(row.calls_ns <= row.time_ns for row in rows.values())
        # Every moment belongs to one phase.
        (process,) = (each for each in recorded.processes if each.rank == rank)
        total = outside.time_ns + sum(row.time_ns for row in rows.values())
        assert total == pytest.approx(process.wall_ns, rel=0.05, abs=40_000_000)
    # What is switched off is not recorded anywhere else either.
    assert measured.calls()["MPI_Bcast"] == 2 * (3 + 10)
