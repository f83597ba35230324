"""`tare top` of a job over several hosts, from one of them that has no rank, as a login node."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest
from environments import mpich4
from hosts import NETWORK
from two_hosts import PATIENCE_S, RANKS, job_of, words

pytestmark = pytest.mark.long  # it waits for what hosts do each few seconds


def test_a_host_without_ranks_sees_the_rounds_of_all(tare: Path, tmp_path: Path) -> None:
    with job_of(mpich4(), tare, tmp_path, count=3, way="slow") as job:
        command = job.command("-q", f"--monitor=100ms,listen={NETWORK}")
        looks_on = job.hosts.hosts[2]
        running = subprocess.Popen(
            command, env=job.mpi.environ(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        until = time.monotonic() + PATIENCE_S
        while True:
            seen = job.do(looks_on, "top", "--json", check=False)
            found = json.loads(seen.stdout) if seen.returncode == 0 else {}
            if found.get("ranks") == RANKS and found["rounds"] > 3:
                break
            assert running.poll() is None and time.monotonic() < until, seen.stderr
            time.sleep(0.1)
        assert found["going_on"] and found["lost_ranks"] is None
        assert {"MPI_Bcast", "MPI_Sendrecv_replace"} <= {row["event"] for row in found["rows"]}
        told = words(job.do(looks_on, "top", "--once"))
        assert "has ended" not in told and "4 ranks" in told and "MPI_Bcast" in told
