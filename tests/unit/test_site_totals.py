"""What the rows of a profile say of the whole run, where some calls were only counted."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import fake_native
import pytest
from fake_recording import fake_recording
from tare.analysis import profile
from tare.reporters import profile as reporter
from tare.reporters.console import console
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
    assert titles[at:] == ["All calls", "±", "All time", "±", "All bytes", "±"]
    cells = {(row.function, row.calls): cell[at:] for row, cell in zip(found, sheet.rows, strict=True)}
    assert cells["MPI_Send", 6][:4] == ["60", "5.0 %", "1.60 s", "5.0 %"]
    assert cells["MPI_Recv", 5][:2] == ["50", "?"]
    assert cells["MPI_Comm_rank", 4][2:] == ["-", "-", "-", "-"]
    out = io.StringIO()
    reporter.show_what_was_counted(console(out), found, ["site"])
    assert "an estimate for the whole run" in " ".join(out.getvalue().split())
    out = io.StringIO()
    reporter.show_what_was_counted(console(out), profile.summed(recording, ["size"]), ["size"])
    assert "by site, line or function the whole run is estimated" in " ".join(out.getvalue().split())
