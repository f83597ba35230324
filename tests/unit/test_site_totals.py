"""What the rows of a profile say of the whole run, where some calls were only counted."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fake_native
import pytest
from fake_recording import fake_recording
from tare.analysis import profile
from tare.analysis.efficiency import Efficiency
from tare.reporters import profile as reporter
from tare.reporters import scheduling, terminal
from tare.reporters.console import Console, console
from tare.runs.metadata import Options
from tare.runs.run import Run


def recorded(path: Path, monkeypatch: pytest.MonkeyPatch, *, counted: bool) -> Run:
    made = fake_recording(path, monkeypatch, Options(budget=0.02))
    made.__dict__["spells"] = [{"measured": not counted, "cut": False, "counted_calls": 10 * counted}]
    return made


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return recorded(tmp_path, monkeypatch, counted=True)


def test_the_sheet_shows_them_beside_what_was_measured(recording: Run) -> None:
    found: Any = fake_native.profile(["site"], whole=True)
    sheet = reporter.sheet(recording, found, ["site"])
    titles = [heading.title for heading in sheet.headings]
    at = titles.index("All calls")
    assert titles[at : at + 6] == ["All calls", "±", "All time", "±", "All bytes", "±"]
    cells = {
        (row.function, row.calls): cell[at : at + 6] for row, cell in zip(found, sheet.rows, strict=True)
    }
    assert cells["MPI_Send", 6][:4] == ["60", "5.0 %", "1.60 s", "5.0 %"]
    assert cells["MPI_Recv", 5][:2] == ["50", "?"]
    assert cells["MPI_Comm_rank", 4][2:] == ["-", "-", "-", "-"]
    out = io.StringIO()
    reporter.show_what_was_counted(console(out), found, ["site"])
    assert "an estimate for the whole run" in " ".join(out.getvalue().split())
    out = io.StringIO()
    reporter.show_what_was_counted(console(out), profile.summed(recording, ["size"]), ["size"])
    assert "by site, line or function the whole run is estimated" in " ".join(out.getvalue().split())


@pytest.mark.parametrize("columns", [80, 90, 100, 120, 200])
def test_functions_are_told_apart_however_narrow_the_terminal_is(columns: int) -> None:
    seen: dict[str, Any] = dict(
        caller="", tail_call="", object="app", file="app.c", line=9, offset=None, calls=18, timed=18,
        counted=22, estimated_calls=0, time_ns=182e6, bytes=144, imbalance_ns=None, mean_ns=10.1e6,
        max_ns=31.9e6, waited_ns=0, site=-1, world=0, whole_calls=40, whole_calls_error=0,
        whole_time_ns=411e6, whole_time_error_ns=146e6, whole_bytes=320, whole_bytes_error=0,
    )  # fmt: skip
    rows: list[Any] = [SimpleNamespace(function=name, **seen) for name in ("MPI_Sendrecv", "MPI_Send")]
    run: Any = SimpleNamespace(sites=(), worlds=1, processes=[])
    out = io.StringIO()
    terminal.show_sheet(Console(out, columns), reporter.sheet(run, rows, ["line"]), "  ")
    head, *lines = out.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == ["MPI_Sendrecv", "MPI_Send"]
    assert max(map(len, [head, *lines])) <= columns
    assert "All time" in head
    assert ("All calls" in head) == (columns >= 90)


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_what_a_share_is_of_is_wrapped_not_cut(columns: int) -> None:
    found = Efficiency(
        world=0, ranks=2, size=2, net_ns=1, mpi_share=0.466, load_balance=0.727,
        communication_efficiency=0.732, parallel_efficiency=0.532, most_computing_rank=1,
        descheduled_share=0.471, blocked_share=0.178,
    )  # fmt: skip
    out = io.StringIO()
    reporter.show_efficiencies(Console(out, columns), [found])
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= columns
    assert f"of the time at least: {scheduling.BLOCKED}" in " ".join(out.getvalue().split())
    place = next(line for line in lines if "blocked" in line).index("of the time")
    assert all(line[place] != " " and not line[:place].strip() for line in lines if line.startswith(" " * 20))


def test_a_run_without_mpi_has_no_line_above_its_profile() -> None:
    out = io.StringIO()
    reporter.show_efficiencies(Console(out, 100), [])
    assert out.getvalue() == ""
