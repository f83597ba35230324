"""Call paths as people see them."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import fake_native
from fake_native import frame, site
from tare.analysis import profile as sums
from tare.reporters import csv, paths, profile
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


def row(of: dict[str, Any]) -> sums.Row:
    return summed([of])[0]


def test_the_line_of_the_program_stands_for_the_site() -> None:
    found = row(THROUGH)
    assert (found.line, found.caller, found.object) == (77, "step", "/bin/app")
    assert [each["caller"] for each in found.path] == ["solver_MPI_Send", "solver_halo", "step"]


def test_a_wrapper_of_mpi_is_not_what_the_program_calls_through() -> None:
    assert paths.through(row(THROUGH)) == "solver_halo"
    assert paths.through(row(site(frame(3, "step", 77)))) == "-"
    assert paths.through(replace(row(THROUGH), function="MPI_Recv")) == "solver_MPI_Send"


def test_gaps_and_ends_are_shown() -> None:
    lines = list(paths.lines(row({**THROUGH, "cut": True})))
    assert lines == [
        "solver_MPI_Send  libsolver.so.1+0x1",
        "solver_halo  libsolver.so.1+0x2",
        paths.GAP,
        "step  app.c:77",
        paths.CUT,
    ]


def shown(rows: list[sums.Row], width: int, *, with_paths: bool) -> list[str]:
    out = io.StringIO()
    sheet = profile.sheet(rows, ["site"], 10**9, 1)
    profile.show(Console(out, width), sheet, rows, 0, by_site=True, with_paths=with_paths)
    return out.getvalue().splitlines()


def summed(sites: list[dict[str, Any]]) -> list[sums.Row]:
    recorded: Any = type("Recorded", (), {})()
    rows = [fake_native.row(0, "MPI_Send", number, 2, 1000, 8) for number in range(len(sites))]
    recorded.profile_sums = lambda queries: [fake_native.summed(rows, query) for query in queries]
    recorded.functions = fake_native.FUNCTIONS
    recorded.sites, recorded.communicators = sites, fake_native.COMMUNICATORS
    return sums.summed(recorded, ["site"])


def test_it_fits_a_terminal_of_80_columns() -> None:
    rows = summed([THROUGH, site(frame(4, "main", 80))])
    lines = shown(rows, 80, with_paths=True)
    assert all(len(line) <= 80 for line in lines)
    assert "Through" in lines[0]
    assert "app.c:77" in lines[1]
    assert "solver_halo" in lines[1]
    assert lines[2] == f"{BELOW}solver_MPI_Send  libsolver.so.1+0x1"
    assert "Through" not in shown(rows[1:], 80, with_paths=False)[0]


def test_csv_has_the_path_in_one_cell() -> None:
    out = io.StringIO()
    columns = sums.columns(["site"])
    csv.write_rows(out, columns, [paths.in_cell(each, columns) for each in summed([THROUGH])])
    path = "solver_MPI_Send libsolver.so.1+0x1 < solver_halo libsolver.so.1+0x2 < … < step app.c:77"
    assert path in out.getvalue()
