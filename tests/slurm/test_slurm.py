"""Jobs of Slurm over two nodes of this machine: `make test-slurm`. A time limit is at least a minute long.

Processes are killed in two ways: "linuxproc" finds those that descend from a task, "cgroup" all. Tests of the
latter share the control groups of the machine, so one runs at a time.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c, mpich4
from hosts import Host, Hosts, several_hosts
from measured import PROGRAMS
from slurm import cluster

PATIENCE_S = 120
RANKS = 4  # two on each node
KILL_WAIT_S = 5


@dataclass(frozen=True)
class Cluster:
    """Two nodes, and what is run on them."""

    tare: Path
    mpi: MpiEnvironment
    hosts: Hosts
    variables: dict[str, str]
    proctrack: str
    folder: Path

    def do(self, *command: object, host: int = 0, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.hosts.hosts[host].command(command), env=self.mpi.environ(**self.variables),
            capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=self.folder,
        )  # fmt: skip
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def submit(self, script: str, *options: str) -> int:
        """A batch job of this script, which runs on both nodes; its id."""
        file = self.folder / "job.sh"
        file.write_text(f"#!/bin/sh\n{script}\n")
        out = self.folder / "job-%j.out"
        submitted = self.do(
            "sbatch",
            "--parsable",
            "-N2",
            "--ntasks-per-node=2",
            "-o",
            out,
            "--open-mode=append",
            *options,
            file,
        )
        return int(submitted.stdout)

    def states(self, job: int) -> set[str]:
        """The states of the job and of those of its array; none if Slurm has forgotten it."""
        shown = self.do("scontrol", "show", "job", job, "-o", check=False).stdout
        return set(re.findall(r"JobState=(\w+)", shown))

    def wait_for_end(self, job: int) -> set[str]:
        wait_for(lambda: not self.states(job) & {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING"})
        return self.states(job)

    def srun(self, program: Path, *arguments: str) -> str:
        return f"srun --mpi=pmi2 {program} {' '.join(arguments)}"

    def program(self, name: str) -> Path:
        return compile_c(self.mpi, [PROGRAMS / f"{name}.c"], self.folder / name)

    def read(self, run: Path, verb: str, host: int = 0) -> Any:
        return json.loads(self.do(self.tare, verb, "--json", run, host=host).stdout)

    def inside(self, run: Path) -> set[int]:
        """The ranks that are in a barrier or a receive, as each node sees its own."""
        rows: list[dict[str, Any]] = []
        for host in range(2):
            seen = self.do(self.tare, "where", "--json", run, host=host, check=False)
            rows += json.loads(seen.stdout)["rows"] if seen.returncode == 0 else []
        return {row["rank"] for row in rows if row["function"] in ("MPI_Barrier", "MPI_Recv")}


def wait_for(what: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < until
        time.sleep(0.1)


def left(host: Host) -> str:
    listed = host.command(["find", "/dev/shm", "-name", "tare-*"])
    return subprocess.run(listed, capture_output=True, text=True, check=True).stdout


@pytest.fixture(params=["linuxproc", "cgroup"])
def slurm(request: pytest.FixtureRequest, tare: Path, tmp_path: Path) -> Iterator[Cluster]:
    mpi = mpich4()
    if missing := mpi.missing():
        pytest.fail(f"not on this machine: {missing}")
    with (
        several_hosts(2, tmp_path) as hosts,
        cluster(hosts, tmp_path, ranks_per_host=2, proctrack=request.param, kill_wait_s=KILL_WAIT_S) as found,
    ):
        yield Cluster(tare, mpi, hosts, found, request.param, tmp_path)


def assert_all_or_told(slurm: Cluster, run: Path, calls: dict[int, int]) -> None:
    """Either nothing is missing, or it is told what is, and one command brings it back."""
    told = slurm.do(slurm.tare, "info", run)
    if "are missing" in (said := " ".join((told.stdout + told.stderr).split())):
        assert slurm.proctrack == "cgroup", "nobody has killed the keeper"
        (command,) = re.findall(r"or from here `tare (recover .*?--launch '.*?')`", said)
        assert "srun -w {hosts} --ntasks-per-node=1" in command
        launch = ["--launch", "srun -w {hosts} --ntasks-per-node=1"]
        recovered = slurm.do(slurm.tare, "recover", run, *launch)
        assert "are missing" not in " ".join(recovered.stdout.split())
    info = slurm.read(run, "info")
    assert info["missing"] == []
    assert {row["rank"]: row["calls"] for row in info["ranks"]} == calls
    if slurm.proctrack != "cgroup":  # the keeper was left to do all its work
        wait_for(lambda: left(slurm.hosts.hosts[0]) + left(slurm.hosts.hosts[1]) == "")


QUERY = "SELECT count(*) AS n FROM events WHERE function = 'MPI_Sendrecv'"
HUNG = dict.fromkeys(range(RANKS), 3)  # calls of `waiting receive`


def test_srun_and_sbatch_record_all_nodes(slurm: Cluster) -> None:
    ring = slurm.program("ring")
    run = slurm.folder / "run"
    command = slurm.srun(ring, "20", str(slurm.folder / "begun"))
    measured = f"{slurm.tare} run --trace -o {slurm.folder}/%x-%j-%r -- {command}"
    job = slurm.submit(measured, "-J", "ring")
    assert slurm.wait_for_end(job) == {"COMPLETED"}
    slurm.do(
        slurm.tare, "run", "--trace", "-o", run, "--", *f"srun -n4 -N2 --mpi=pmi2 {ring} 20 begun".split()
    )
    for each in (slurm.folder / f"ring-{job}-0", run):
        info = slurm.read(each, "info")
        assert info["hosts"] == ["node0", "node1"] and info["missing"] == []
        assert {row["state"] for row in info["ranks"]} == {"finished"}
        for host in range(2):
            efficiency = slurm.read(each, "profile", host)["efficiency"][0]
            assert (efficiency["ranks"], efficiency["size"]) == (RANKS, RANKS)
        sends = slurm.do(
            slurm.tare, "sql", each, QUERY, "--csv"
        )  # fmt: skip
        assert sends.stdout.split()[1] == str(20 * RANKS)


def test_cancelled(slurm: Cluster) -> None:
    run = slurm.folder / "run"
    command = slurm.srun(slurm.program("waiting"), "receive")
    job = slurm.submit(f"{slurm.tare} run --trace -o {run} -- {command}")
    wait_for(lambda: slurm.inside(run) == set(range(RANKS)))
    slurm.do("scancel", job)
    assert slurm.wait_for_end(job) == {"CANCELLED"}
    assert_all_or_told(slurm, run, HUNG)


def test_the_time_limit_kills_ranks_that_ignore_sigterm(slurm: Cluster) -> None:
    """SIGTERM to all, and KillWait later SIGKILL to all, `tare run` among them."""
    run = slurm.folder / "run"
    command = f"srun --mpi=pmi2 env --ignore-signal=TERM {slurm.program('waiting')} receive"
    job = slurm.submit(f"{slurm.tare} run -o {run} -- {command}", "--time=1")
    assert slurm.wait_for_end(job) == {"TIMEOUT"}
    if slurm.proctrack == "cgroup":  # the keeper was killed with the ranks, and nothing told it before
        told = slurm.do(slurm.tare, "info", run)
        assert "ranks 2-3 of 4 are missing: no results have come from node1" in " ".join(told.stdout.split())
    else:
        slurm.do(slurm.tare, "recover", run)
    assert_all_or_told(slurm, run, HUNG)


def test_a_requeued_job_runs_into_a_new_directory(slurm: Cluster) -> None:
    waiting = slurm.program("waiting")
    command = slurm.srun(waiting, "receive")
    job = slurm.submit(f"exec {slurm.tare} run -o {slurm.folder}/run-%j-%r -- {command}", "--requeue")
    first = slurm.folder / f"run-{job}-0"
    wait_for(lambda: slurm.inside(first) == set(range(RANKS)))
    slurm.do("scontrol", "requeue", job)
    wait_for(lambda: slurm.states(job) == {"PENDING"})
    # Slurm waits for two minutes before it starts it again.
    slurm.do("scontrol", "update", f"JobId={job}", "StartTime=now")
    second = slurm.folder / f"run-{job}-1"
    wait_for(lambda: slurm.inside(second) == set(range(RANKS)))
    slurm.do("scancel", job)
    assert slurm.wait_for_end(job) == {"CANCELLED"}
    for run in (first, second):
        slurm.do(slurm.tare, "recover", run)
        assert_all_or_told(slurm, run, HUNG)


def test_jobs_of_an_array_have_a_directory_each(slurm: Cluster) -> None:
    begun = slurm.folder / "begun"
    command = slurm.srun(slurm.program("ring"), "5", str(begun))
    job = slurm.submit(f"{slurm.tare} run -o {slurm.folder}/run-%A-%a -- {command}", "--array=3-4")
    assert slurm.wait_for_end(job) == {"COMPLETED"}
    for index in (3, 4):
        info = slurm.read(slurm.folder / f"run-{job}-{index}", "info")
        assert [row["rank"] for row in info["ranks"]] == list(range(RANKS)) and info["missing"] == []
