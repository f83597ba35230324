"""`tare where` of a job over several hosts, from each of them: all ranks, or who is missing."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import mpich4
from hosts import Host
from two_hosts import MPIS, RANKS, Job, job_of, words

ON = {0: "node0", 1: "node0", 2: "node1", 3: "node1"}


@pytest.fixture(params=MPIS, ids=lambda env: env.name)
def job(request: pytest.FixtureRequest, tare: Path, tmp_path: Path) -> Iterator[Job]:
    """Sends around a ring of all ranks, before anybody receives. The third host has no rank."""
    with job_of(request.param, tare, tmp_path, count=3, way="crossed") as made:
        yield made


def seen_from(job: Job, host: Host) -> dict[str, object]:
    found: dict[str, object] = json.loads(job.do(host, "where", "--json").stdout)
    return found


def test_each_host_sees_all_ranks_and_their_deadlock(job: Job) -> None:
    job.start(job.command("-q"))
    for host in job.hosts.hosts:
        found = seen_from(job, host)
        rows = found["rows"]
        assert isinstance(rows, list)
        assert {row["rank"]: row["host"] for row in rows} == ON, host.name
        assert {(row["state"], row["function"], row["inside"]) for row in rows} == {
            ("running", "MPI_Send", True)
        }
        assert {row["rank"]: row["peer_world"] for row in rows} == {
            rank: (rank + 1) % RANKS for rank in range(RANKS)
        }
        deadlock = found["deadlock"]
        assert isinstance(deadlock, dict)
        assert [[each["rank"] for each in cycle] for cycle in deadlock["cycles"]] == [list(range(RANKS))]
        assert found["missing"] == [] and found["warnings"] == []
        assert not list(job.run.glob(".seen-*")), "answers are left"
    stopped = min(job.ranks(job.there))
    os.kill(stopped, signal.SIGSTOP)
    for host in job.hosts.hosts:
        told = words(job.do(host, "where"))
        assert "STOPPED by a signal or a debugger; MPI_Send to rank" in told
        assert "Deadlock" not in told, "that rank may go on"
    os.kill(stopped, signal.SIGCONT)
    assert "Deadlock: ranks 0-3 wait for each other" in words(job.do(job.hosts.hosts[2], "where"))


def test_who_does_not_answer_is_told(tare: Path, tmp_path: Path) -> None:
    with job_of(mpich4(), tare, tmp_path, count=3, way="crossed") as job:
        job.start(job.command("-q"))
        (keeper,) = job.keepers(job.there)
        os.kill(keeper, signal.SIGKILL)
        os.kill(json.loads((job.run / "meta.json").read_text("utf-8"))["runner"]["pid"], signal.SIGSTOP)
        found = seen_from(job, job.hosts.hosts[2])
    assert found["missing"] == [
        {"world": 0, "size": RANKS, "ranks": [[0, 1]], "host": None},
        {"world": 0, "size": RANKS, "ranks": [[2, 3]], "host": "node1"},
    ]
    assert found["deadlock"] is None, "nothing is known of them"
    there = f"`tare where {job.run}` there shows its own"
    assert found["warnings"] == [
        f"ranks 0-1 of 4 are missing: nobody on node0 has answered; {there}",
        f"ranks 2-3 of 4 are missing: nobody on node1 has answered; {there}",
    ]
