"""`tare run --monitor` while others connect to its tree as often as they can: no round is missing."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from environments import MpiEnvironment, openmpi4
from measured import Measurement, compile_monitored
from on_mpi import both_debian
from patience import wait_until
from run_processes import tared_of
from tare._native import Round
from tare.runs.rounds import RoundFile

RANKS = 2
DESCRIPTORS = 1024
CONNECTIONS = 3000
PATIENCE_S = 60

# Connects to each address, and says nothing, something else or half a greeting. Prints how many connections
# there are.
ATTACK = """
import os, resource, socket, sys
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
resource.setrlimit(resource.RLIMIT_NOFILE, (4000, 4000))
SAID = (b"", b"GET / HTTP/1.1\\r\\n\\r\\n", b"\\xff\\0\\0\\0\\0\\0\\0\\0\\1\\x7f\\3\\1CURVE", b"\\xff" * 5000)
made = []
for address in sys.argv[2:]:
    host, _, port = address.rpartition(":")
    for i in range(int(sys.argv[1])):
        is_local = not port.isdecimal()
        peer = socket.socket(socket.AF_UNIX if is_local else socket.AF_INET)
        peer.setblocking(False)
        try:
            name = "\\0" + address[1:] if address[0] == "@" else address
            peer.connect(name if is_local else (host, int(port)))
        except BlockingIOError:
            if is_local:
                continue
        except OSError:
            continue
        made.append(peer)
        try:
            peer.send(SAID[i % len(SAID)])
        except OSError:
            pass
print(len(made), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def program(mpi: MpiEnvironment, tmp_path: Path) -> Path:
    return compile_monitored(mpi, tmp_path)


def rounds_of(run: Path) -> list[Round]:
    return [made for file in run.glob("monitor-*.tare") for made in RoundFile(file).read()]


def own_address() -> str:
    """An address of this machine that is not a loopback address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no network")
        return str(probe.getsockname()[0])


def processes_of(run: Path) -> list[int]:
    """tared, and the process that monitors for it, if that is another one."""
    first = tared_of(run)
    children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
    return [first, *map(int, children)]


def listeners_of(run: Path) -> list[str]:
    """The addresses at which the processes of the run accept connections: HOST:PORT, @ABSTRACT or a path."""
    inodes = set()
    for process in processes_of(run):
        for fd in Path(f"/proc/{process}/fd").iterdir():
            if match := re.fullmatch(r"socket:\[(\d+)\]", str(fd.readlink())):
                inodes.add(match[1])
    found = []
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[9] in inodes and words[3] == "0A":
            host, port = words[1].split(":")
            found.append(f"{socket.inet_ntoa(bytes.fromhex(host)[::-1])}:{int(port, 16)}")
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        words = line.split()
        if words[6] in inodes and words[3] == "00010000" and len(words) > 7:
            path = words[7]
            name = path.rpartition("/")[2]
            found.append(path if path.startswith("@") else str(run / "tree" / name))
    return found


@contextmanager
def flooded(addresses: list[str]) -> Iterator[int]:
    """Another user (if this one is root) has as many connections as it gets, for the length of the block."""
    with subprocess.Popen(
        [sys.executable, "-I", "-c", ATTACK, str(CONNECTIONS), *addresses],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/",
    ) as attack:  # fmt: skip
        assert attack.stdout is not None
        try:
            yield int(attack.stdout.readline())
        finally:
            attack.kill()


@contextmanager
def running(
    tare: Path, mpi: MpiEnvironment, run: Path, program: Path, end: Path, *options: str
) -> Iterator[None]:
    """A job, and tared, with few descriptors; it has to end as ever, and without a word."""
    command = [tare, "run", *options, "-o", run, "--", *mpi.mpiexec, "-n", RANKS, program, "steps", 2000, end]
    with subprocess.Popen(
        ["sh", "-c", f'ulimit -n {DESCRIPTORS} && exec "$@"', "sh", *map(str, command)],
        env=mpi.environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as job:  # fmt: skip
        try:
            wait_until(lambda: len(rounds_of(run)) > 3)
            yield
        finally:
            end.touch()
            output, said = job.communicate(timeout=PATIENCE_S)
    assert job.returncode == 0, said
    assert output.count("ok") == RANKS
    assert "tared" not in said, said


def trace_bytes(run: Path) -> int:
    return sum(file.stat().st_size for file in run.glob("*.tare") if not file.name.startswith("monitor-"))


def wait_for_more(run: Path) -> None:
    before = rounds_of(run)[-1].round
    wait_until(lambda: rounds_of(run)[-1].round > before + 20)


@both_debian
@pytest.mark.parametrize("drain", ["self", "tared"])
def test_a_flood_of_connections_ends_nothing(
    drain: str, mpi: MpiEnvironment, program: Path, tare: Path, tmp_path: Path
) -> None:
    run, end = tmp_path / "run", tmp_path / "end"
    options = ["--monitor=points,policy=nonblock"] + (
        ["--trace", "--drain", "tared"] if drain == "tared" else []
    )
    with running(tare, mpi, run, program, end, *options):
        addresses = listeners_of(run)
        assert [Path(address).name for address in addresses] == ["socket-0"], "other users reach nothing"
        with flooded(addresses) as connections:
            assert connections == 0 or os.geteuid() != 0
            wait_for_more(run)
        wait_for_more(run)
    assert all(list(made.ranks) == list(range(RANKS)) for made in rounds_of(run))


def test_a_flood_from_the_network_ends_nothing(tare: Path, tmp_path: Path) -> None:
    mpi = openmpi4()
    program = compile_monitored(mpi, tmp_path)
    run, end = tmp_path / "run", tmp_path / "end"
    with running(tare, mpi, run, program, end, f"--monitor=points,policy=nonblock,listen={own_address()}"):
        addresses = listeners_of(run)
        assert len(addresses) == 1 and addresses[0].startswith(own_address())
        with flooded(addresses) as connections:
            assert connections == CONNECTIONS
            wait_for_more(run)
            used = len(list(Path(f"/proc/{tared_of(run)}/fd").iterdir()))
            assert used < DESCRIPTORS * 3 / 4, "there are descriptors left for its own work"
        wait_for_more(run)
    assert all(list(made.ranks) == list(range(RANKS)) for made in rounds_of(run))


@both_debian
def test_draining_goes_on_where_the_tree_ends(
    mpi: MpiEnvironment, program: Path, tare: Path, tmp_path: Path
) -> None:
    """libzmq seems to have ended the process: rounds are missing, but no event of the trace is."""
    run, end = tmp_path / "run", tmp_path / "end"
    options = ["--monitor=10ms", "--trace", "--drain", "tared", "--buffer", "64K"]
    command = [tare, "run", *options, "-o", run, "--", *mpi.mpiexec, "-n", RANKS, program, "calls", 100, end]
    with subprocess.Popen(
        list(map(str, command)),
        env=mpi.environ(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as job:
        try:
            wait_until(lambda: len(rounds_of(run)) > 3)
            draining, monitoring = processes_of(run)
            os.kill(monitoring, signal.SIGABRT)
            wait_until(lambda: " Z " in Path(f"/proc/{monitoring}/stat").read_text())
            wait_until(lambda: trace_bytes(run) > 0)
            before = trace_bytes(run)
            wait_until(lambda: trace_bytes(run) > before)
            assert Path(f"/proc/{draining}").exists()
        finally:
            end.touch()
        _, said = job.communicate(timeout=PATIENCE_S)
    assert job.returncode == 0, said
    assert "tared failed" in " ".join(said.split()), said
    measured = Measurement(tare, run, subprocess.CompletedProcess([], 0, "", said))
    assert len(measured.events("--function", "MPI_Allreduce")) == measured.calls()["MPI_Allreduce"]
    cost = measured.info()["cost"]
    assert cost["dropped"] == 0
