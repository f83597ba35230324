"""A host that goes down while a job runs on it: all its processes are gone at once, and its memory."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from two_hosts import MPIS, PATIENCE_S, Job, job_of, words

pytestmark = pytest.mark.long  # it waits for what hosts do each few seconds


@pytest.fixture(params=MPIS, ids=lambda env: env.name)
def job(request: pytest.FixtureRequest, tare: Path, tmp_path: Path) -> Iterator[Job]:
    with job_of(request.param, tare, tmp_path) as made:
        yield made


def go_down(job: Job) -> None:
    """The second host, with the launcher's daemon and the keeper."""
    pids = job.hosts.processes(job.there)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
    subprocess.run(job.there.command(["find", "/dev/shm", "-name", "tare-*", "-delete"]), check=True)


def test_the_others_have_all_and_what_is_lost_is_told(job: Job) -> None:
    running = job.start(job.command("--trace"))
    go_down(job)
    said = " ".join(running.communicate(timeout=PATIENCE_S)[1].split())
    assert running.returncode != 0
    assert "tare: waiting" in said and "ranks 2 of 4 on 1 host, 2 killed, 2 missing" in said
    assert job.sentence() in said
    info = job.read("info")
    assert {row["rank"]: row["calls"] for row in info["ranks"]} == {0: 3, 1: 3}
    assert [row["function"] for row in job.where(job.here) if row["rank"] < 2] == ["MPI_Barrier", "MPI_Recv"]
    # Who looks there is not sent there again.
    lost = "ranks 2-3 of 4 are missing: nothing of them is left on node1: its /dev/shm was emptied"
    assert lost in words(job.do(job.there, "recover"))
    assert lost in words(job.do(job.here, "recover", "--launch", f"{job.hosts.launcher} {{host}}"))
    assert job.sentence() in words(job.do(job.here, "recover")), "here, nobody has looked there"
