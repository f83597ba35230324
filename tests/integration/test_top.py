"""`tare top` in a terminal (tmux), on a job that runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import openmpi4
from measured import compile_monitored
from patience import wait_until
from test_monitor import RANKS, live, running


class Terminal:
    """A terminal of tmux, of 130 columns, in which a command runs; a server of its own."""

    def __init__(self, command: list[Path | str]) -> None:
        self._socket = f"tare-{uuid.uuid4().hex}"
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "130", "-y", "30", *map(str, command))

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._socket, *arguments], capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout

    def text(self) -> str:
        return self._tmux("capture-pane", "-p")

    def press(self, key: str) -> None:
        self._tmux("send-keys", key)

    def close(self) -> None:
        subprocess.run(
            ["tmux", "-L", self._socket, "kill-server"], capture_output=True, timeout=60, check=False
        )


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return compile_monitored(openmpi4(), tmp_path)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()


def test_it_shows_a_job_and_ends_with_it(
    program: Path, tare: Path, tmp_path: Path, terminals: list[Terminal]
) -> None:
    assert shutil.which("tmux"), "tmux is not installed (tools/packages/test.txt)"
    run, end = tmp_path / "run", tmp_path / "end"
    with running(tare, openmpi4(), run, [program, "calls", "1000", end], "--monitor=50ms") as job:
        wait_until(lambda: len(live(run)) > 2)
        # tmux may miss that a command ends, so the shell says how it did. Then it waits: the text stays.
        ending = tmp_path / "ending"
        terminal = Terminal(["sh", "-c", f"'{tare}' top '{run}'; echo $? >'{ending}'; sleep 1000"])
        terminals.append(terminal)
        wait_until(lambda: "MPI_Allreduce" in terminal.text() and f"of {RANKS} ranks" in terminal.text())
        shown = terminal.text()
        assert "Time now" in shown and "Imbalance" in shown and "running" in shown and "delay" in shown
        wait_until(lambda: "offloads" in terminal.text())
        # How ranks differ, of the event under the cursor.
        wait_until(lambda: "MPI_Allreduce: time since the start" in terminal.text())  # not MPI_Init any more
        assert "darker: more ranks" in terminal.text() and "the middle" in terminal.text()
        terminal.press("Down")
        wait_until(lambda: "MPI_Init: time since the start" in terminal.text())
        terminal.press("Up")
        wait_until(lambda: "MPI_Allreduce: time since the start" in terminal.text())
        terminal.press("h")
        wait_until(lambda: "darker" not in terminal.text() and "Time now" in terminal.text())
        terminal.press("w")
        wait_until(lambda: "MPI_Allreduce" in terminal.text() and "Back" in terminal.text())
        terminal.press("Escape")
        wait_until(lambda: "Time now" in terminal.text() and "Imbalance" in terminal.text())
        terminal.press("c")
        wait_until(lambda: "MPI_Allreduce         main monitored" in terminal.text())
        terminal.press("Escape")
        wait_until(lambda: "Imbalance" in terminal.text())
        end.touch()
        assert job.wait(60) == 0
        wait_until(lambda: ending.exists() and ending.read_text() != "")
        assert ending.read_text() == "0\n"
        wait_until(lambda: "rounds; the last" in terminal.text())
        assert "MPI_Allreduce" in terminal.text()


def test_a_rank_that_hangs_is_named(
    program: Path, tare: Path, tmp_path: Path, terminals: list[Terminal]
) -> None:
    run = tmp_path / "run"
    with running(tare, openmpi4(), run, [program, "hang", "5"], "--monitor=points,policy=nonblock"):
        wait_until(lambda: len(live(run)) > 0)
        terminal = Terminal([tare, "top", run])
        terminals.append(terminal)
        wait_until(lambda: "without 1" in terminal.text())
        wait_until(lambda: "nothing comes from rank 1" in terminal.text())
        terminal.press("q")


def test_two_may_look_and_an_interrupt_ends_one(
    program: Path, tare: Path, tmp_path: Path, terminals: list[Terminal]
) -> None:
    run, end = tmp_path / "run", tmp_path / "end"
    with running(tare, openmpi4(), run, [program, "calls", "1000", end], "--monitor=50ms") as job:
        wait_until(lambda: len(live(run)) > 2)
        endings = [tmp_path / "first", tmp_path / "second"]
        for ending in endings:
            command = f"'{tare}' top '{run}'; echo $? >'{ending}'; sleep 1000"
            terminals.append(Terminal(["sh", "-c", command]))
        for terminal in terminals[-2:]:
            wait_until(lambda terminal=terminal: "MPI_Allreduce" in terminal.text())  # type: ignore[misc]
        terminals[-2].press("C-c")
        wait_until(lambda: endings[0].exists() and endings[0].read_text() == "0\n")
        assert not endings[1].exists() and "running" in terminals[-1].text()
        end.touch()
        assert job.wait(60) == 0
        wait_until(lambda: endings[1].exists() and endings[1].read_text() == "0\n")
        wait_until(lambda: "run has ended." in terminals[-1].text())


def test_without_a_terminal_it_prints(program: Path, tare: Path, tmp_path: Path) -> None:
    run, end = tmp_path / "run", tmp_path / "end"
    end.touch()
    with running(tare, openmpi4(), run, [program, "points", "50"], "--monitor=points,policy=nonblock") as job:
        assert job.wait(60) == 0

    def ask(*options: str) -> str:
        done = subprocess.run(
            [tare, "top", run, *options], capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout

    assert "50 rounds; the last, number 50, has 3 ranks" in ask()
    found = json.loads(ask("--json"))
    assert found["schema"] == "tare.top/1" and found["rounds"] == 50 and not found["going_on"]
    (reduced,) = [row for row in found["rows"] if row["event"] == "MPI_Allreduce"]
    assert reduced["kind"] == "function" and reduced["calls_per_s"] >= 0
    histogram = json.loads(ask("--json", "--event", "MPI_Allreduce"))["histogram"]
    assert (histogram["kind"], histogram["metric"]) == ("function", "time_ns")
    assert all(sum(part["ranks"] for part in made["bins"]) == RANKS for made in histogram["rounds"])
    # Each rank has set the counter to the number of the round.
    values = json.loads(ask("--json", "--event", "residual"))["histogram"]
    assert values["kind"] == "counter" and values["rounds"]
    for made in values["rounds"]:
        (only,) = made["bins"]
        assert only == {"low": made["round"], "high": made["round"] + 1, "ranks": RANKS}
    assert "residual: its value" in ask("--event", "residual")
    wrong = subprocess.run(
        [tare, "top", run, "--event", "residua"], capture_output=True, text=True, timeout=60
    )
    assert wrong.returncode == 1 and "'residual'" in wrong.stderr and len(wrong.stderr.splitlines()) == 1


def test_a_filter_of_histograms_alone_is_shown_and_others_are_refused(
    program: Path, tare: Path, tmp_path: Path
) -> None:
    for name, status in (("histogram", 0), ("groups", 1)):
        run = tmp_path / name
        spec = f"--monitor=points,policy=nonblock,filter={name}"
        with running(tare, openmpi4(), run, [program, "points", "20"], spec) as job:
            assert job.wait(60) == 0
        done = subprocess.run(
            [tare, "top", run, "--event", "MPI_Allreduce"], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == status
        if status == 0:
            assert "MPI_Allreduce: time since the start" in done.stdout
        else:
            assert "histogram" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_run_that_is_not_monitored_is_refused(tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    subprocess.run([tare, "run", "-q", "-o", run, "--", "true"], check=True, timeout=60)
    done = subprocess.run([tare, "top", run], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "--monitor" in done.stderr and len(done.stderr.splitlines()) == 1
