"""Requests that MPI_Startall starts: each is in the trace, and so is its completion."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, measure

PARTITIONED = 8  # the tag of partitioned messages
ROUNDS = 200  # of some 45 records each: several chunks


def size_of(tag: int) -> int:
    return 8 * (tag + 1)


def test_what_startall_starts_is_matched(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "persistent.c"], tmp_path / "program")
    measured = measure(tare, mpi, 2, [program, str(ROUNDS)], tmp_path / "run", "--trace", "--buffer", "64K")
    assert (measured.ended.returncode, measured.ended.stdout) == (0, "ok\n"), measured.ended.stderr
    rows = measured.events()
    sent: dict[int, list[int]] = defaultdict(list)
    received: dict[int, list[int]] = defaultdict(list)
    for rank in (0, 1):
        started: dict[int, dict[str, Any]] = {}
        completed = Counter[int]()
        for row in rows:
            if row["rank"] != rank:
                continue
            if row["function"] == "MPI_Startall":
                assert "request" not in row
                for request in row["requests"]:
                    assert request["communicator"] == "MPI_COMM_WORLD"
                    assert request["request"] not in started
                    started[request["request"]] = request
                assert row["bytes"] == sum(request.get("bytes", 0) for request in row["requests"])
            elif row["function"].startswith("MPI_Wait"):
                for request in row.get("requests", [row]):
                    if "request" not in request:  # MPI_Wait of the one that was not started
                        assert row["function"] == "MPI_Wait"
                        assert "bytes" not in request
                        continue
                    start = started[request["request"]]
                    if "tag" not in start:  # partitioned: its messages are not those of other requests
                        assert request.get("tag", PARTITIONED) == PARTITIONED
                        start = start | {"tag": PARTITIONED, "peer": 1 - rank}
                    completed[request["request"]] += 1
                    if "bytes" in start:
                        assert "bytes" not in request
                        assert (start["peer"], start["bytes"]) == (1 - rank, size_of(start["tag"]))
                        sent[rank].append(start["tag"])
                    else:
                        assert start["peer"] == (-1 if start["tag"] in (1, 3, 5, 7) else 1 - rank)
                        assert (request["peer"], request["peer_world"]) == (1 - rank, 1 - rank)
                        assert (request["tag"], request["bytes"]) == (start["tag"], size_of(start["tag"]))
                        received[rank].append(start["tag"])
        assert set(completed) == set(started)
        assert set(completed.values()) == {1}
    for rank in (0, 1):
        assert Counter(sent[rank]) == Counter(received[1 - rank])
        assert set(Counter(sent[rank]).values()) == {ROUNDS}
        assert len(set(sent[rank])) >= 8
