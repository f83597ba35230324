"""Calls of MPI that do not return, because an exception, longjmp or the end of their thread leaves them
(programs/leaves.cpp): the program runs as it does bare, and every call is recorded, once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from environments import MpiEnvironment, compile_cxx, run
from measured import PROGRAMS, Measurement, measure
from on_mpi import both_debian
from test_harmless import measure_alone, run_alone
from test_samples import samples
from test_timing import library, recorded
from unfinished import hanging, where

RANKS = 2
ROUNDS, SENDS = 3, 1000  # of leaves.cpp
LEFT = 2 * ROUNDS
# How a frame is left follows from the processor and the compiler, which frames there are from the MPI.
pytestmark = both_debian

ALWAYS = {"MPI_Init_thread": 1, "MPI_Comm_rank": 1, "MPI_Comm_size": 1, "MPI_Finalize": 1}
LOOKUPS = ("MPI_Comm_rank", "MPI_Comm_size")
OPERATION = {"MPI_Op_create": 1, "MPI_Reduce_local": LEFT, "MPI_Op_free": 1}
# What each rank calls, beside the messages of send_all(): of each callback in turn.
CALLBACKS = (
    OPERATION,
    {
        "MPI_Comm_create_errhandler": 1,
        "MPI_Comm_set_errhandler": 2,
        "MPI_Errhandler_free": 1,
        "MPI_Send": LEFT,
    },
    {"MPI_Comm_create_keyval": 1, "MPI_Comm_set_attr": 1, "MPI_Comm_delete_attr": LEFT},
    {"MPI_Comm_create_keyval": 1, "MPI_Comm_set_attr": 1, "MPI_Comm_dup": LEFT, "MPI_Comm_delete_attr": 1},
    {"MPI_Grequest_start": LEFT, "MPI_Grequest_complete": LEFT, "MPI_Wait": LEFT},
)


@pytest.fixture(scope="module")
def leaves(mpi: MpiEnvironment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_cxx(
        mpi,
        [PROGRAMS / "leaves.cpp"],
        tmp_path_factory.mktemp(f"leaves-{mpi.name}") / "leaves",
        "-Wno-cast-function-type",
    )


def calls_of(*each: dict[str, int], messages: int) -> Counter[str]:
    """The calls of all ranks, with so many messages from the first to the last."""
    calls: Counter[str] = Counter({"MPI_Send": messages, "MPI_Recv": messages})
    for _ in range(RANKS):
        for own in (ALWAYS, *each):
            calls.update(own)
    return +calls


def assert_recorded(measured: Measurement, calls: Counter[str], left: int) -> None:
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    assert Counter(measured.calls()) == calls
    assert sum(rank["left_calls"] for rank in measured.info()["ranks"]) == left


@pytest.mark.parametrize("options", [(), ("--trace", "--sample", "random:1")], ids=["profile", "all"])
@pytest.mark.parametrize("how", ["throw", "jump"])
def test_left_by(
    how: str, options: tuple[str, ...], mpi: MpiEnvironment, leaves: Path, tare: Path, tmp_path: Path
) -> None:
    messages = len(CALLBACKS) * 2 * SENDS
    calls = calls_of(*CALLBACKS, messages=messages)
    measured = measure(tare, mpi, RANKS, [leaves, how], tmp_path / "run", *options, leaves=True)
    assert_recorded(measured, calls, RANKS * LEFT * len(CALLBACKS))
    if not options:
        return
    events = Counter(row["function"] for row in measured.events())
    assert events == Counter({name: count for name, count in calls.items() if name not in LOOKUPS})
    found = samples(measured)["messages"]
    assert (found["paired"], found["contradictory"]) == (messages, 0)


def test_other_stacks(mpi: MpiEnvironment, leaves: Path, tare: Path, tmp_path: Path) -> None:
    """A callback calls MPI on a stack of its own: these calls are part of the one that called back. A
    coroutine calls MPI, and leaves its calls. A coroutine is given up in a callback, its stack unmapped."""
    switched = measure(tare, mpi, RANKS, [leaves, "switch"], tmp_path / "switched")
    assert_recorded(switched, calls_of(OPERATION, messages=2 * SENDS), 0)
    coroutine = measure(tare, mpi, RANKS, [leaves, "coroutine"], tmp_path / "coroutine", leaves=True)
    assert_recorded(coroutine, calls_of(OPERATION, OPERATION, messages=4 * SENDS), RANKS * 2 * LEFT)
    abandoned = measure(tare, mpi, RANKS, [leaves, "abandoned"], tmp_path / "abandoned", leaves=True)
    once = {"MPI_Op_create": 1, "MPI_Reduce_local": 1}
    assert_recorded(abandoned, calls_of(once, messages=SENDS), RANKS)


def test_cancelled_threads(mpi: MpiEnvironment, leaves: Path, tare: Path, tmp_path: Path) -> None:
    """Threads are cancelled in a callback, one after another; their cleanup handlers run, and MPI goes on."""
    measured = measure(tare, mpi, RANKS, [leaves, "cancelled"], tmp_path / "run", "--trace", leaves=True)
    own = {"MPI_Op_create": ROUNDS, "MPI_Reduce_local": ROUNDS}
    assert_recorded(measured, calls_of(own, messages=SENDS), RANKS * ROUNDS)
    assert sum(row["function"] == "MPI_Reduce_local" for row in measured.events()) == RANKS * ROUNDS


def test_cancelled_receive(mpi: MpiEnvironment, leaves: Path, tare: Path, tmp_path: Path) -> None:
    """A thread is cancelled while it waits in MPI_Recv. No call of MPI is made after that."""
    measured = replace(measure_alone(mpi, tare, [leaves, "received"], tmp_path / "run"), leaves=True)
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    assert measured.calls()["MPI_Recv"] == 1
    assert {row["inside"] for row in where(tare, tmp_path / "run")["rows"]} == {False}


def test_left_at_the_end(mpi: MpiEnvironment, leaves: Path, tare: Path, tmp_path: Path) -> None:
    """A call that longjmp has left, with no other after it."""
    measured = replace(measure_alone(mpi, tare, [leaves, "ends"], tmp_path / "run"), leaves=True)
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    assert measured.calls()["MPI_Reduce_local"] == 1
    assert {row["inside"] for row in where(tare, tmp_path / "run")["rows"]} == {False}


def test_left_is_not_under_way(mpi: MpiEnvironment, leaves: Path, tare: Path, tmp_path: Path) -> None:
    with hanging(tare, mpi, [str(leaves), "stays", "throw"], tmp_path / "run") as found:
        assert [(row["function"], row["inside"]) for row in found["rows"]] == [
            ("MPI_Reduce_local", False)
        ] * RANKS


def test_libraries_that_measure_nothing(
    mpi: MpiEnvironment, leaves: Path, tare: Path, tmp_path: Path
) -> None:
    """The twin that only forwards; the one that times MPI_Init and MPI_Finalize, which may be left, too."""
    forward = library(tare)[1].with_name("libtare-forward.so")
    for how in ("throw", "jump"):
        ended = run(mpi, RANKS, [leaves, how], LD_PRELOAD=str(forward))
        assert (ended.returncode, ended.stdout) == (0, "ok\n"), ended.stderr
    for how in ("throw", "jump"):
        bare = run_alone(mpi, [leaves, "finalize", how])
        assert "left\n" in bare.stdout
        timed = run_alone(recorded(mpi, tmp_path / how), [*library(tare), leaves, "finalize", how])
        assert (timed.returncode, timed.stdout) == (bare.returncode, bare.stdout), timed.stderr
