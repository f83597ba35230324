"""A rank that is held up in MPI_Init, by a debugger or a frozen machine: tare holds up nobody else for it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, Measurement, left_in_memory
from on_mpi import both_debian
from patience import wait_until

RANKS = 2
ROUNDS = 400
WAIT_MS = 200


@contextmanager
def started(command: list[str], env: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGCONT)
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@pytest.fixture
def held_up(tare: Path, tmp_path: Path) -> Callable[[MpiEnvironment, int], tuple[Measurement, str]]:
    """Runs ring.c; rank 1 goes on when rank 0 has left MPI_Init, and so has given up. With the summary."""

    def run(mpi: MpiEnvironment, rounds: int) -> tuple[Measurement, str]:
        tool = compile_c(mpi, [PROGRAMS / "held_up.c"], tmp_path / "libheld_up.so", "-shared", "-fPIC")
        linked = ["-Wl,--no-as-needed", str(tool), f"-Wl,-rpath,{tmp_path}"]
        program = compile_c(mpi, [PROGRAMS / "ring.c"], tmp_path / "ring", *linked)
        pid, left = tmp_path / "pid", tmp_path / "left"
        directory = tmp_path / "run"
        measured: list[Path | str] = [
            tare,
            "run",
            "--sample",
            "random:1",
            "-o",
            directory,
            "--",
            *mpi.mpiexec,
        ]
        command = [str(word) for word in [*measured, "-n", str(RANKS), program, str(rounds), left]]
        env = mpi.environ(HELD_UP=str(pid), TARE_SAMPLE_WAIT=str(WAIT_MS))
        with started(command, env) as process:
            wait_until(pid.exists, process=process)
            wait_until(left.exists, process=process)
            os.kill(int(pid.read_text()), signal.SIGCONT)
            stdout, stderr = process.communicate(timeout=60)
        ended = subprocess.CompletedProcess(command, process.returncode, stdout, stderr)
        return Measurement(tare, directory, ended), stderr

    return run


def hooks_ns(info: dict[str, Any]) -> dict[int, int]:
    return {rank["rank"]: rank["cost"]["hook_init_ns"] for rank in info["ranks"]}


@both_debian
def test_sampling_starts_late(mpi: MpiEnvironment, held_up: Any) -> None:
    measured, summary = held_up(mpi, ROUNDS)
    assert (measured.ended.returncode, measured.ended.stdout) == (
        0,
        f"sum {RANKS * ROUNDS * (ROUNDS - 1) // 2}\n",
    )
    found = measured._read("samples", "tare.samples/1")
    (limit,) = found["limits"]
    assert "began late, after MPI_Init had returned: another rank was held up" in limit
    assert "began late" in " ".join(summary.split())
    messages = found["messages"]
    assert messages["sent"] == messages["chosen"] == RANKS * ROUNDS
    assert 0 < messages["paired"] < RANKS * ROUNDS
    assert messages["contradictory"] == 0
    # What the ranks have waited for is in the account, and no more than it may be.
    info = measured.info()
    assert hooks_ns(info)[0] >= WAIT_MS * 1_000_000
    assert info["cost"]["hook_init_ns"] == sum(hooks_ns(info).values())
    assert info["cost"]["wall_share"] > info["cost"]["net_share"]
    assert "% of all time with the hooks" in summary
    assert left_in_memory(measured.directory) == []


@both_debian
def test_between_nodes_it_does_not_start(mpi: MpiEnvironment, held_up: Any) -> None:
    measured, _ = held_up(replace(mpi, env={**mpi.env, "TARE_SAMPLE_NODES": "2"}), ROUNDS)
    assert measured.ended.returncode == 0
    found = measured._read("samples", "tare.samples/1")
    assert [limit for limit in found["limits"] if "between nodes were not sampled" in limit]
    assert not any(row["uncertainty_ns"] for row in found["rows"])


@both_debian
def test_a_program_may_end_meanwhile(mpi: MpiEnvironment, held_up: Any) -> None:
    measured, _ = held_up(mpi, 0)
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "sum 0\n"), measured.ended.stderr
    assert left_in_memory(measured.directory) == []
