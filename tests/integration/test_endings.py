"""How ranks ended, who first, by which signal: `tare run`, `info` and `where` say it in the same words."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c
from on_mpi import both_debian
from patience import wait_until
from tare.analysis.explain.explain import explain
from tare.page import overview
from tare.reporters.last_calls import sentences
from tare.runs.run import open_run
from verbs import ask

RANKS = 3
LAST = RANKS - 1
TIMEOUT_S = 60
# Since then the kernel tells how a process ended to others than its parent.
TELLS = tuple(map(int, platform.release().split(".")[:2])) >= (6, 15)

pytestmark = both_debian


class Ended:
    """The program under `tare run`, and what is said of it."""

    def __init__(
        self,
        tare: Path,
        mpi: MpiEnvironment,
        tmp_path: Path,
        way: str,
        then: Callable[[subprocess.Popen[str], list[int]], None] | None = None,
    ) -> None:
        program = compile_c(mpi, [Path(__file__).parents[1] / "programs" / "endings.c"], tmp_path / "endings")
        self.tare, self.directory = tare, tmp_path / "run"
        command = [tare, "run", "-o", self.directory, "--", *mpi.mpiexec, "-n", str(RANKS), program, way]
        process = subprocess.Popen(
            [*map(str, command), str(tmp_path / "pid")],
            env=mpi.environ(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            if then is not None:
                then(process, pids(process, tmp_path))
            _, self.summary = process.communicate(timeout=TIMEOUT_S)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        self.returncode = process.returncode
        self.info = self.read("info")
        self.ranks: list[dict[str, Any]] = self.info["ranks"]

    def read(self, verb: str) -> dict[str, Any]:
        command = [str(self.tare), verb, "--json", str(self.directory)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
        assert done.returncode == 0, done.stderr
        result: dict[str, Any] = json.loads(done.stdout)
        return result

    def last(self) -> dict[str, Any]:
        return next(row for row in self.ranks if row["rank"] == LAST)

    def says(self, words: str) -> None:
        """Asserts that all three places say this of the last rank."""
        first = first_end(self.summary)
        # Launchers are quick: of those that they killed in turn, the order may not be known.
        assert first.startswith((f"rank {LAST}, ", "ranks ")) and words in first, self.summary
        assert str(LAST) in first.partition(" after ")[0]
        if first.startswith("ranks "):
            assert self.last()["signal"] in (None, signal.SIGKILL, signal.SIGTERM)
        for verb in ("info", "where"):
            done = ask(self.tare, verb, self.directory)
            text = " ".join(done.stdout.split())
            assert words in text, text
        assert f"tare where {self.directory}" in self.summary

    def explained(self) -> list[dict[str, Any]]:
        """The findings, the first of which says how it ended."""
        found: list[dict[str, Any]] = self.read("explain")["findings"]
        return found


def pids(process: subprocess.Popen[str], folder: Path) -> list[int]:
    """The pids of the ranks, once all are there or the command has ended; 0: the rank was killed first."""
    files = [folder / f"pid.{rank}" for rank in range(RANKS)]
    wait_until(lambda: all(file.exists() for file in files) or process.poll() is not None, TIMEOUT_S)
    return [int(file.read_text()) if file.exists() else 0 for file in files]


def first_end(summary: str) -> str:
    """What it says of the first that ended, on one line."""
    _, _, text = summary.partition("  first end ")
    return " ".join(text.partition("MPI share")[0].split())


@pytest.mark.parametrize(
    ("way", "state", "exit_code", "words"),
    [
        ("exit", "exited", 3, "exited without MPI_Finalize, exit code 3"),
        ("_exit", "exited", 0, "exited without MPI_Finalize, exit code 0"),
    ],
)
def test_without_finalize(
    way: str, state: str, exit_code: int, words: str, mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    def end_the_rest(process: subprocess.Popen[str], ranks: list[int]) -> None:
        # Not every launcher ends the others when one has ended well.
        wait_for_end(ranks[LAST])
        if way == "_exit":
            process.terminate()

    ended = Ended(tare, mpi, tmp_path, way, end_the_rest)
    assert (ended.last()["state"], ended.last()["exit_code"]) == (state, exit_code)
    assert not ended.last()["finalized"]
    ended.says(words)
    first, *others = ended.explained()
    assert (first["kind"], first["ranks"]) == ("ended early", [LAST]) and words in first["sentence"]
    stuck = [each["sentence"] for each in others if each["kind"] == "deadlock"]
    assert all(f"for ever for rank {LAST}, which has ended" in said for said in stuck), stuck


@pytest.mark.parametrize(("way", "number"), [("segv", signal.SIGSEGV), ("abort", signal.SIGABRT)])
def test_a_signal_of_its_own(
    way: str, number: signal.Signals, mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    ended = Ended(tare, mpi, tmp_path, way)
    last = ended.last()
    assert (last["state"], last["exit_code"], last["until"]) == ("killed", None, "end")
    assert last["signal"] == number if TELLS else last["signal"] in (None, number)
    ended.says(f"killed by {number.name}" if TELLS else "killed")
    # It was in no call, and the others were.
    calls = last_calls(ended)
    assert any(f"rank {LAST}, killed" in said and "after MPI_Barrier at endings.c:" in said for said in calls)
    others = [said for said in calls if f"rank {LAST}, " not in said]
    assert others and all("in MPI_Recv at" in said or "MPI_Barrier at" in said for said in others), calls


def test_killed_in_a_call(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    ended = Ended(tare, mpi, tmp_path, "crash")
    mine = [said for said in last_calls(ended) if f"rank {LAST}, killed" in said]
    assert len(mine) == 1 and "in MPI_Reduce_local at endings.c:" in mine[0]
    said = next(each["sentence"] for each in ended.explained() if LAST in each["ranks"])
    assert "was killed" in said and ", in MPI_Reduce_local at endings.c:" in said


def test_a_program_that_fails_in_the_end(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    ended = Ended(tare, mpi, tmp_path, "fails")
    assert ended.returncode != 0
    first = ended.explained()[0]
    assert (first["kind"], first["ranks"]) == ("failed", [LAST])
    assert (
        first["sentence"]
        == f"The program failed: rank {LAST} ended with exit code 5 after it had finalized MPI."
    )


def last_calls(ended: Ended) -> list[str]:
    """What the summary says of the calls of ranks that ended early, which the page says as well."""
    run = open_run(ended.directory)
    said = sentences(run)
    notes = overview.of_run(run, [], explain(run))["notes"]
    summary = " ".join(ended.summary.split())
    assert all(each in summary and f"{each[0].upper()}{each[1:]}." in notes for each in said)
    return said


def test_killed_from_outside(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    ended = Ended(tare, mpi, tmp_path, "kill", lambda _, ranks: os.kill(ranks[LAST], signal.SIGKILL))
    assert ended.last()["state"] == "killed"
    ended.says("killed by SIGKILL" if TELLS else "killed")


@pytest.mark.parametrize("way", ["mpi_abort", "callback"])
def test_mpi_abort(way: str, mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    ended = Ended(tare, mpi, tmp_path, way)
    assert ended.last()["state"] == "aborted"
    ended.says("called MPI_Abort")


def test_interrupted_deadlock(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """Ctrl-C, which the terminal sends to all, interrupts it: the summary says where to look."""
    ended = Ended(tare, mpi, tmp_path, "deadlock", lambda process, _: os.killpg(process.pid, signal.SIGINT))
    assert {row["state"] for row in ended.ranks} == {"killed"}
    assert f"tare where {ended.directory}" in ended.summary
    deadlock = ended.read("where")["deadlock"]
    assert deadlock is None or len(deadlock["cycles"]) == 1  # it may not have lasted a second


def wait_for_end(pid: int) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return
        if state in "ZX":
            return
        time.sleep(0.02)
    raise AssertionError(f"process {pid} goes on")
