"""tare_pause and MPI_Pcontrol(0) keep all of a thread out of profile, trace and samples; tare_flush."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from environments import ROOT, MpiEnvironment, compile_c
from measured import PROGRAMS, measure
from on_mpi import on_openmpi


@on_openmpi
@pytest.mark.parametrize("by", ["tare", "mpi"])
def test_nothing_of_a_pause_is_recorded(mpi: MpiEnvironment, by: str, tare: Path, tmp_path: Path) -> None:
    (library,) = tare.parent.parent.glob("lib/python3.*/site-packages/tare/lib/libtare_record.so")
    (tmp_path / "libtare_record.so.0").symlink_to(library)
    flags = [f"-I{ROOT}/include", str(tmp_path / "libtare_record.so.0"), f"-Wl,-rpath,{tmp_path}"]
    program = compile_c(mpi, [PROGRAMS / "paused.c"], tmp_path / "paused", *flags)
    argv: list[Path | str] = [program] if by == "tare" else [program, "mpi"]
    measured = measure(tare, mpi, 2, argv, tmp_path / "run", "--trace", "--sample", "random:1,stat")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\nok\n"), measured.ended.stderr

    calls = measured.calls()
    # Of the six of either side the two in its own pause are missing.
    assert calls["MPI_Send"] == 4
    assert calls["MPI_Recv"] + calls["MPI_Irecv"] == 4
    traced = Counter(row["function"] for row in measured.all_events() if row.get("function"))
    assert traced["MPI_Send"] == 4
    assert traced["MPI_Recv"] + traced["MPI_Irecv"] == 4
    marks = Counter(row["rank"] for row in measured.all_events() if row.get("name") == "message")
    assert marks == {0: 4, 1: 4}
    assert measured.info()["cost"]["flushes"] >= 2

    found = measured._read("samples", "tare.samples/1")
    assert (found["messages"]["sent"], found["messages"]["chosen"]) == (6, 4)
    # What rank 1 received in its pause is in no class.
    assert sum(row["count"] for row in found["rows"]) == 2
    assert found["limits"] == []
