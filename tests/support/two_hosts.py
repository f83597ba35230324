"""A job over two hosts of this machine (hosts.py), with `tare run` on the first one. A third may look on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c, mpich4, openmpi4
from hosts import NETWORK, Host, Hosts, several_hosts
from measured import PROGRAMS
from unfinished import yield_to_others

PATIENCE_S = 150
RANKS = 4  # two on each host
WAITING = ("MPI_Barrier", "MPI_Recv", "MPI_Send")
MPIS = [mpich4(), openmpi4()]


@dataclass(frozen=True)
class Job:
    """Its ranks wait for one another forever. `tare run` is on the first host."""

    tare: Path
    mpi: MpiEnvironment
    hosts: Hosts
    program: Path
    run: Path
    way: str = "receive"  # in which they wait (programs/waiting.c)

    @property
    def here(self) -> Host:
        return self.hosts.hosts[0]

    @property
    def there(self) -> Host:
        return self.hosts.hosts[1]

    def command(self, *options: str, on: tuple[int, int] = (2, 2)) -> list[str]:
        hosts = ",".join(
            f"{host.name}:{count}"
            for host, count in zip(self.hosts.hosts[: len(on)], on, strict=True)
            if count
        )
        argv = [*self.mpi.mpiexec, *self.launcher(hosts), "-n", sum(on), self.program, self.way]
        return self.here.command([self.tare, "run", *options, "-o", self.run, "--", *argv])

    def launcher(self, hosts: str) -> list[object]:
        """The options with which the launcher starts processes on `hosts`."""
        if self.mpi.family != "openmpi":
            return ["-launcher", "ssh", "-launcher-exec", self.hosts.launcher, "-hosts", hosts]
        options: list[object] = ["--mca", "plm_rsh_agent", self.hosts.launcher, "--host", hosts]
        for network in ("btl_tcp", "oob_tcp"):
            options += ["--mca", f"{network}_if_include", NETWORK]
        return options

    def ranks(self, host: Host) -> list[int]:
        return [pid for pid in self.hosts.processes(host) if _program_of(pid) == str(self.program)]

    def start(self, command: list[str]) -> subprocess.Popen[str]:
        job = subprocess.Popen(
            command, env=self.mpi.environ(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        until = time.monotonic() + PATIENCE_S
        while not self.hang():
            assert job.poll() is None, job.communicate()[1]
            assert time.monotonic() < until, "they do not all wait"
            time.sleep(0.1)
        return job

    def hang(self) -> bool:
        """Whether each rank has been in its barrier or receive for a while, as its host sees it.

        Nobody is asked before all ranks record: `tare where` waits for the answer of those that are to come.
        """
        if sum(len(self.recording(host)) for host in self.hosts.hosts) < RANKS:
            return False
        for host in self.hosts.hosts:
            yield_to_others(self.ranks(host))
        rows = [row for host in self.hosts.hosts for row in self.where(host)]
        inside = [row for row in rows if row["state"] == "running" and (row["for_ns"] or 0) > 3e8]
        return len({row["rank"] for row in inside if row["function"] in WAITING}) == RANKS

    def where(self, host: Host) -> list[dict[str, Any]]:
        done = self.do(host, "where", "--json", check=False)
        assert ".keeping" not in done.stderr
        return json.loads(done.stdout)["rows"] if done.returncode == 0 else []

    def keepers(self, host: Host) -> list[int]:
        return [pid for pid in self.hosts.processes(host) if _program_of(pid).endswith("/keeper")]

    def segments(self, host: Host) -> str:
        """What of tare lies in the shared memory of the host."""
        listed = subprocess.run(
            host.command(["find", "/dev/shm", "-name", "tare-*"]), capture_output=True, text=True, check=True
        )
        return listed.stdout

    def recording(self, host: Host) -> list[str]:
        """The segments of processes there."""
        return [name for name in self.segments(host).split() if name.count("-") > 2]

    def kill(self, *others: int) -> None:
        """What `others` are first, then all ranks, before any can act on the death of another."""
        pids = [*others, *(pid for host in self.hosts.hosts for pid in self.ranks(host))]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                with suppress(ProcessLookupError):  # the launcher has killed it by now
                    os.kill(pid, number)

    def kill_with_keepers(self, *others: int) -> None:
        """A batch system kills all that a job has started."""
        self.kill(*others, *(pid for host in self.hosts.hosts for pid in self.keepers(host)))

    def do(
        self, host: Host, verb: str, *options: object, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            host.command([self.tare, verb, self.run, *options]), env=self.mpi.environ(),
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def read(self, verb: str, *options: str) -> Any:
        return json.loads(self.do(self.here, verb, "--json", *options).stdout)

    def sentence(self, ranks: str = "2-3", host: str = "node1") -> str:
        return (
            f"ranks {ranks} of 4 are missing: their results have not come from {host}; "
            f"`tare recover {self.run}` there takes what is left, or from here "
            f"`tare recover {self.run} --launch 'ssh {{host}}'`"
        )


def _program_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode()
    except OSError:
        return ""


def words(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join((done.stdout + done.stderr).split())


@contextmanager
def job_of(
    mpi: MpiEnvironment, tare: Path, folder: Path, *, count: int = 2, way: str = "receive"
) -> Iterator[Job]:
    if lacking := mpi.missing():
        pytest.fail(f"not on this machine: {lacking}")
    program = compile_c(mpi, [PROGRAMS / "waiting.c"], folder / "waiting")
    with several_hosts(count, folder) as hosts:
        yield Job(tare, mpi, hosts, program, folder / "run", way)
