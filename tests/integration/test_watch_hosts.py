"""`tare watch` of a job over several hosts, from each of them: one without ranks, too, as a login node."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, mpich4
from hosts import NETWORK, Host
from measured import compile_monitored
from patience import wait_until
from test_monitor import live
from two_hosts import MPIS, PATIENCE_S, RANKS, Job, job_of

pytestmark = pytest.mark.long  # it waits for what hosts do each few seconds

ON = (1, 3)  # ranks on the first host and on the second; the third has none
GET = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())"


@contextmanager
def monitored(mpi: MpiEnvironment, tare: Path, folder: Path, way: str, spec: str) -> Iterator[Job]:
    """A job that runs, of programs/monitored.c."""
    with job_of(mpi, tare, folder, count=3, way=way) as made:
        program = compile_monitored(mpi, folder)
        job = replace(made, program=program)
        command = job.command("-q", f"--monitor={spec},listen={NETWORK}", on=ON)
        with subprocess.Popen(
            command, env=mpi.environ(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as running:
            try:
                wait_until(lambda: sum(len(job.ranks(host)) for host in job.hosts.hosts) == RANKS)
                yield job
            finally:
                running.kill()
                job.kill()


class Watch:
    """`tare watch` on one host, with its metrics."""

    def __init__(self, job: Job, host: Host, condition: str) -> None:
        self._host = host
        command = [job.tare, "watch", job.run, "--alert", condition, "--prometheus", "0", "--json"]
        self.process = subprocess.Popen(
            host.command(command),
            env=job.mpi.environ(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr is not None
        self._url = self.process.stderr.readline().strip()
        assert self._url.startswith("http://127.0.0.1:"), self._url

    def alert(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def metric(self, name: str) -> float:
        done = subprocess.run(
            self._host.command([sys.executable, "-c", GET, self._url]),
            capture_output=True,
            text=True,
            check=True,
        )
        (value,) = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(f"{name} ")]
        return float(value)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def watched(job: Job, condition: str) -> Iterator[dict[str, Watch]]:
    """The watches of all hosts, by their names."""
    with ExitStack() as opened:
        found = {}
        for host in job.hosts.hosts:
            found[host.name] = Watch(job, host, condition)
            opened.callback(found[host.name].close)
        yield found


@pytest.mark.timeout(PATIENCE_S * 2)
@pytest.mark.parametrize("mpi", MPIS, ids=lambda env: env.name)
def test_each_host_is_told_of_a_rank_that_hangs(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    with monitored(mpi, tare, tmp_path, "hang", "points,policy=nonblock") as job:
        wait_until(lambda: any(str(made.lost) == "1" for made in live(job.run)))
        with watched(job, "hang:2s") as watches:
            for name, watch in watches.items():
                alert = watch.alert()
                assert (alert["alert"], alert["ranks"]) == ("hang", "1"), name
                assert "nothing comes from rank 1 for" in alert["message"], name
                assert "rank 1 has been outside MPI for" in alert["message"], name
                assert "after MPI_Barrier (" in alert["message"] and "monitored.c:" in alert["message"], name
                assert (watch.metric("tare_ranks"), watch.metric("tare_ranks_missing")) == (RANKS - 1, 1), (
                    name
                )


@pytest.mark.timeout(PATIENCE_S * 2)
def test_each_host_is_told_of_a_deadlock(tare: Path, tmp_path: Path) -> None:
    with monitored(mpich4(), tare, tmp_path, "deadlock", "points,policy=nonblock") as job:
        wait_until(lambda: len(live(job.run)) > 0)
        with watched(job, "hang") as watches:
            for name, watch in watches.items():
                alert = watch.alert()
                assert (alert["alert"], alert["ranks"]) == ("hang", "0-3"), name
                assert "deadlock: ranks 0-3 wait for one another" in alert["message"], name


@pytest.mark.timeout(PATIENCE_S * 2)
def test_each_host_is_told_of_what_hangs_before_any_round(tare: Path, tmp_path: Path) -> None:
    with job_of(mpich4(), tare, tmp_path, count=3, way="crossed") as job:
        job.start(job.command("-q", f"--monitor=60s,listen={NETWORK}"))
        assert not live(job.run)
        with watched(job, "hang") as watches:
            for name, watch in watches.items():
                assert "deadlock: ranks 0-3 wait for one another" in watch.alert()["message"], name
