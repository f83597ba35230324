"""Communicators: their members, and a key that is the same in all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import otf2_trace
import pytest
from environments import MpiEnvironment, compile_c
from exporting import exported
from measured import PROGRAMS, Measurement, measure

RANKS = 4
NO_SESSIONS = {"debian-openmpi"}
# Debian's MPICH refuses MPI_Comm_spawn under its own mpiexec.
NO_SPAWN = {"debian-mpich"}
# Intel's needs to be told, and a fabric other than shared memory.
SPAWNING = {"I_MPI_SPAWN": "on", "I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp"}
# As in communicators.c: members by their ranks in the world, in order, of each communicator of the name.
MEMBERS = {
    "MPI_COMM_WORLD": [[0, 1, 2, 3]],
    "dup 1": [[0, 1, 2, 3]],
    "dup 2": [[0, 1, 2, 3]],
    "idup 1": [[0, 1, 2, 3]],
    "idup 2": [[0, 1, 2, 3]],
    "create_group 5": [[1, 2, 3]],
    "create_group 5 again": [[1, 2, 3]],
    "create": [[1, 2, 3]],
    "reversed": [[3, 2, 1, 0]],
    "even": [[0, 2]],
    "odd": [[1, 3]],
    "inter": [[0, 1, 2, 3]],  # both groups together
    "merged": [[0, 2, 1, 3]],
    "cart": [[0, 1, 2, 3]],
    "column": [[0, 2], [1, 3]],
    "self": [[0], [1], [2], [3]],
}


def members(runs: Sequence[Sequence[int]]) -> list[int]:
    """Each run is first, stride, count."""
    return [first + stride * i for first, stride, count in runs for i in range(count)]


def users(measured: Measurement) -> dict[tuple[str, str], set[int]]:
    """Ranks that called MPI_Ibarrier on a communicator, by its name and key."""
    found: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row in measured.events("--function", "MPI_Ibarrier"):
        found[row["communicator"], row["communicator_key"]].add(row["rank"])
    return found


def test_members_and_keys(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "communicators.c"], tmp_path / "program", "-pthread")
    measured = measure(tare, mpi, RANKS, [program], tmp_path / "run", "--trace")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr

    communicators: list[dict[str, Any]] = measured.info()["communicators"]
    by_name: dict[str, list[list[int]]] = defaultdict(list)
    for communicator in communicators:
        both = communicator["members"] + (communicator["remote_members"] or [])
        of_name = members(both)
        by_name[communicator["name"]].append(sorted(of_name) if communicator["inter"] else of_name)
    assert {name: sorted(groups) for name, groups in by_name.items()} == MEMBERS
    inter = next(row for row in communicators if row["name"] == "inter")
    assert sorted([members(inter["members"]), members(inter["remote_members"])]) == [[0, 2], [1, 3]]
    assert all(row["remote_members"] is None for row in communicators if row is not inter)
    assert len({row["key"] for row in communicators}) == len(communicators)

    # One key for all who use a communicator, and all members use it.
    used = users(measured)
    assert {
        name: sorted(sorted(ranks) for (of, _), ranks in used.items() if of == name) for name in MEMBERS
    } == {
        name: sorted(sorted(group) for group in groups) if name != "MPI_COMM_WORLD" else []
        for name, groups in MEMBERS.items()
    }
    assert set(used) <= {(row["name"], row["key"]) for row in communicators}


def test_peers_have_ranks_in_the_world(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "communicators.c"], tmp_path / "program", "-pthread")
    measured = measure(tare, mpi, RANKS, [program], tmp_path / "run", "--trace")
    rows = [row for row in measured.events() if row.get("tag") in (7, 8)]
    assert {
        (row["tag"], row["rank"], row["function"], row["peer"], row.get("peer_world")) for row in rows
    } >= {
        (7, 3, "MPI_Send", 1, 2),
        (7, 2, "MPI_Wait", 0, 3),
        (8, 0, "MPI_Send", 1, 3),
        (8, 3, "MPI_Recv", 0, 0),
    }
    posted = next(row for row in rows if row["function"] == "MPI_Irecv")
    assert posted["peer"] == -1
    assert "peer_world" not in posted


def test_threads_that_make_communicators_at_once(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "communicators.c"], tmp_path / "program", "-pthread")
    measured = measure(tare, mpi, 2, [program, "threads"], tmp_path / "run", "--trace")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    used = users(measured)
    assert sorted(name for name, _ in used) == ["child 0", "child 1"]
    assert all(ranks == {0, 1} for ranks in used.values())


def test_sessions(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    if mpi.name in NO_SESSIONS:
        pytest.skip(f"{mpi.name} implements MPI 3, which has no sessions")
    program = compile_c(mpi, [PROGRAMS / "sessions.c"], tmp_path / "sessions")
    measured = measure(tare, mpi, RANKS, [program], tmp_path / "run", "--trace")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    (communicator,) = measured.info()["communicators"]
    assert communicator["members"] == [[0, 1, RANKS]]
    rows = measured.events("--function", "MPI_Allreduce")
    assert {(row["rank"], row["communicator_key"]) for row in rows} == {
        (rank, communicator["key"]) for rank in range(RANKS)
    }


def test_members_of_another_world(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    if mpi.name in NO_SPAWN:
        pytest.skip(f"{mpi.name} refuses MPI_Comm_spawn under its own mpiexec")
    program = compile_c(mpi, [PROGRAMS / "behaviour.c"], tmp_path / "behaviour")
    env = replace(mpi, env={**mpi.env, **SPAWNING})
    measured = measure(tare, env, 2, [program, "spawn"], tmp_path / "run", "--trace")
    assert measured.ended.returncode == 0, measured.ended.stderr
    inter = {row["world"]: row for row in measured.info()["communicators"] if row["inter"]}
    assert [(inter[world]["members"], inter[world]["remote_members"]) for world in (0, 1)] == [
        ([[0, 1, 2]], [[-1, 0, 1]]),
        ([[0, 0, 1]], [[-1, 0, 2]]),
    ]
    rows = [row for row in measured.events("--function", "MPI_Barrier") if row["world"] == 0]
    keys = [row.get("communicator_key") for row in rows]
    assert keys.count(inter[0]["key"]) == 2, "one call by each parent"
    # OTF2 has no communicator whose members are in two worlds, and leaves no gap in its numbers for it.
    archive = otf2_trace.read(exported(tare, measured.directory, "otf2", tmp_path / "otf2"))
    assert archive.numbers_of_communicators == [0, 1] and set(archive.communicators) == {"MPI_COMM_WORLD"}
