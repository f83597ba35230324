"""Runs of the command line on the fake reader."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from fake_tare import Tare, fake_command, fake_environment
from hypothesis import settings

# The same inputs every time, and nothing kept: what a test finds today it finds tomorrow.
settings.register_profile("tare", deadline=None, derandomize=True, database=None, max_examples=200)
settings.load_profile("tare")


@pytest.fixture
def tare(tmp_path: Path) -> Tare:
    """Runs `tare` with arguments in tmp_path; keywords are variables of its environment."""

    def run(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            fake_command(*arguments),
            cwd=tmp_path,
            env=fake_environment(**variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A shell program that leaves a segment, as a process does that calls MPI; then runs its arguments.

    Not measured, it leaves nothing, as it does not know where.
    """
    path = tmp_path / "app"
    segment = '"$TARE_SEGMENT_DIR/tare-$TARE_RUN_ID-$$-0"'
    path.write_text(f'#!/bin/sh\n[ -z "$TARE_RUN_ID" ] || echo chunk >{segment}\neval "$1"\n')
    path.chmod(0o755)
    return path


@pytest.fixture
def run_dir(tare: Tare, program: Path, tmp_path: Path) -> Path:
    """A complete run."""
    done = tare("run", "--quiet", "--trace", "-o", "measured", "--", program, "true")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return tmp_path / "measured"
