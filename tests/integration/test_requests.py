"""Requests that share a handle, those of calls that are not recorded, and what requests receive."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import tare as tare_package
from environments import ROOT, MpiEnvironment, compile_c, mpich4, openmpi4
from measured import PROGRAMS, measure
from snippets import snippets

# As one_handle.c has them; more requests at a time than a thread's profile table has rows.
ROUNDS, MANY, BYTES = 4, 3000, 24


@pytest.fixture(params=[openmpi4(), mpich4()], ids=lambda env: env.name)
def mpi(request: pytest.FixtureRequest) -> MpiEnvironment:
    """Which requests have one handle is each family's own."""
    return request.param  # type: ignore[no-any-return]


@pytest.mark.parametrize("trace", [False, True], ids=["profile", "trace"])
def test_time_waited_is_of_the_calls_that_started_what_was_waited_for(
    mpi: MpiEnvironment, trace: bool, tare: Path, tmp_path: Path
) -> None:
    program = compile_c(mpi, [PROGRAMS / "one_handle.c"], tmp_path / "one_handle")
    options = ["--trace"] if trace else []
    measured = measure(tare, mpi, 1, [program, str(MANY)], tmp_path / "run", *options)
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    of = {row["function"]: row for row in measured.profile("function")}

    recorded = 2 * ROUNDS  # the others are started while nothing is recorded
    assert of["MPI_Isend"]["calls"] == recorded * (MANY + 2) + ROUNDS
    assert of["MPI_Irecv"]["calls"] == recorded * (MANY + 2)
    assert of["MPI_Waitall"]["calls"] == ROUNDS
    assert of["MPI_Isend"]["bytes"] == recorded * 2 * BYTES
    # What completes while nothing is recorded is not recorded either.
    assert of["MPI_Irecv"]["bytes"] == ROUNDS * 2 * BYTES
    assert of["MPI_Start"]["bytes"] == ROUNDS * BYTES

    waited = {name: row["waited_ns"] for name, row in of.items() if row["waited_ns"]}
    assert set(waited) <= {"MPI_Isend", "MPI_Irecv", "MPI_Start"}
    assert waited["MPI_Start"] <= of["MPI_Wait"]["time_ns"]
    # Each request has an even share of its call's time, whole ticks of it. All of MPI_Waitall are known, of
    # MPI_Waitsome one in each round.
    shares = ROUNDS * (2 * MANY + 4)
    least = of["MPI_Waitall"]["time_ns"] - shares
    most = of["MPI_Waitall"]["time_ns"] + of["MPI_Waitsome"]["time_ns"]
    assert least <= waited["MPI_Isend"] + waited["MPI_Irecv"] <= most
    # The peers of messages are known, too: those that were sent, and those that were received.
    (peer,) = measured.profile("peer")
    assert (peer["sent_messages"], peer["received_messages"]) == (
        4 * ROUNDS + 2 * ROUNDS,
        2 * ROUNDS + ROUNDS,
    )


@pytest.mark.parametrize(
    ("name", "ranks", "arguments"),
    [("exchange", 2, []), ("persistent", 2, ["300"]), ("one_handle", 1, ["300"])],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_bytes_by_function_are_the_same_in_profile_and_trace(
    mpi: MpiEnvironment, name: str, ranks: int, arguments: list[str], tare: Path, tmp_path: Path
) -> None:
    """The query is that of the documentation; some requests outlive the chunk that has their start."""
    program = compile_c(mpi, [PROGRAMS / f"{name}.c"], tmp_path / name)
    measured = measure(
        tare, mpi, ranks, [program, *arguments], tmp_path / "run", "--trace", "--buffer", "64K"
    )
    assert measured.ended.returncode == 0, measured.ended.stderr
    texts = [each.text for each in snippets(ROOT / "docs" / "tables.md")]
    (query,) = [text.split('"""')[1] for text in texts if "by_function" in text]
    events = tare_package.open(measured.directory).event_table()
    with duckdb.connect() as connection:
        connection.register("events", events)
        of_trace = {function: size for function, size in connection.sql(query).fetchall() if size}
    of_profile = {row["function"]: row["bytes"] for row in measured.profile("function") if row["bytes"]}
    assert of_trace == of_profile
    assert not any(function.startswith(("MPI_Wait", "MPI_Test")) for function in of_trace)
