"""Ranks in containers with a PID namespace, or a /dev/shm, of their own, and the host name of `tare run`."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from environments import MpiEnvironment, compile_c
from measured import PROGRAMS, Measurement, left_in_memory, measure
from on_mpi import both_debian
from patience import wait_until
from tare.runs.rounds import RoundFile
from unfinished import where
from verbs import ask

RANKS = 2
TIMEOUT_S = 60
# Launchers and their shared memory differ, so one of each family.
pytestmark = both_debian

# Both are of one process each, so that MPI cannot use shared memory.
WITHOUT_SHARED_MEMORY = {"OMPI_MCA_btl": "tcp,self", "MPIR_CVAR_NOLOCAL": "1"}
OWN_PIDS = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
CONTAINERS = {
    "first process": OWN_PIDS,
    "later process": [*OWN_PIDS, "sh", "-c", '"$@"; exit $?', "sh"],
}
# A run directory on an overlay, where nothing can hold a mark, and no other memory for segments.
OVERLAY = [
    "unshare", "--mount", "sh", "-c",
    """mount -t tmpfs tmpfs "$0" && mkdir "$0/low" "$0/up" "$0/work" "$0/runs" &&
    mount -t overlay -o "lowerdir=$0/low,upperdir=$0/up,workdir=$0/work" overlay "$0/runs" &&
    mount -t tmpfs -o ro tmpfs /dev/shm && exec "$@" """,
]  # fmt: skip
OWN_MEMORY = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs /dev/shm && exec "$@"', "sh"]

OF_RANK_1 = f"""
case "${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}" in
1) exec {shlex.join(OWN_MEMORY)} "$@" ;;
esac
exec "$@"
"""


@pytest.fixture
def gate(mpi: MpiEnvironment, tmp_path: Path) -> Path:
    return compile_c(mpi, [PROGRAMS / "gate.c"], tmp_path / "gate")


@dataclass
class Run:
    """A run of gate.c that goes on."""

    tare: Path
    directory: Path
    process: subprocess.Popen[str]
    program: Path

    def open_gate(self) -> None:
        (self.directory.parent / "open").touch()

    def ranks(self) -> list[int]:
        """Their processes, by the numbers that they have here."""
        found = []
        for exe in Path("/proc").glob("[0-9]*/exe"):
            with suppress(OSError):
                if exe.readlink() == self.program:
                    found.append(int(exe.parent.name))
        return found

    def end(self) -> str:
        """What `tare run` says at its end."""
        said = self.process.communicate(timeout=TIMEOUT_S)[1]
        return str(said)

    def measurement(self) -> Measurement:
        return Measurement(self.tare, self.directory, subprocess.CompletedProcess([], 0))

    def states(self) -> dict[int, str]:
        return {row["rank"]: row["state"] for row in self.measurement().info()["ranks"]}

    def kill_ranks(self) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while (ranks := self.ranks()) and time.monotonic() < deadline:
            for rank in ranks:
                with suppress(ProcessLookupError):
                    os.kill(rank, signal.SIGKILL)


@contextmanager
def going_on(
    tare: Path, mpi: MpiEnvironment, container: Sequence[str], program: Path, *options: str
) -> Iterator[Run]:
    """The run goes on until the end of the block, when all of it is killed."""
    folder = program.parent
    launch = [*mpi.mpiexec, "-n", str(RANKS), *container, str(program), str(folder / "open")]
    process = subprocess.Popen(
        [tare, "run", *options, "-o", folder / "run", "--", *launch],
        env=mpi.environ(**WITHOUT_SHARED_MEMORY),
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    run = Run(tare, folder / "run", process, program)
    try:
        yield run
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=TIMEOUT_S)
        run.kill_ranks()


def settled(run: Run) -> dict[str, Any]:
    """What `tare where` says when rank 0 is behind the first barrier, and rank 1 in the second."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        if (run.directory / "meta.json").exists():
            found = where(run.tare, run.directory)
            rows = {row["rank"]: row for row in found["rows"] if row["function"] == "MPI_Barrier"}
            if len(rows) == RANKS and not rows[0]["inside"] and rows[1]["inside"]:
                return found
        time.sleep(0.1)
    raise AssertionError(f"the ranks did not come to where they wait: {run.process.poll()}")


def is_at_the_gate(run: Run) -> bool:
    """Whether rank 0, which alone is seen, is behind the first barrier."""
    rows = where(run.tare, run.directory)["rows"] if (run.directory / "meta.json").exists() else []
    return any(row["function"] == "MPI_Barrier" and not row["inside"] for row in rows)


def text_of(tare: Path, *verb: Path | str) -> str:
    done = ask(tare, *verb)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("container", CONTAINERS)
def test_ranks_that_run_are_seen_to_run(
    container: str, tare: Path, mpi: MpiEnvironment, gate: Path, tmp_path: Path
) -> None:
    with going_on(tare, mpi, CONTAINERS[container], gate, "--monitor=50ms") as run:
        found = settled(run)
        assert {row["state"] for row in found["rows"]} == {"running"}
        assert (found["deadlock"], found["stalled"], found["mismatches"]) == (None, None, [])
        assert found["waited_for"] == [{"world": 0, "rank": 0}]
        assert run.states() == dict.fromkeys(range(RANKS), "running")
        shown = text_of(tare, "where", run.directory)
        assert "No deadlock: rank 1 waits for rank 0" in shown
        assert "killed" not in shown + text_of(tare, "info", run.directory)
        assert json.loads(text_of(tare, "top", "--json", run.directory))["going_on"]
        assert run.process.poll() is None
        run.open_gate()
        said = run.end()
        assert run.process.returncode == 0, said
        assert run.states() == dict.fromkeys(range(RANKS), "finished")
        assert left_in_memory(run.directory) == []
        (file,) = run.directory.glob("monitor-*.tare")
        assert f"0-{RANKS - 1}" in {str(made.ranks) for made in RoundFile(file).read()}


@pytest.mark.parametrize("container", CONTAINERS)
def test_ranks_that_are_killed_are_collected(
    container: str, tare: Path, mpi: MpiEnvironment, gate: Path, tmp_path: Path
) -> None:
    with going_on(tare, mpi, CONTAINERS[container], gate, "--trace") as run:
        settled(run)
        run.kill_ranks()
        run.end()
        assert run.states() == dict.fromkeys(range(RANKS), "killed")
        assert run.measurement().calls()["MPI_Barrier"] == RANKS
        assert left_in_memory(run.directory) == []


@pytest.mark.parametrize("container", CONTAINERS)
def test_recover_waits_for_the_end_of_ranks(
    container: str, tare: Path, mpi: MpiEnvironment, gate: Path, tmp_path: Path
) -> None:
    with going_on(tare, mpi, CONTAINERS[container], gate) as run:
        settled(run)
        for rank in run.ranks():  # what outlives its launcher would end by itself
            os.kill(rank, signal.SIGSTOP)
        run.process.kill()
        run.process.wait()
        recover: list[Path | str] = [tare, "recover", run.directory]
        done = subprocess.run(recover, capture_output=True, text=True, timeout=TIMEOUT_S)
        said = done.stdout + done.stderr
        assert (done.returncode, f"{RANKS} processes still run" in said) == (0, True), said
        assert run.states() == dict.fromkeys(range(RANKS), "running")
        run.kill_ranks()
        done = subprocess.run(recover, capture_output=True, text=True, timeout=TIMEOUT_S)
        said = done.stdout + done.stderr
        assert f"took over {RANKS} processes" in said
        assert run.states() == dict.fromkeys(range(RANKS), "killed")
        assert left_in_memory(run.directory) == []


@pytest.mark.parametrize("options", [[], ["--trace"]], ids=["profile", "trace"])
@pytest.mark.parametrize("namespaces", [[], OWN_PIDS], ids=["memory", "memory and pids"])
def test_ranks_with_a_memory_of_their_own_write_their_results(
    options: list[str], namespaces: list[str], tare: Path, mpi: MpiEnvironment, gate: Path, tmp_path: Path
) -> None:
    argv: list[Path | str] = [*namespaces, *OWN_MEMORY, gate]
    apart = replace(mpi, env=mpi.env | WITHOUT_SHARED_MEMORY)
    measured = measure(tare, apart, RANKS, argv, tmp_path / "run", *options)
    assert (measured.ended.returncode, measured.ended.stderr) == (0, "")
    assert {row["rank"]: row["state"] for row in measured.info()["ranks"]} == {0: "finished", 1: "finished"}
    assert measured.calls()["MPI_Barrier"] == 2 * RANKS
    assert len(measured.events()) == (4 * RANKS if options else 0)


def test_what_is_not_known_is_unknown(tare: Path, mpi: MpiEnvironment, gate: Path, tmp_path: Path) -> None:
    """The ranks are in a container, on a file system whose locks end with the descriptor."""
    if mpi.family == "mpich":
        pytest.skip("MPICH does not start where nothing can be written to /dev/shm")
    mounts = tmp_path / "mounts"
    mounts.mkdir()
    run_dir = mounts / "runs/run"
    launch = [*mpi.mpiexec, "-n", str(RANKS), *OWN_PIDS, str(gate), str(tmp_path / "open")]
    process = subprocess.Popen(
        [*OVERLAY, mounts, tare, "run", "-q", "-o", run_dir, "--", *launch],
        env=mpi.environ(**WITHOUT_SHARED_MEMORY),
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    run = Run(tare, run_dir, process, gate)
    there = ["nsenter", "--mount", "--target", str(process.pid)]  # the process becomes `tare run`

    def call(*verb: str) -> str:
        command = [*there, str(tare), verb[0], str(run_dir), *verb[1:]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
        return done.stdout + done.stderr

    def rows() -> list[dict[str, Any]]:
        said = call("where", "--json")
        return list(json.loads(said)["rows"]) if said.startswith("{") else []

    keeper = None
    try:
        wait_until(lambda: [row["function"] for row in rows()] == ["MPI_Barrier"] * RANKS, TIMEOUT_S, process)
        keeper = subprocess.Popen([*there, "sleep", "600"])  # keeps the mounts
        while Path(f"/proc/{keeper.pid}/ns/mnt").readlink() != Path(f"/proc/{process.pid}/ns/mnt").readlink():
            time.sleep(0.01)
        there[-1] = str(keeper.pid)
        assert {row["state"] for row in rows()} == {"unknown"}
        found = json.loads(call("where", "--json"))
        assert (found["deadlock"], found["stalled"]) == (None, None)
        assert "unknown whether it runs; last seen" in call("where")
        process.kill()
        run.kill_ranks()
        assert f"{RANKS} processes are on another machine, or in a container" in call("recover")
        assert {row["state"] for row in rows()} == {"unknown"}
        assert f"took over {RANKS} processes" in call("recover", "--presume-ended")
        assert {row["state"] for row in rows()} == {"killed"}
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=TIMEOUT_S)
        run.kill_ranks()
        if keeper is not None:
            keeper.kill()
            keeper.wait()


def test_ranks_that_are_killed_in_a_memory_of_their_own_are_collected_there(
    tare: Path, mpi: MpiEnvironment, gate: Path, tmp_path: Path
) -> None:
    with going_on(tare, mpi, ["sh", "-c", OF_RANK_1, "sh"], gate) as run:
        wait_until(lambda: len(run.ranks()) >= RANKS and is_at_the_gate(run), TIMEOUT_S, run.process)
        run.kill_ranks()
        said = " ".join(run.end().split())
        assert "2 killed" in said and "missing" not in said
        told = ask(tare, "info", run.directory, "--json", check=True)
        info = json.loads(told.stdout)
        assert [row["rank"] for row in info["ranks"]] == list(range(RANKS)) and info["missing"] == []
        assert all(row["calls"] > 0 for row in info["ranks"])
