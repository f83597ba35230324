"""Ranks that nobody measures: tare says which are missing, and why."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS
from on_mpi import both_debian

TIMEOUT_S = 120
pytestmark = both_debian


@pytest.fixture
def gate(mpi: MpiEnvironment, tmp_path: Path) -> Path:
    return compile_c(mpi, [PROGRAMS / "gate.c"], tmp_path / "gate")


def words(text: str) -> str:
    """The text without line breaks."""
    return " ".join(text.split())


def start(mpi: MpiEnvironment, folder: Path, *command: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=mpi.environ(), capture_output=True, text=True, timeout=TIMEOUT_S
    )


def succeed(mpi: MpiEnvironment, folder: Path, *command: Path | str) -> subprocess.CompletedProcess[str]:
    done = start(mpi, folder, *command)
    assert done.returncode == 0, done.stderr
    return done


def read(mpi: MpiEnvironment, tare: Path, *verb: Path | str) -> Any:
    return json.loads(succeed(mpi, tare.parent, tare, *verb, "--json").stdout)


@pytest.mark.parametrize("without", ["env -u LD_PRELOAD", "env LD_PRELOAD=libm.so.6"])
def test_a_part_without_the_library(
    without: str, tare: Path, mpi: MpiEnvironment, gate: Path, tmp_path: Path
) -> None:
    run_dir = tmp_path / "run"
    parts: list[Path | str] = ["-n", "1", gate, ":", "-n", "2", *without.split(), gate]
    done = succeed(mpi, tmp_path, tare, "run", "-o", run_dir, "--", *mpi.mpiexec, *parts)
    taken = without if "-u" in without else without.split()[1]
    said = f"ranks 1-2 of 3 are missing: `{taken}` in the command takes tare's environment"
    assert said in words(done.stderr)
    info = read(mpi, tare, "info", run_dir)
    assert info["missing"] == [{"world": 0, "size": 3, "ranks": [[1, 2]], "host": None}]
    assert info["launched"] is None
    for verb in ("info", "profile", "explain"):
        shown = succeed(mpi, tmp_path, tare, verb, run_dir)
        assert said in words(shown.stdout + shown.stderr), verb
    for verb in ("info", "explain"):
        assert said in " ".join(read(mpi, tare, verb, run_dir)["warnings"]), verb
    # It is not known where they ran.
    there = start(mpi, tmp_path, tare, "recover", run_dir, "--launch", "false {host}")
    assert there.returncode == 1 and "nothing was started, as this run does not know on which" in there.stderr
    assert said in words(there.stdout)
    from tare.page import content
    from tare.runs.run import open_run

    assert said[1:] in json.dumps(content.of_run(open_run(run_dir))), "there, it begins a sentence"


def test_what_starts_the_program_is_measured_alone(tare: Path, mpi: MpiEnvironment, tmp_path: Path) -> None:
    """`env` has samples of its stack until the program takes its place."""
    command: list[Path | str] = [
        tare,
        "run",
        "-q",
        "--with",
        "files,stacks",
        "--",
        "env",
        "-u",
        "LD_PRELOAD",
        "true",
    ]
    done = succeed(mpi, tmp_path, *command)
    assert "measured: `env -u LD_PRELOAD` in the command takes tare's environment" in words(done.stderr)


def test_a_whole_program_without_the_library(
    tare: Path, mpi: MpiEnvironment, gate: Path, tmp_path: Path
) -> None:
    """So Open MPI is told to preload an allocator."""
    another = (
        ["-x", "LD_PRELOAD=libm.so.6"] if mpi.family == "openmpi" else ["-env", "LD_PRELOAD", "libm.so.6"]
    )
    done = succeed(mpi, tmp_path, tare, "run", "--", *mpi.mpiexec, *another, "-n", "2", gate)
    taken = another[1] if mpi.family == "openmpi" else "-env LD_PRELOAD"
    assert words(done.stderr).startswith(
        f"tare: nothing was measured: `{taken}` in the command takes tare's environment"
    )


def test_one_part_below_tare(tare: Path, mpi: MpiEnvironment, gate: Path, tmp_path: Path) -> None:
    run_dir = tmp_path / "run"
    below: list[Path | str] = [tare, "run", "-o", run_dir, "--", gate]
    done = succeed(mpi, tmp_path, *mpi.mpiexec, "-n", "1", *below, ":", "-n", "2", gate)
    said = "ranks 1-2 of 3 are missing: a launcher has started `tare run` itself, as rank 0 of 3"
    assert said in words(done.stderr)
    info = read(mpi, tare, "info", run_dir)
    assert info["missing"] == [{"world": 0, "size": 3, "ranks": [[1, 2]], "host": None}]
    assert (info["launched"]["rank"], info["launched"]["size"]) == (0, 3)


def test_each_rank_below_a_tare_of_its_own(
    tare: Path, mpi: MpiEnvironment, gate: Path, tmp_path: Path
) -> None:
    done = succeed(mpi, tmp_path, *mpi.mpiexec, "-n", "2", tare, "run", "--", gate)
    runs = list(tmp_path.glob("gate-*/meta.json"))
    for meta in runs:
        info = read(mpi, tare, "info", meta.parent)
        rank = info["launched"]["rank"]
        said = f"a launcher has started `tare run` itself, as rank {rank} of 2"
        assert f"rank {1 - rank} of 2 is missing: {said}" in " ".join(info["warnings"])
    assert len(runs) == 2
    assert words(done.stderr).count("write `tare run -- LAUNCHER OPTIONS PROGRAM`") == 2


def test_several_tares_do_not_share_a_directory(
    tare: Path, mpi: MpiEnvironment, gate: Path, tmp_path: Path
) -> None:
    """Whoever comes first has it; the other says what to do. Under MPICH, the first then waits for ever."""
    command = [*mpi.mpiexec, "-n", "2", str(tare), "run", "-o", "run", "--", str(gate)]
    job = subprocess.Popen(
        command, cwd=tmp_path, env=mpi.environ(), stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert job.stderr is not None
        said = next(line for line in job.stderr if line.startswith("tare: "))
        assert "run exists and is not an empty directory; a launcher has started `tare run` itself" in said
        assert "write `tare run -- LAUNCHER OPTIONS PROGRAM`" in said
    finally:
        with suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.communicate(timeout=TIMEOUT_S)
