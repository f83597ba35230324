"""Communication in callbacks that MPI runs (programs/callbacks.c) has no records: nothing is claimed that
follows from those of its rank."""

from __future__ import annotations

from pathlib import Path

import duckdb
import tare as tare_package
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, measure
from on_mpi import both_debian
from test_efficiency import efficiency_of
from test_samples import samples
from unfinished import hanging
from verbs import ask

EARLY = 3  # of callbacks.c


def test_messages_of_a_rank_are_not_matched_from_then_on(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    program = compile_c(mpi, [PROGRAMS / "callbacks.c"], tmp_path / "callbacks")
    measured = measure(
        tare,
        mpi,
        2,
        [program, "messages"],
        tmp_path / "run",
        "--trace",
        "--sample",
        "random:1",
        calls_back=True,
    )
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    assert {rank["rank"]: rank["callback_calls"] for rank in measured.info()["ranks"]} == {0: 0, 1: 2}
    sampled = samples(measured)["messages"]
    assert (sampled["contradictory"], sampled["paired"] <= EARLY) == (0, True)
    run = tare_package.open(measured.directory)
    messages = run.messages  # noqa: F841 (DuckDB finds it by name)
    with duckdb.connect() as connection:
        sizes = connection.execute("SELECT bytes, received_bytes FROM messages").fetchall()
    assert sizes == [(400, 400)] * EARLY
    assert run.warnings == [
        "rank 1 has communicated in a callback: its messages are not matched from then on"
    ]
    assert efficiency_of(measured.directory).not_replayed == "a rank has communicated in a callback"


@both_debian
def test_a_rank_that_may_be_in_a_callback_is_part_of_no_deadlock(
    mpi: MpiEnvironment, tare: Path, tmp_path: Path
) -> None:
    program = compile_c(mpi, [PROGRAMS / "callbacks.c"], tmp_path / "callbacks")
    with hanging(tare, mpi, [str(program), "hang"], tmp_path / "run") as found:
        assert found["deadlock"] is None
        done = ask(tare, "where", tmp_path / "run", check=True)
        words = " ".join(done.stdout.split())
        assert "Rank 1 has communicated in callbacks; whom it waits for in them is not known." in words
        assert "Deadlock" not in words
