"""Ranks that were killed on a host without `tare run`: who misses them, and what brings them back."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c, mpich4, openmpi4
from hosts import NETWORK, Host, Hosts, several_hosts
from measured import PROGRAMS
from tare.page import content
from tare.runs.run import open_run

PATIENCE_S = 90
RANKS = 4  # two on each host
MPIS = [mpich4(), openmpi4()]


@dataclass(frozen=True)
class Job:
    """A job over two hosts of which all ranks are killed; `tare run` is on the first host."""

    tare: Path
    mpi: MpiEnvironment
    hosts: Hosts
    program: Path
    run: Path

    @property
    def here(self) -> Host:
        return self.hosts.hosts[0]

    @property
    def there(self) -> Host:
        return self.hosts.hosts[1]

    def command(self, *options: str, on: tuple[int, int] = (2, 2)) -> list[str]:
        hosts = ",".join(
            f"{host.name}:{count}" for host, count in zip(self.hosts.hosts, on, strict=True) if count
        )
        launcher: list[object] = ["-launcher", "ssh", "-launcher-exec", self.hosts.launcher, "-hosts", hosts]
        if self.mpi.family == "openmpi":
            launcher = ["--mca", "plm_rsh_agent", self.hosts.launcher, "--host", hosts]
            for network in ("btl_tcp", "oob_tcp"):
                launcher += ["--mca", f"{network}_if_include", NETWORK]
        argv = [*self.mpi.mpiexec, *launcher, "-n", sum(on), self.program, "receive"]
        return self.here.command([self.tare, "run", *options, "-o", self.run, "--", *argv])

    def ranks(self, host: Host) -> list[int]:
        return [pid for pid in self.hosts.processes(host) if _program_of(pid) == str(self.program)]

    def start(self, command: list[str]) -> subprocess.Popen[str]:
        job = subprocess.Popen(
            command, env=self.mpi.environ(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        until = time.monotonic() + PATIENCE_S
        while not self.hang():
            assert job.poll() is None and time.monotonic() < until, job.communicate()[1]
            time.sleep(0.1)
        return job

    def hang(self) -> bool:
        """Whether each rank has been in its barrier or receive for a while, as its host sees it."""
        rows = [row for host in self.hosts.hosts for row in self.where(host)]
        inside = [row for row in rows if row["state"] == "running" and (row["for_ns"] or 0) > 3e8]
        return len({row["rank"] for row in inside if row["function"] in ("MPI_Barrier", "MPI_Recv")}) == RANKS

    def where(self, host: Host) -> list[dict[str, Any]]:
        done = self.do(host, "where", "--json", check=False)
        return json.loads(done.stdout)["rows"] if done.returncode == 0 else []

    def kill(self, *others: int) -> None:
        """What `others` are first, then all ranks, before any can act on the death of another."""
        pids = [*others, *(pid for host in self.hosts.hosts for pid in self.ranks(host))]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                with suppress(ProcessLookupError):  # the launcher has killed it by now
                    os.kill(pid, number)

    def do(
        self, host: Host, verb: str, *options: object, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            host.command([self.tare, verb, self.run, *options]),
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def read(self, verb: str, *options: str) -> Any:
        return json.loads(self.do(self.here, verb, "--json", *options).stdout)

    def sentence(self, ranks: str = "2-3", host: str = "node1") -> str:
        return (
            f"ranks {ranks} of 4 are missing: no results have come from {host}; "
            f"`tare recover {self.run}` there takes what is left"
        )


def _program_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode()
    except OSError:
        return ""


def words(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join((done.stdout + done.stderr).split())


@pytest.fixture(params=MPIS, ids=lambda env: env.name)
def job(request: pytest.FixtureRequest, tare: Path, tmp_path: Path) -> Iterator[Job]:
    mpi: MpiEnvironment = request.param
    if lacking := mpi.missing():
        pytest.fail(f"not on this machine: {lacking}")
    program = compile_c(mpi, [PROGRAMS / "waiting.c"], tmp_path / "waiting")
    with several_hosts(2, tmp_path) as hosts:
        yield Job(tare, mpi, hosts, program, tmp_path / "run")


@pytest.mark.parametrize("options", [(), ("--trace",)], ids=["profile", "trace"])
def test_all_say_who_is_missing_until_the_other_host_is_recovered(job: Job, options: tuple[str, ...]) -> None:
    running = job.start(job.command(*options))
    told = words(job.do(job.here, "info"))
    assert "ranks 2 of 4 on 1 host, 2 running, 2 missing" in told
    assert "ranks 2-3 of 4 are missing: what ranks record on node1 is read there" in told
    job.kill()
    said = " ".join(running.communicate(timeout=PATIENCE_S)[1].split())
    assert job.sentence() in said
    assert "ranks 2 of 4 on 1 host, 2 killed, 2 missing" in said
    assert "Cost of measuring (2 of 4 ranks)" in said
    assert "(2 of 4 ranks)" in said and "(all ranks)" not in said
    for verb, more in (("info", ()), ("profile", ()), ("explain", ()), ("sql", ("SELECT * FROM ranks",))):
        assert job.sentence() in words(job.do(job.here, verb, *more)), verb
    assert "2 of 4 ranks, net time" in words(job.do(job.here, "profile"))
    row = {"world": 0, "size": 4, "ranks": [[2, 3]], "host": "node1"}
    assert job.read("info")["missing"] == [row]
    for verb in ("info", "explain"):
        assert job.sentence() in job.read(verb)["warnings"], verb
    (found,) = job.read("profile")["efficiency"]
    assert (found["ranks"], found["size"]) == (2, 4)
    export = job.do(job.here, "sql", "SELECT * FROM missing", "--csv").stdout
    assert list(csv.reader(io.StringIO(export)))[1] == ["0", "2", "3", "4", "node1"]
    assert job.sentence() in words(job.do(job.here, "report", "-o", job.run.parent / "page.html"))
    overview = content.of_run(open_run(job.run))["overview"]
    assert overview["missing"] == 2 and job.sentence() in overview["notes"]

    # Where they are not, nothing changes, and it says where they are.
    assert job.sentence() in words(job.do(job.here, "recover"))
    recovered = words(job.do(job.there, "recover"))
    assert "took over 2 processes" in recovered and "are missing" not in recovered
    for verb in ("info", "profile", "explain"):
        assert "are missing" not in words(job.do(job.here, verb)), verb
    info = job.read("info")
    assert [row["rank"] for row in info["ranks"]] == list(range(RANKS))
    assert info["missing"] == [] and info["hosts"] == ["node0", "node1"]
    assert "(all ranks)" in words(job.do(job.here, "info"))
    assert job.read("profile")["efficiency"][0]["ranks"] == RANKS
    calls = {row["rank"]: row["calls"] for row in info["ranks"]}
    assert calls == dict.fromkeys(range(RANKS), 3), "each rank is there once, with its calls"


def test_a_job_that_dies_with_tare_run_itself(job: Job) -> None:
    """Nobody has written how it ended, as at the end of a batch job."""
    running = job.start(job.command("-q"))
    job.kill(json.loads((job.run / "meta.json").read_text("utf-8"))["runner"]["pid"])
    running.communicate(timeout=PATIENCE_S)
    # The segments of the first host can still be read there, but on no other.
    assert job.sentence() in words(job.do(job.here, "info"))
    assert "ranks 0-1 of 4 are missing" in words(job.do(job.there, "info"))
    assert job.sentence() in words(job.do(job.here, "recover"))
    assert "are missing" not in words(job.do(job.there, "profile"))
    assert job.sentence() in words(job.do(job.here, "profile"))
    assert "are missing" not in words(job.do(job.there, "recover"))
    assert [row["rank"] for row in job.read("info")["ranks"]] == list(range(RANKS))


def test_all_ranks_are_elsewhere(job: Job) -> None:
    """It is not said that nobody has called MPI, on a login node, which has no rank."""
    running = job.start(job.command(on=(0, 4)))
    job.kill()
    said = " ".join(running.communicate(timeout=PATIENCE_S)[1].split())
    assert job.sentence("0-3") in said
    assert "no process" not in said
    assert "4 missing" in said
    for verb in ("info", "profile", "explain"):
        told = words(job.do(job.here, verb, check=False))
        assert job.sentence("0-3") in told and "no process" not in told, verb
    job.do(job.there, "recover")
    assert [row["rank"] for row in job.read("info")["ranks"]] == list(range(RANKS))


def test_what_a_killed_rank_has_flushed_is_not_all_of_it(job: Job) -> None:
    """Its trace is in the run directory as far as it was written before the kill; its profile is not."""
    program = compile_c(job.mpi, [PROGRAMS / "killed.c"], job.program.parent / "killed")
    forever = [str(program), "forever", str(job.run.parent / "calls")]
    running = replace(job, program=program)
    begun = subprocess.Popen(
        [*running.command("-q", "--trace", "--buffer", "64K")[:-2], *forever],
        env=job.mpi.environ(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    written = job.run / "node1.tare"
    until = time.monotonic() + PATIENCE_S
    while not written.exists() or written.stat().st_size < 200_000:
        assert begun.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    running.kill()
    begun.communicate(timeout=PATIENCE_S)
    info = job.read("info")
    (missing,) = info["missing"]
    assert missing == {"world": 0, "size": 4, "ranks": [[2, 3]], "host": "node1"}
    partial = [row for row in info["ranks"] if not row["has_results"]]
    assert partial and {row["rank"] for row in partial} <= {2, 3}
    for row in partial:
        assert row["state"] == "unknown" and row["trace"]["records"] > 0 and row["calls"] == 0
    told = words(job.do(job.here, "info"))
    assert job.sentence() in told and "2 of 4 ranks" in told
    assert re.search(r"MPI share min [\d.]+ % \(rank [01]\), mean [\d.]+ %, max [\d.]+ % \(rank [01]\)", told)
    assert job.read("profile")["efficiency"][0]["ranks"] == 2
    before = {row["rank"]: row["trace"]["records"] for row in partial}
    job.do(job.there, "recover")
    info = job.read("info")
    assert info["missing"] == [] and all(row["has_results"] for row in info["ranks"])
    for row in info["ranks"]:
        assert row["state"] == "killed" and row["trace"]["records"] >= before.get(row["rank"], 1)
        assert row["calls"] > row["trace"]["records"] / 2
