"""Wait states of programs in which it is known who waits for whom, where, and because of what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
import tare as tare_package
from environments import MpiEnvironment, all_environments, compile_c
from measured import PROGRAMS, measure

RANKS, LATE_MS = 3, 60
OPENMPI = next(env for env in all_environments() if env.name == "debian-openmpi")
MPICH = next(env for env in all_environments() if env.name == "debian-mpich")

# Of each kind: the rank that is late, and those that wait for it.
WAITING = {
    "late sender": (0, {1}),
    "late receiver": (0, {1}),
    "wait at barrier": (1, {0, 2}),
    "wait at NxN": (1, {0, 2}),
    "late broadcast": (0, {1, 2}),
    "early reduce": (1, {0}),
}


def marked(kind: str, mark: str) -> int:
    """The line of the program that has the mark, behind the one that names the kind."""
    lines = (PROGRAMS / "waits.c").read_text().splitlines()
    begin = next(number for number, line in enumerate(lines) if f'"{kind}"' in line)
    found = (n for n, line in enumerate(lines) if n > begin and "/*" in line and mark in line.split("/*")[1])
    return next(found) + 1


@pytest.fixture(params=[OPENMPI, MPICH], ids=lambda env: env.name)
def mpi(request: pytest.FixtureRequest) -> MpiEnvironment:
    return request.param  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", WAITING)
def test_waits_are_where_the_program_has_them(
    kind: str, mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    """Times are compared with those that were recorded: any rank may be held up anywhere."""
    program = compile_c(mpi, [PROGRAMS / "waits.c"], tmp_path / "waits")
    (tmp_path / "ready").mkdir()
    command: list[Path | str] = [program, kind, str(LATE_MS), tmp_path / "ready"]
    measured = measure(tare, mpi, RANKS, command, tmp_path / "run", "--trace")
    assert measured.ended.returncode == 0, measured.ended.stderr
    late, waiting = WAITING[kind]
    waits = rows(measured.directory)
    found = {
        row["rank"]: row for row in waits if row["kind"] == kind and row["line"] == marked(kind, "waits")
    }
    # Who was held up between making its file and its call may have come later still.
    calls = [
        row for row in measured.events() if row.get("line") in (marked(kind, "waits"), marked(kind, "delay"))
    ]
    began = {row["rank"]: row["start_ns"] for row in calls if row["function"] != "MPI_Wait"}
    assert set(found) == {rank for rank in waiting if began[rank] < began[late]}
    assert found
    opened = tare_package.open(measured.directory)
    for row in found.values():
        assert row["cause_rank"] == late
        assert row["cause_line"] == marked(kind, "delay")
        # From its own start to the start of the one that was late, which slept before.
        assert row["wait_ns"] == min(row["cause_enter_ns"], row["leave_ns"]) - row["enter_ns"]
        assert row["delay_ns"] + row["passed_on_ns"] <= row["wait_ns"]
        assert row["longest_delay_ns"] <= row["delay_ns"]
        assert row["delay_line"] == marked(kind, "delay")
        assert row["delay_function"] == row["cause_function"]
        assert not row["delay_in_call"]
        of_wait = f"rank = {row['rank']} AND enter_ns = {row['enter_ns']}"
        columns = "root_rank, root_line, root_function, root_ns"
        found_roots = opened.sql(f"SELECT {columns} FROM root_causes WHERE {of_wait} ORDER BY root_ns DESC")
        assert found_roots is not None
        roots = found_roots.fetchall()
        assert roots[0][:3] == (late, row["delay_line"], row["cause_function"])
        assert 0 < sum(root[3] for root in roots) <= row["wait_ns"] + len(roots)
    report = opened.wait_report
    assert set(found) <= {row.rank for row in report.waits if row.kind == kind}
    # The sleep is on the critical path, and the wait for it is not.
    slept = sum(
        row.time_ns
        for row in report.critical_path
        if row.rank == late and opened.sites[row.site].line == marked(kind, "delay")
    )
    assert slept >= LATE_MS * 1_000_000 * 0.99
    assert report.clock_violations == []


def rows(run: Path) -> list[dict[str, Any]]:
    waits = tare_package.open(run).waits  # noqa: F841 (DuckDB finds it by its name)
    with duckdb.connect() as connection:
        found = connection.execute("FROM waits")
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
