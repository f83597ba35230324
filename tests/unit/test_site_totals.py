"""What the rows of a profile say of the whole run, where some calls were only counted."""

from __future__ import annotations

import io
import sys
from functools import partial
from pathlib import Path
from typing import Any

import fake_native
import pytest
import tare
from some_run import metadata
from tare.analysis import profile, totals
from tare.reporters import profile as reporter
from tare.reporters.console import console
from tare.runs.metadata import Options
from tare.runs.run import Run


def recorded(path: Path, monkeypatch: pytest.MonkeyPatch, *, counted: bool) -> Run:
    monkeypatch.setitem(sys.modules, "tare._native", fake_native)
    monkeypatch.setattr(tare, "_native", fake_native, raising=False)
    monkeypatch.setattr(Run, "_open", lambda self: fake_native.Run(str(path)))
    made = Run(path, metadata(options=Options(budget=0.02)))
    made.__dict__["spells"] = [{"measured": not counted, "cut": False, "counted_calls": 10 * counted}]
    return made


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return recorded(tmp_path, monkeypatch, counted=True)


def rows(recording: Run, *keys: profile.Key, **chosen: Any) -> list[profile.Row]:
    return profile.summed(recording, keys, profile.Chosen(**chosen), partial(totals.by_keys, recording))


def test_rows_by_site_have_estimates(recording: Run) -> None:
    found = {(row.function, row.calls): row for row in rows(recording, "site")}
    sends = found["MPI_Send", 6]
    assert (sends.whole_calls, sends.whole_calls_error) == (60, 3)
    assert (sends.whole_time_ns, sends.whole_time_error_ns) == (1_600_000_000, 80_000_000)
    assert (sends.whole_bytes, sends.whole_bytes_error) == (40_160, 2008)
    receives = found["MPI_Recv", 5]
    assert (receives.whole_calls, receives.whole_calls_error) == (50, None)
    looked_up = found["MPI_Comm_rank", 4]
    assert (looked_up.whole_calls, looked_up.whole_time_ns) == (4, None)


def test_rows_by_rank_and_site_have_those_of_the_rank(recording: Run) -> None:
    found = [row.whole_calls for row in rows(recording, "site", "rank", ranks=frozenset({1}))]
    assert sorted(calls for calls in found if calls is not None) == [20, 50]


def test_rows_by_function_have_exact_calls(recording: Run) -> None:
    found = {row.function: row for row in rows(recording, "function")}
    assert (found["MPI_Send"].whole_calls, found["MPI_Send"].whole_calls_error) == (2000, 0)
    assert (found["MPI_Send"].whole_time_ns, found["MPI_Send"].whole_time_error_ns) == (2_000_000, 100_000)
    assert found["MPI_Recv"].whole_time_error_ns is None
    of_one = {row.function: row for row in rows(recording, "function", ranks=frozenset({1}))}
    assert of_one["MPI_Send"].whole_calls == 1000


def test_other_rows_have_none(recording: Run) -> None:
    """Nothing is known of the sizes and communicators of calls that were only counted."""
    assert {row.whole_calls for row in rows(recording, "size")} == {None}
    assert {row.whole_calls for row in rows(recording, "site", "communicator")} == {None}
    world = fake_native.COMMUNICATORS[0]["name"]
    assert {row.whole_calls for row in rows(recording, "site", communicators=frozenset({world}))} == {None}


def test_a_run_that_measured_all_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = recorded(tmp_path, monkeypatch, counted=False)
    assert {row.whole_calls for row in rows(whole, "site")} == {None}


def test_the_sheet_shows_them_beside_what_was_measured(recording: Run) -> None:
    found = rows(recording, "site")
    sheet = reporter.sheet(found, ["site"], 1, 1)
    titles = [heading.title for heading in sheet.headings]
    at = titles.index("All calls")
    assert titles[at:] == ["All calls", "±", "All time", "±", "All bytes", "±"]
    cells = {(row.function, row.calls): cell[at:] for row, cell in zip(found, sheet.rows, strict=True)}
    assert cells["MPI_Send", 6][:4] == ["60", "5.0 %", "1.60 s", "5.0 %"]
    assert cells["MPI_Recv", 5][:2] == ["50", "?"]
    assert cells["MPI_Comm_rank", 4][2:] == ["-", "-", "-", "-"]
    out = io.StringIO()
    reporter.show_what_was_counted(console(out), found)
    assert "an estimate for the whole run" in " ".join(out.getvalue().split())
    out = io.StringIO()
    reporter.show_what_was_counted(console(out), rows(recording, "size"))
    assert "by site, line or function the whole run is estimated" in " ".join(out.getvalue().split())
