"""What `tare run --monitor` does with rounds that come after the end of the command."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, WITH_API, compile_monitored
from on_mpi import on_openmpi
from patience import wait_until
from run_processes import tared_of
from tare.measuring import tared
from tare.runs.rounds import RoundFile, Stored
from verbs import ask

RANKS, PATIENCE_S = 2, 60

pytestmark = on_openmpi


class Slow:
    """A program that leaves `rounds` rounds behind, of which the tree takes few in a second."""

    def __init__(
        self, mpi: MpiEnvironment, tare: Path, folder: Path, rounds: int, stderr: int = subprocess.PIPE
    ) -> None:
        self.tare, self.run, self.rounds = tare, folder / "run", rounds
        program = compile_monitored(mpi, folder)
        slow = compile_c(
            mpi, [PROGRAMS / "slow_filter.c"], folder / "slow.so", *WITH_API[:1], "-shared", "-fPIC"
        )
        spec = f"--monitor=points,policy=nonblock,filter={slow}:10"
        command = [tare, "run", "-o", self.run, spec, "--", *mpi.mpiexec, "-n", str(RANKS), program, "points"]
        self.process = subprocess.Popen(
            [*map(str, command), str(rounds)], env=mpi.environ(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=stderr, text=True, start_new_session=True,
        )  # fmt: skip

    def until_the_command_has_ended(self) -> None:
        """It says so first."""
        assert self.process.stdout
        assert sum(self.process.stdout.readline() == "ok\n" for _ in range(RANKS)) == RANKS
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        wait_until(lambda: not any(map(is_launcher, children.read_text().split())), process=self.process)

    def end(self) -> str:
        """What it says at last."""
        _, text = self.process.communicate(timeout=PATIENCE_S)
        assert self.process.returncode == 0, text
        return " ".join(text.split()) if text else ""

    def reception(self) -> dict[str, Any]:
        done = ask(self.tare, "info", "--json", self.run)
        reception: dict[str, Any] = json.loads(done.stdout)["reception"]
        return reception

    def stored(self) -> int:
        (file,) = self.run.glob("monitor-*.tare")
        return sum(1 for _ in RoundFile(file).read())


def is_launcher(pid: str) -> bool:
    try:
        return "mpiexec" in Path(f"/proc/{pid}/comm").read_text()
    except OSError:
        return False


def test_it_waits_as_long_as_rounds_come(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    rounds = round((tared.SILENT_FOR_S + 6) / (RANKS * 0.01))
    slow = Slow(mpi, tare, tmp_path, rounds)
    slow.until_the_command_has_ended()
    said = slow.end()
    assert "hung" not in said and "missing" not in said
    assert slow.stored() == rounds
    reception = slow.reception()
    assert (reception["rounds"], reception["profiles"]) == (rounds, RANKS * rounds)
    assert reception["cut_off"] is None and reception["excess_ns"] > tared.SILENT_FOR_S * 1e9
    assert re.search(rf"rounds {rounds} stored, the last 1\d\.\d+ s after the end", said), said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_waiting(number: int, mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """What it cuts off is counted and told; the exit code is the command's own."""
    slow = Slow(mpi, tare, tmp_path, 3000)
    slow.until_the_command_has_ended()
    stored = Stored(slow.run)
    wait_until(lambda: stored.look() and stored.rounds > 10)
    slow.process.send_signal(number)
    said = slow.end()
    reception = slow.reception()
    assert 10 < reception["rounds"] == slow.stored() < 3000
    assert reception["cut_off"] == RANKS * 3000 - reception["profiles"]
    assert "tared was interrupted" in said and f"({reception['cut_off']:,} of 6,000 profiles" in said


def test_one_that_hangs_then_is_ended(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    slow = Slow(mpi, tare, tmp_path, 3000)
    slow.until_the_command_has_ended()
    os.kill(tared_of(slow.run), signal.SIGSTOP)
    said = slow.end()
    reception = slow.reception()
    assert reception["cut_off"] == RANKS * 3000 - reception["profiles"]
    assert "tared hung" in said and f"({reception['cut_off']:,} of 6,000 profiles" in said


def test_it_shows_that_it_waits(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    controller, terminal = pty.openpty()
    slow = Slow(mpi, tare, tmp_path, 3000, terminal)
    os.close(terminal)
    text = b""
    while not re.search(rb"\d+ rounds are stored, and more come, \d+ s after the end; Ctrl-C", text):
        text += os.read(controller, 4096)
    slow.process.send_signal(signal.SIGINT)
    slow.process.communicate(timeout=PATIENCE_S)
    os.close(controller)
