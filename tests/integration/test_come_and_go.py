"""Communicators that a program makes and frees without end take no room from anything else."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from environments import MpiEnvironment, compile_c, openmpi4
from measured import PROGRAMS, Measurement, measure
from on_mpi import both_debian

RANKS = 2


def measured_rounds(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path, rounds: int, *options: str, how: str = ""
) -> Measurement:
    program = compile_c(mpi, [PROGRAMS / "come_and_go.c"], tmp_path / "program")
    measured = measure(tare, mpi, RANKS, [program, str(rounds), how], tmp_path / "run", *options)
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    return measured


def callers(measured: Measurement) -> dict[str, set[tuple[str | None, int]]]:
    """The calling functions of each function, and how often each calls it on all ranks together."""
    found: dict[str, set[tuple[str | None, int]]] = defaultdict(set)
    for row in measured.profile("site"):
        found[row["function"]].add((row["caller"], row["calls"]))
    return found


# The tables know nothing of the MPI.
@both_debian
def test_every_call_keeps_its_site(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    rounds = 6000
    measured = measured_rounds(mpi, tare, tmp_path, rounds)
    of = callers(measured)
    each = RANKS * rounds
    assert {name: of[name] for name in ("MPI_Barrier", "MPI_Comm_dup", "MPI_Comm_split", "MPI_Sendrecv")} == {
        "MPI_Barrier": {("round_of", each)},
        "MPI_Comm_dup": {("round_of", each)},
        "MPI_Comm_split": {("round_of", each)},
        "MPI_Sendrecv": {("round_of", each)},
    }
    assert of["MPI_Allreduce"] == {("afterwards", RANKS)}
    assert of["MPI_Bcast"] == {("afterwards", RANKS)}
    assert measured.info()["warnings"] == []
    # 16 have rows of their own.
    names = Counter(row["communicator"] for row in measured.profile("communicator"))
    assert len(names) < 60
    # A rank has sent each message to the other one.
    peers = measured.profile("peer")
    assert sum(row["sent_messages"] for row in peers) == each
    assert {row["peer"] for row in peers} == {0, 1}


# Two are made in a round: so many still have a definition each.
def test_records_tell_them_apart(tare: Path, tmp_path: Path) -> None:
    rounds = 1500
    measured = measured_rounds(openmpi4(), tare, tmp_path, rounds, "--trace")
    users: dict[str, set[int]] = defaultdict(set)
    for row in measured.events("--function", "MPI_Barrier"):
        users[row["communicator_key"]].add(row["rank"])
    assert len(users) == rounds
    assert all(ranks == {0, 1} for ranks in users.values())
    assert measured.info()["warnings"] == []


def test_it_is_told_when_records_cannot(tare: Path, tmp_path: Path) -> None:
    measured = measured_rounds(openmpi4(), tare, tmp_path, 6000, "--trace")
    (warning,) = measured.info()["warnings"]
    assert "calls on them are not matched" in warning
    assert callers(measured)["MPI_Allreduce"] == {("afterwards", RANKS)}


# They are all different, and all in use at once.
def test_call_sites_matter_more_than_communicators(tare: Path, tmp_path: Path) -> None:
    rounds = 600
    measured = measured_rounds(openmpi4(), tare, tmp_path, rounds, "--stack", "1", how="nested")
    of = callers(measured)
    assert of["MPI_Barrier"] == {("nested_in", RANKS * rounds)}
    assert of["MPI_Allreduce"] == {("afterwards", RANKS)}
    (warning,) = measured.info()["warnings"]
    assert "calls on further communicators are in rows without a communicator" in warning
