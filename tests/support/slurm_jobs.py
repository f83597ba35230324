"""Jobs of Slurm over two nodes of this machine, and what is run on them (`make test-slurm`).

Processes are killed in two ways: "linuxproc" finds those that descend from a task, "cgroup" all. Tests of the
latter share the control groups of the machine, so one runs at a time.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c
from hosts import Host, Hosts, processor_of_first_namespaces, several_hosts
from measured import PROGRAMS
from patience import wait_until
from slurm import cluster

PATIENCE_S = 120
RANKS = 4  # two on each node
KILL_WAIT_S = 5
HUNG = dict.fromkeys(range(RANKS), 3)  # calls of `waiting receive`


@dataclass(frozen=True)
class Cluster:
    """Two nodes, and what is run on them."""

    tare: Path
    mpi: MpiEnvironment
    hosts: Hosts
    variables: dict[str, str]
    proctrack: str
    folder: Path
    mpi_type: str = "pmi2"

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
        wait_until(lambda: not self.states(job) & {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING"})
        return self.states(job)

    def start_again(self, job: int) -> None:
        """A requeued job, for which Slurm would wait for two minutes.

        A slurmd refuses what begins within the second in which it killed the job.
        """
        wait_until(lambda: self.states(job) == {"PENDING"})
        self.do("scontrol", "update", f"JobId={job}", "StartTime=now+2")

    def srun(self, program: Path, *arguments: str) -> str:
        return f"srun --mpi={self.mpi_type} {program} {' '.join(arguments)}"

    def program(self, name: str) -> Path:
        return compile_c(self.mpi, [PROGRAMS / f"{name}.c"], self.folder / name)

    def read(self, run: Path, verb: str, host: int = 0) -> Any:
        return json.loads(self.do(self.tare, verb, "--json", run, host=host).stdout)

    def inside(self, run: Path) -> set[int]:
        """The ranks that are in a barrier or a receive, as the second node sees them."""
        seen = self.do(self.tare, "where", "--json", run, host=1, check=False)
        rows: list[dict[str, Any]] = json.loads(seen.stdout)["rows"] if seen.returncode == 0 else []
        return {row["rank"] for row in rows if row["function"] in ("MPI_Barrier", "MPI_Recv")}


def left(host: Host) -> str:
    listed = host.command(["find", "/dev/shm", "-name", "tare-*"])
    return subprocess.run(listed, capture_output=True, text=True, check=True).stdout


@contextmanager
def slurm_of(
    mpi: MpiEnvironment,
    tare: Path,
    folder: Path,
    *,
    proctrack: str,
    mpi_type: str = "pmi2",
    more: str = "",
    mounts: str = "true",
) -> Iterator[Cluster]:
    """Slurm on two nodes, with two ranks on each.

    `more`: more of its configuration. `mounts`: a command of a shell on each node, before Slurm starts.
    """
    if missing := mpi.missing():
        pytest.fail(f"not on this machine: {missing}")
    with several_hosts(2, folder, processor_of_first_namespaces()) as hosts:
        for host in hosts.hosts:
            subprocess.run(host.command(["sh", "-c", mounts]), check=True)
        with cluster(
            hosts, folder, ranks_per_host=2, proctrack=proctrack, kill_wait_s=KILL_WAIT_S, more=more
        ) as found:
            yield Cluster(tare, mpi, hosts, found, proctrack, folder, mpi_type)


def assert_all_or_told(slurm: Cluster, run: Path, calls: dict[int, int]) -> None:
    """Either nothing is missing, or it is told what is, and one command brings it back."""
    told = slurm.do(slurm.tare, "info", run)
    missing = re.compile(r"\b(is|are) missing: ")  # one rank, where its keeper was killed between two
    if missing.search(said := " ".join((told.stdout + told.stderr).split())):
        assert slurm.proctrack == "cgroup", "nobody has killed the keeper"
        (command,) = re.findall(r"or from here `tare (recover .*?--launch '.*?')`", said)
        assert "srun -w {hosts} --ntasks-per-node=1" in command
        launch = ["--launch", "srun -w {hosts} --ntasks-per-node=1"]
        recovered = slurm.do(slurm.tare, "recover", run, *launch)
        assert not missing.search(" ".join(recovered.stdout.split()))
    info = slurm.read(run, "info")
    assert info["missing"] == []
    assert {row["rank"]: row["calls"] for row in info["ranks"]} == calls
    if slurm.proctrack != "cgroup":  # the keeper was left to do all its work
        wait_until(lambda: left(slurm.hosts.hosts[0]) + left(slurm.hosts.hosts[1]) == "")
