"""Call paths as people see them."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any, cast

import fake_native
from fake_native import frame, site
from tare._native import Site
from tare.analysis import profile as sums
from tare.analysis.profile import call_path
from tare.analysis.rows import changed
from tare.reporters import paths, profile
from tare.reporters.console import Console
from tare.reporters.terminal import BELOW

SOLVER = "/lib/libsolver.so.1"
THROUGH = site(
    frame(1, "solver_MPI_Send", None, SOLVER),
    frame(2, "solver_halo", None, SOLVER),
    frame(3, "step", 77),
    shown=2,
    left_out=True,
)


def path(of: Site) -> Any:
    return call_path(0, cast(Any, [of]))


def test_a_wrapper_of_mpi_is_not_what_the_program_calls_through() -> None:
    assert paths.through("MPI_Send", path(THROUGH)) == "solver_halo"
    assert paths.through("MPI_Send", path(site(frame(3, "step", 77)))) == "-"
    assert paths.through("MPI_Recv", path(THROUGH)) == "solver_MPI_Send"


def test_gaps_and_ends_are_shown() -> None:
    lines = list(paths.lines(path(changed(THROUGH, cut=True))))
    assert lines == [
        "solver_MPI_Send  libsolver.so.1+0x1",
        "solver_halo  libsolver.so.1+0x2",
        paths.GAP,
        "step  app.c:77",
        paths.CUT,
    ]


def shown(sites: list[Site], width: int, *, with_paths: bool) -> list[str]:
    out = io.StringIO()
    calls = [fake_native.row(0, "MPI_Send", number, 2, 1000, 8) for number in range(len(sites))]
    rows: Any = fake_native.profile(["site"], rows=calls, sites=sites)
    recorded = SimpleNamespace(processes=fake_native.PROCESSES, worlds=1, sites=sites)
    sheet = profile.sheet(cast(Any, recorded), rows, ["site"])
    profile.show(Console(out, width), sheet, rows, 0, cast(Any, sites), with_paths=with_paths)
    return out.getvalue().splitlines()


def test_it_fits_a_terminal_of_80_columns() -> None:
    in_main = site(frame(4, "main", 80))
    lines = shown([THROUGH, in_main], 80, with_paths=True)
    assert all(len(line) <= 80 for line in lines)
    assert "Through" in lines[0]
    assert "app.c:77" in lines[1]
    assert "solver_halo" in lines[1]
    assert lines[2] == f"{BELOW}solver_MPI_Send  libsolver.so.1+0x1"
    assert "Through" not in shown([in_main], 80, with_paths=False)[0]


def test_csv_has_the_path_in_one_cell() -> None:
    (row,) = fake_native.profile(["function"], functions=["MPI_Recv"])
    row.site = 0
    names = sums.columns(["site"])
    found = paths.in_cell(sums.record(cast(Any, row), names, cast(Any, [THROUGH])))
    assert list(found) == names
    path = "solver_MPI_Send libsolver.so.1+0x1 < solver_halo libsolver.so.1+0x2 < … < step app.c:77"
    assert found["path"] == path
