"""Calls that return an error are counted, and are no messages: those after them belong to one another."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb
import otf2_trace
import perfetto_trace
import pytest
import tare as tare_package
from environments import MpiEnvironment, compile_c
from exporting import exported
from measured import PROGRAMS, measure
from test_samples import lost, samples

# By tag, the ints of messages from rank 0 to rank 1; the first of each was too long for its receive.
TOO_LONG = {3: 4, 4: 6, 5: 4, 6: 4, 7: 4, 8: 4}
MESSAGES = 2 * 5 * 4  # of refused.c
OTHERS = {3: range(2, 7), 4: range(1, 4), 5: [1], 6: [2], 7: [1], 8: []}


def test_calls_that_fail_are_no_messages(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "failing.c"], tmp_path / "failing")
    measured = measure(tare, mpi, 2, [program], tmp_path / "run", "--trace")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    ranks = {
        rank["rank"]: (rank["failed_calls"], rank["failed_communication"])
        for rank in measured.info()["ranks"]
    }
    assert ranks == {0: (6, 5), 1: (12, 11)}
    run = tare_package.open(measured.directory)
    messages, collectives = run.messages, run.collectives  # noqa: F841 (DuckDB finds them by name)
    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT source, tag, bytes, received_bytes FROM messages ORDER BY source, tag, send_enter_ns"
        ).fetchall()
        parts = connection.execute(
            "SELECT function, operation, count(*) FROM collectives GROUP BY ALL ORDER BY ALL"
        ).fetchall()
    expected: list[tuple[int, int, int, int | None]] = []
    for tag, ints in TOO_LONG.items():
        expected.append((0, tag, 4 * ints, None))
        expected += [(0, tag, 4 * each, 4 * each) for each in OTHERS[tag]]
    assert found == [*expected, (1, 8, 8, 8)]
    assert [(function, count) for function, _, count in parts] == [("MPI_Allreduce", 2)] * 3 + [
        ("MPI_Barrier", 2)
    ]
    assert run.warnings == []
    of_otf2 = otf2_trace.read(exported(tare, measured.directory, "otf2", tmp_path / "otf2"))
    assert not of_otf2.unsent
    sizes = Counter((one["tag"], one["bytes"], one["received_bytes"]) for one in of_otf2.messages)
    assert sizes == Counter((tag, sent, got or 0) for _, tag, sent, got in found)
    slices = perfetto_trace.read(exported(tare, measured.directory, "perfetto", tmp_path / "perfetto"))
    sent = {flow: each for each in slices for flow in each.sent}
    received = {flow: each for each in slices for flow in each.received}
    assert sent.keys() == received.keys()
    assert len(sent) == len(found)
    for flow, each in received.items():
        if each.name == "MPI_Recv" and "bytes" in each.arguments:
            assert sent[flow].arguments["bytes"] == each.arguments["bytes"]


@pytest.mark.parametrize("share", ["1", "0.3"])
def test_what_is_refused_has_no_number(share: str, mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    """MPI has sent and received nothing, so the messages behind it are sampled like others."""
    program = compile_c(mpi, [PROGRAMS / "refused.c"], tmp_path / "refused")
    measured = measure(tare, mpi, 2, [program], tmp_path / "run", "--sample", f"random:{share},stat")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    found = samples(measured)["messages"]
    assert (found["sent"], found["received"]) == (MESSAGES, MESSAGES)
    assert found["chosen"] == found["paired"] and (share != "1" or found["chosen"] == MESSAGES)
    assert lost(found) == {}
