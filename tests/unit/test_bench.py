"""The measurements can at least be started: they run seldom, and import what changes often."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from environments import ROOT


def test_every_measurement_is_there() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "bench" / "run.py", "--help"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    for file in (ROOT / "bench" / "measurements").glob("[a-z]*.py"):
        assert f" {file.stem}: " in text, f"bench/run.py does not know {file.name}"


def test_made_runs_can_be_read(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; import traces; run = Path(sys.argv[1]); "
        "traces.describe(run, 'made', traced=True); import tare; print(tare.open(run).meta.state)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path], cwd=ROOT / "bench", capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "ended\n", done.stderr
