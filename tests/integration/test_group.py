"""A run may be read by a group, and by nobody else: tried as other users."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from environments import PYTHON, ROOT, MpiEnvironment, compile_c, mpich5
from measured import PROGRAMS, left_in_memory, measure
from on_mpi import both_families
from patience import wait_until
from unfinished import started

RANKS = 2
START_TIMEOUT_S = 60
USER, GROUP, OTHERS = 65534, 54321, 54322  # neither has a name here
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


def as_root(*verb: Path | str) -> subprocess.CompletedProcess[str]:
    command = [PYTHON, "-m", "tare", *verb]
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
    assert stranger.stderr == (
        f"tare: {run_dir}: Permission denied; a run is its owner's alone, unless it was made with --group\n"
    )


@both_families
def test_a_run_that_goes_on(mpi: MpiEnvironment, tare: Path, place: Path) -> None:
    """Its segments lie in a directory where everybody looks."""
    program = compile_c(mpi, [PROGRAMS / "killed.c"], place / "killed")
    run_dir = place / "run"
    command = [str(program), "forever", str(place / "progress")]
    with started(tare, mpi, command, run_dir, "--group", str(GROUP)):
        wait_until(lambda: all((place / f"progress.{rank}").exists() for rank in range(RANKS)))
        assert_for_group([path for path in left_in_memory(run_dir) if path.suffix != ".step"])
        info = read_as_member("info", run_dir)
        assert [row["state"] for row in info["ranks"]] == ["running"] * RANKS
        assert {row["function"] for row in read_as_member("profile", run_dir)["rows"]} >= {"MPI_Send"}
        assert as_user(OTHERS, "info", run_dir).returncode == 1
        # Who may read may not collect.
        done = as_user(GROUP, "recover", run_dir)
        assert "nothing of them was moved" in done.stdout
        assert left_in_memory(run_dir)


def test_without_a_group_nobody_else_reads(tare: Path, place: Path) -> None:
    mpi = mpich5()
    program = compile_c(mpi, [PROGRAMS / "killed.c"], place / "killed")
    measured = measure(tare, mpi, RANKS, [program, "alive"], place / "run")
    assert measured.ended.returncode == 0, measured.ended.stderr
    for group in (GROUP, os.getegid()):
        assert as_user(group, "info", place / "run").returncode == 1


def test_a_run_that_is_left_open_is_not_given(place: Path) -> None:
    """Whoever made it: not this user. A copy is this user's; an archive is a file that the user names."""
    run_dir = place / "run"
    shutil.copytree(ROOT / "tests" / "data" / "v1" / "stencil", run_dir)
    for path in (run_dir, *run_dir.iterdir()):
        os.chown(path, OTHERS, OTHERS)
        path.chmod(0o755 if path.is_dir() else 0o644)
    for verb in ("info", "profile"):
        done = as_user(GROUP, verb, run_dir)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            f"tare: {run_dir} belongs to user {OTHERS}, who has not given it to you: "
            "copy it and read the copy, or ask for a run that was made with --group\n"
        )
    archive = place / "a.tare"
    assert as_root("merge", "-o", archive, run_dir).returncode == 0
    archive.chmod(0o644)
    assert as_user(GROUP, "info", archive).returncode == 0
    run_dir.chmod(0o750)
    os.chown(run_dir, OTHERS, GROUP)
    assert as_user(GROUP, "info", run_dir).returncode == 0
    # A file that somebody else has put there is not read, by nobody.
    os.chown(run_dir / "node0.tare", OTHERS + 1, OTHERS)
    for done in (as_user(GROUP, "info", run_dir), as_root("info", run_dir)):
        assert done.returncode == 1
        assert f"{run_dir}/node0.tare belongs to user {OTHERS + 1}, and was left alone" in done.stderr


def test_what_root_writes_into_a_run_is_its_owners(place: Path) -> None:
    run_dir = place / "run"
    shutil.copytree(ROOT / "tests" / "data" / "v1" / "stencil", run_dir)
    meta = json.loads((run_dir / "meta.json").read_text("utf-8"))
    (run_dir / "meta.json").write_text(json.dumps(meta | {"state": "running", "runner": None}), "utf-8")
    for path in (run_dir, *run_dir.iterdir()):
        os.chown(path, USER, OTHERS)
    run_dir.chmod(0o700)
    assert as_root("recover", run_dir).returncode == 0
    assert {path.stat().st_uid for path in run_dir.iterdir()} == {USER}
    assert json.loads((run_dir / "meta.json").read_text("utf-8"))["state"] == "recovered"
    assert as_user(OTHERS, "info", run_dir).returncode == 0
