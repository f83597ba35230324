"""More call sites than the profile has room for: what does not fit is counted, and nothing else is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from environments import MpiEnvironment, compile_c, mpich4, openmpi4
from measured import PROGRAMS, measure

SITES = 20_000
RANKS = 2


# The tables know nothing of the MPI.
@pytest.mark.parametrize(
    ("mpi", "trace"), [(openmpi4(), False), (mpich4(), True)], ids=["profile", "trace"], indirect=["mpi"]
)
def test_20000_call_sites(mpi: MpiEnvironment, trace: bool, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "many_sites.c"], tmp_path / "program")
    measured = measure(tare, mpi, RANKS, [program], tmp_path / "run", *(["--trace"] if trace else []))
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr

    by_function = {row["function"]: (row["calls"], row["bytes"]) for row in measured.profile("function")}
    assert "other" not in by_function
    assert by_function["MPI_Reduce_local"] == (RANKS * 2 * SITES, RANKS * 2 * SITES * 8)
    assert by_function["MPI_Bcast"] == (RANKS * 3, RANKS * 3 * 8)
    assert by_function["MPI_Barrier"] == (RANKS * 3, 0)

    sites = measured.profile("site")
    (barrier,) = (row for row in sites if row["function"] == "MPI_Barrier")
    assert (barrier["calls"], barrier["caller"]) == (RANKS * 3, "barrier")
    reductions = [row for row in sites if row["function"] == "MPI_Reduce_local"]
    # One row of all that found no room, beside those that did, of which each is called twice a rank.
    assert max(row["calls"] for row in reductions if row["object"] is None) > RANKS * SITES
    (exchange,) = (row for row in sites if row["function"] == "MPI_Sendrecv")
    assert (exchange["calls"], exchange["bytes"], exchange["received"]) == (RANKS, RANKS * 8, RANKS * 8)

    warnings = measured.info()["warnings"]
    assert len(warnings) == 2
    assert f"definition log of {RANKS} of {RANKS} processes was full" in warnings[0]
    assert f"profile table of {RANKS} processes was full" in warnings[1]
    if trace:
        assert len(measured.events("--function", "MPI_Reduce_local")) == RANKS * 2 * SITES
