"""A run may be read by a group, and by nobody else: tried as other users."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from environments import PYTHON, ROOT, MpiEnvironment, compile_c, mpich5, openmpi4
from measured import PROGRAMS, left_in_memory, measure
from unfinished import started

RANKS = 2
START_TIMEOUT_S = 60
USER, GROUP, OTHERS = 65534, 54321, 54322  # neither has a name here
both_families = pytest.mark.parametrize(
    "mpi", [openmpi4(), mpich5()], ids=lambda env: env.name, indirect=True
)
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs to be other users for a while")


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that everybody can get to; pytest's are for their owner alone."""
    with tempfile.TemporaryDirectory(prefix="tare-group-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def as_user(group: int, *verb: Path | str) -> subprocess.CompletedProcess[str]:
    program = ROOT / "tests" / "support" / "group_reader.py"
    command = [PYTHON, program, str(USER), str(group), *verb]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def read_as_member(*verb: Path | str) -> dict[str, Any]:
    done = as_user(GROUP, *verb, "--json")
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def assert_for_group(paths: list[Path]) -> None:
    assert paths
    for path in paths:
        status = path.stat()
        assert (stat.S_IMODE(status.st_mode) & 0o777, status.st_gid) == (0o640, GROUP), path


@both_families
def test_a_finished_run(mpi: MpiEnvironment, tare: Path, place: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "killed.c"], place / "killed")
    run_dir = place / "run"
    measured = measure(tare, mpi, RANKS, [program, "alive"], run_dir, "--trace", "--group", str(GROUP))
    assert measured.ended.returncode == 0, measured.ended.stderr
    assert_for_group(list(run_dir.iterdir()))
    assert read_as_member("info", run_dir) == measured.info()
    assert len(read_as_member("events", run_dir)["rows"]) == len(measured.all_events())
    assert as_user(GROUP, "profile", run_dir).returncode == 0
    stranger = as_user(OTHERS, "info", run_dir)
    assert (stranger.returncode, stranger.stdout) == (1, "")
    assert stranger.stderr == f"tare: {run_dir}/meta.json: Permission denied\n"


@both_families
def test_a_run_that_goes_on(mpi: MpiEnvironment, tare: Path, place: Path) -> None:
    """Its segments lie in a directory where everybody looks."""
    program = compile_c(mpi, [PROGRAMS / "killed.c"], place / "killed")
    run_dir = place / "run"
    command = [str(program), "forever", str(place / "progress")]
    with started(tare, mpi, command, run_dir, "--group", str(GROUP)):
        deadline = time.monotonic() + START_TIMEOUT_S
        while not all((place / f"progress.{rank}").exists() for rank in range(RANKS)):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert_for_group([path for path in left_in_memory(run_dir) if path.suffix != ".step"])
        info = read_as_member("info", run_dir)
        assert [row["state"] for row in info["ranks"]] == ["running"] * RANKS
        assert {row["function"] for row in read_as_member("profile", run_dir)["rows"]} >= {"MPI_Send"}
        assert as_user(OTHERS, "info", run_dir).returncode == 1
        # Who may read may not collect.
        done = as_user(GROUP, "recover", run_dir)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert left_in_memory(run_dir)


def test_without_a_group_nobody_else_reads(tare: Path, place: Path) -> None:
    mpi = mpich5()
    program = compile_c(mpi, [PROGRAMS / "killed.c"], place / "killed")
    measured = measure(tare, mpi, RANKS, [program, "alive"], place / "run")
    assert measured.ended.returncode == 0, measured.ended.stderr
    for group in (GROUP, os.getegid()):
        assert as_user(group, "info", place / "run").returncode == 1
