"""Runs in this process that the fake reader reads."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import fake_native
import pytest
import tare
from some_run import metadata
from tare.reporters import summary
from tare.reporters.console import console
from tare.runs.metadata import Options
from tare.runs.run import Run


def use_fake_reader(patch: pytest.MonkeyPatch) -> None:
    """Verbs and runs use it until the end of the test."""
    patch.setitem(sys.modules, "tare._native", fake_native)
    patch.setattr(tare, "_native", fake_native, raising=False)


def fake_recording(path: Path, patch: pytest.MonkeyPatch, options: Options | None = None) -> Run:
    """A complete run, recorded with these options; tests change it."""
    use_fake_reader(patch)
    patch.setattr(Run, "_open", lambda self: fake_native.Run(str(path)))
    return Run(path, metadata(options=options or Options()))


def shown(recording: Run) -> str:
    """Its summary at the end of `tare run`, on a terminal of 80 columns."""
    out = io.StringIO()
    summary.after_run(console(out, cut=True), recording, [])
    text = out.getvalue()
    assert max(len(line) for line in text.splitlines() if str(recording.run_dir) not in line) <= 80, text
    return text
