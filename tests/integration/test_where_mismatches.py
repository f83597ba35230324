"""`tare where` names what calls contradict each other in, on the planted mistakes of programs/waiting.c.

What is read lies in the segment, whatever the MPI: one is enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c, openmpi4
from measured import PROGRAMS
from unfinished import TIMEOUT_S, started, where
from verbs import ask

Found = dict[str, Any]


@pytest.fixture(scope="module")
def mpi() -> MpiEnvironment:
    return openmpi4()


@pytest.fixture(scope="module")
def waiting(mpi: MpiEnvironment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_c(mpi, [PROGRAMS / "waiting.c"], tmp_path_factory.mktemp("where") / "waiting", "-g")


def until(tare: Path, run_dir: Path, holds: Callable[[Found], bool]) -> Found:
    deadline = time.monotonic() + TIMEOUT_S
    found: Found = {}
    while time.monotonic() < deadline:
        if (run_dir / "meta.json").exists() and holds(found := where(tare, run_dir)):
            return found
        time.sleep(0.1)
    raise AssertionError(f"not so: {found}")


def shown(tare: Path, run_dir: Path) -> str:
    done = ask(tare, "where", run_dir)
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
    return " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("way", "kind", "said", "deadlocked"),
    [
        (
            "roots",
            "roots",
            "Roots differ: MPI_Reduce on MPI_COMM_WORLD rank 0: root 0; rank 1: root 1",
            False,
        ),
        (
            "tags",
            "tags",
            "Tags do not match rank 1 waits in MPI_Recv for tag 7 from rank 0, which sends it tag 8",
            True,
        ),
        ("lost", "unreceived", "Rank 0 has sent rank 1 1 message that it has not received", True),
        (
            "orders",
            "order",
            "Collectives on two communicators, in different orders "
            "rank 0 in MPI_Allreduce on first; rank 1 in MPI_Allreduce on second",
            True,
        ),
    ],
)
def test_the_mistake_is_named(
    way: str, kind: str, said: str, deadlocked: bool, tare: Path, mpi: MpiEnvironment, waiting: Path,
    tmp_path: Path,
) -> None:  # fmt: skip
    run_dir = tmp_path / "run"
    with started(tare, mpi, [str(waiting), way], run_dir):
        found = until(tare, run_dir, lambda found: bool(found["mismatches"]))
        assert [each["kind"] for each in found["mismatches"]] == [kind]
        assert (found["deadlock"] is not None) is deadlocked
        assert said in shown(tare, run_dir)


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("polls", "rank 1 polls for rank 0: MPI_Test; under way: MPI_Irecv from rank 0, tag 7"),
        ("probes", "rank 1 polls for rank 0: MPI_Iprobe from rank 0, tag 7"),
    ],
)
def test_polling_for_what_cannot_come_is_named(
    way: str, said: str, tare: Path, mpi: MpiEnvironment, waiting: Path, tmp_path: Path
) -> None:
    run_dir = tmp_path / "run"
    with started(tare, mpi, [str(waiting), way], run_dir):
        found = until(tare, run_dir, lambda found: found["stalled"] is not None)
        assert found["deadlock"] is None
        assert [[each["rank"] for each in cycle] for cycle in found["stalled"]["cycles"]] == [[0, 1]]
        assert {row["rank"] for row in found["rows"] if row["polling"]} == {1}
        text = shown(tare, run_dir)
        assert "Deadlock unless rank 1 stops polling: ranks 0-1 wait for each other" in text
        assert said in text
