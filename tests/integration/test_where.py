"""`tare where` on programs that hang, or only seem to (programs/waiting.c)."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS
from on_mpi import both_debian
from unfinished import hanging, where
from verbs import ask

SOURCE = PROGRAMS / "waiting.c"
# What is read lies in the segment, whatever the MPI: two of them show that; the others would take minutes.
pytestmark = both_debian


@pytest.fixture
def waiting(mpi: MpiEnvironment, tmp_path: Path) -> Path:
    return compile_c(mpi, [SOURCE], tmp_path / "waiting", "-g")


def shown(tare: Path, run_dir: Path) -> str:
    done = ask(tare, "where", run_dir)
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
    return done.stdout


def line_of(text: str) -> int:
    """The line of waiting.c that holds it."""
    [line] = [number for number, each in enumerate(SOURCE.read_text().splitlines(), 1) if text in each]
    return line


def cycles(found: dict[str, Any]) -> list[list[int]]:
    return [[each["rank"] for each in cycle] for cycle in (found["deadlock"] or {"cycles": []})["cycles"]]


def test_receive_without_a_send(tare: Path, mpi: MpiEnvironment, waiting: Path, tmp_path: Path) -> None:
    with hanging(tare, mpi, [str(waiting), "receive"], tmp_path / "run") as found:
        assert cycles(found) == [[0, 1]]
        barrier, receive = found["rows"]
        assert (barrier["function"], barrier["waits_for"]) == ("MPI_Barrier", [1])
        assert (receive["function"], receive["peer"], receive["tag"]) == ("MPI_Recv", 0, 7)
        assert receive["line"] == line_of("if (rank == 1) MPI_Recv")
        assert receive["caller"] == "receive"
        assert "Deadlock: ranks 0-1 wait for each other" in shown(tare, tmp_path / "run")
        explained = ask(tare, "explain", tmp_path / "run", check=True).stdout
        assert "Deadlock: ranks 0-1 wait for ever for one another" in " ".join(explained.split())
        assert "Nothing in the" not in explained


def test_crossed_sends(tare: Path, mpi: MpiEnvironment, waiting: Path, tmp_path: Path) -> None:
    """Also after all of it was killed, and after its segments were collected."""
    run_dir = tmp_path / "run"
    with hanging(tare, mpi, [str(waiting), "crossed"], run_dir) as found:
        assert cycles(found) == [[0, 1]]
        assert [(row["function"], row["peer"]) for row in found["rows"]] == [("MPI_Send", 1), ("MPI_Send", 0)]
        assert {row["line"] for row in found["rows"]} == {line_of("MPI_Send(out")}
        text = shown(tare, run_dir)
        assert "ranks 0-1  MPI_Send to ranks 0-1, tag 7, for" in text
    for collected in (False, True):
        if collected:
            subprocess.run([tare, "recover", run_dir], check=True, timeout=60)
        killed = where(tare, run_dir)
        assert cycles(killed) == [[0, 1]]
        assert {row["state"] for row in killed["rows"]} == {"killed"}
        assert {row["line"] for row in killed["rows"]} == {line_of("MPI_Send(out")}
        assert "Deadlock: ranks 0-1 wait for each other" in shown(tare, run_dir)


def test_rank_that_misses_a_barrier(tare: Path, mpi: MpiEnvironment, waiting: Path, tmp_path: Path) -> None:
    with hanging(tare, mpi, [str(waiting), "barrier"], tmp_path / "run") as found:
        assert found["deadlock"] is None
        assert found["waiting"] == [{"world": 0, "rank": 0}]
        assert found["waited_for"] == [{"world": 0, "rank": 1}]
        there, missing = found["rows"]
        assert (there["function"], there["communicator"]) == ("MPI_Barrier", "everybody")
        assert there["line"] == line_of("MPI_Barrier(all)")
        assert there["waits_for"] == [1]
        assert not missing["inside"]
        assert missing["function"] == "MPI_Comm_set_name"
        assert "rank 1  not in MPI for" in shown(tare, tmp_path / "run")


def test_rank_that_exited(tare: Path, mpi: MpiEnvironment, waiting: Path, tmp_path: Path) -> None:
    """A process takes the place of the rank while the launcher runs, so that it does not kill the others."""
    command = ["sh", "-c", f"{waiting} exits; exec tail --pid=$PPID -f /dev/null"]
    with hanging(tare, mpi, command, tmp_path / "run") as found:
        gone, receiver = found["rows"]
        assert (gone["state"], gone["exit_code"], gone["finalized"]) == ("exited", 3, False)
        assert receiver["line"] == line_of("MPI_Recv(&answer")
        assert found["deadlock"]["ended"] == [{"world": 0, "rank": 0}]
        assert [each["rank"] for each in found["deadlock"]["blocked"]] == [1]
        assert "rank 0  exited without MPI_Finalize, exit code 3" in shown(tare, tmp_path / "run")


def test_waitall_for_messages_that_nobody_sends(
    tare: Path, mpi: MpiEnvironment, waiting: Path, tmp_path: Path
) -> None:
    with hanging(tare, mpi, [str(waiting), "waitall"], tmp_path / "run") as found:
        assert cycles(found) == [[0, 1]]
        for row in found["rows"]:
            assert (row["function"], row["requests"]) == ("MPI_Waitall", 2)
            assert row["line"] == line_of("MPI_Waitall(2")
            waited = [each for each in row["pending"] if each["waited_for"]]
            assert sorted((each["function"], each["peer"], each["tag"]) for each in waited) == [
                ("MPI_Irecv", 1 - row["rank"], 7),
                ("MPI_Irecv", 1 - row["rank"], 8),
            ]
            assert {each["line"] for each in waited} == {line_of("MPI_Irecv(&values")}


@pytest.mark.parametrize("way", ["wildcard", "slow"])
def test_nothing_is_called_a_deadlock_that_is_none(
    way: str, tare: Path, mpi: MpiEnvironment, waiting: Path, tmp_path: Path
) -> None:
    run_dir = tmp_path / "run"
    with hanging(tare, mpi, [str(waiting), way], run_dir) as found:
        assert found["deadlock"] is None
        for _ in range(5):
            time.sleep(0.3)
            assert where(tare, run_dir)["deadlock"] is None
        assert "No deadlock" in shown(tare, run_dir)
