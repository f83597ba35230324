"""Call sites of programs whose own frames do not tell them apart: wrappers, an application in a library."""

from __future__ import annotations

from pathlib import Path

import pytest
from environments import MpiEnvironment, compile_c, openmpi4
from measured import PROGRAMS, measure

SOURCES = [PROGRAMS / "wrapped.c", PROGRAMS / "comm_wrappers.c"]
MAIN = PROGRAMS / "wrapped_main.c"
LINES = {
    text.split("/* ")[1].split(" */")[0]: number
    for number, text in enumerate((PROGRAMS / "wrapped.c").read_text().splitlines(), 1)
    if "/* " in text
}
FUNCTIONS = {"share": "MPI_Bcast", "sum": "MPI_Allreduce", "barrier": "MPI_Barrier"}


def built(mpi: MpiEnvironment, out: Path, *, as_library: bool) -> Path:
    if not as_library:
        return compile_c(mpi, [*SOURCES, MAIN], out / "wrapped", "-g", "-O0")
    library = compile_c(mpi, SOURCES, out / "libapplication.so", "-shared", "-fPIC", "-g", "-O0")
    return compile_c(mpi, [MAIN], out / "wrapped", "-g", str(library), f"-Wl,-rpath,{out}")


@pytest.mark.parametrize("as_library", [False, True])
def test_the_line_that_tells_them_apart_stands_for_them(as_library: bool, tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    measured = measure(tare, mpi, 1, [built(mpi, tmp_path, as_library=as_library)], tmp_path / "run")
    assert measured.ended.returncode == 0, measured.ended.stderr
    found = {
        (row["function"], Path(row["file"] or "").name, row["line"], row["caller"]): row["calls"]
        for row in measured.profile("line")
        if row["function"] in FUNCTIONS.values()
    }
    assert found == {
        (FUNCTIONS[what.split()[1]], "wrapped.c", line, what.split()[0]): 1 if "setup" in what else 5
        for what, line in LINES.items()
    }
    sites = [row for row in measured.profile("site") if row["function"] == "MPI_Allreduce"]
    assert {row["path"][0]["caller"] for row in sites} == {"comm_sum"}, "the whole path is there still"
    assert {row["path_shown"] for row in sites} == {1}
