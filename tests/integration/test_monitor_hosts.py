"""`tare run --monitor` on several hosts: one tree, whatever happens to nodes and links."""

from __future__ import annotations

import itertools
import os
import re
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import tare as tare_package
from environments import ROOT, MpiEnvironment, compile_c, mpich4, openmpi4
from hosts import NETWORK, Host, Hosts, several_hosts
from measured import PROGRAMS, WITH_API, compile_monitored
from patience import wait_until
from tare._native import Round
from tare.runs.rounds import RoundFile
from verbs import ask

HOSTS = 3
RANKS = 2 * HOSTS
COUNT = 40
POINT_NS = 1_000_000  # of auto
PATIENCE_S = 90


@dataclass(frozen=True)
class Program:
    mpi: MpiEnvironment
    path: Path


def compiled(mpi: MpiEnvironment, factory: pytest.TempPathFactory) -> Program:
    if missing := mpi.missing():
        pytest.fail(f"not on this machine: {missing}")
    folder = factory.mktemp("program")
    return Program(mpi, compile_monitored(mpi, folder))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return compiled(mpich4(), tmp_path_factory)


@pytest.fixture(scope="module", params=[mpich4(), openmpi4()], ids=lambda env: env.name)
def program_of_each(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Program:
    return compiled(request.param, tmp_path_factory)


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    with several_hosts(HOSTS, tmp_path) as made:
        yield made


def job(
    tare: Path, hosts: Hosts, spec: str, run: Path, program: Program, arguments: list[object]
) -> list[str]:
    """Two ranks on each host; tare run is on the first."""
    there = ",".join(f"{host.name}:2" for host in hosts.hosts)
    launcher: list[object] = ["-launcher", "ssh", "-launcher-exec", hosts.launcher, "-hosts", there]
    if program.mpi.family == "openmpi":
        launcher = ["--mca", "plm_rsh_agent", hosts.launcher, "--host", there]
        for network in ("btl_tcp", "oob_tcp"):
            launcher += ["--mca", f"{network}_if_include", NETWORK]
    argv = [*program.mpi.mpiexec, *launcher, "-n", RANKS, program.path, *arguments]
    return hosts.hosts[0].command([tare, "run", "--quiet", f"--monitor={spec}", "-o", run, "--", *argv])


@contextmanager
def going_on(
    tare: Path, hosts: Hosts, program: Program, folder: Path, spec: str
) -> Iterator[Callable[[], None]]:
    """A job whose ranks do not wait for one another. What is yielded ends it and checks its output."""
    end = folder / "end"
    command = job(tare, hosts, spec, folder / "run", program, ["apart", 1000, end])
    started = subprocess.Popen(
        command, env=program.mpi.environ(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )

    def finish() -> None:
        end.touch()
        output, _ = started.communicate(timeout=PATIENCE_S)
        assert started.returncode == 0, output
        assert output.count("ok") == RANKS

    try:
        yield finish
    finally:
        started.kill()
        started.communicate()


def rounds_of(run: Path, host: Host) -> list[Round]:
    files = [run / f"monitor-{host.name}.tare", *run.glob(f"monitor-{host.name}-*.tare")]
    return [made for file in files if file.exists() for made in RoundFile(file).read()]


def wait_for_ranks(run: Path, host: Host, ranks: str) -> None:
    """Waits until the last rounds of this host's file have exactly these ranks."""
    wait_until(lambda: [str(made.ranks) for made in rounds_of(run, host)[-3:]] == [ranks] * 3)


def ranks_on(run: Path, hosts: Hosts, host: Host) -> str:
    first = 2 * hosts.hosts.index(host)
    return f"{first}-{first + 1}"


def tared_on(hosts: Hosts, host: Host) -> int:
    (found,) = [
        pid
        for pid in hosts.processes(host)
        if Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].endswith(b"/tared")
    ]
    return found


def node_numbers(run: Path, hosts: Hosts) -> dict[int, Host]:
    """Which host is which node of the tree, by the addresses that nodes have left."""
    found = {}
    for file in (run / "tree").glob("node-*"):
        address = re.search(r"tcp://([0-9.]+):", file.read_text())
        if address and file.name.removeprefix("node-").isdecimal():
            (host,) = [host for host in hosts.hosts if host.address == address[1]]
            found[int(file.name.removeprefix("node-"))] = host
    return found


@pytest.mark.parametrize("fan_out", [1, 8])
def test_a_round_has_the_ranks_of_all_hosts(
    fan_out: int, hosts: Hosts, program_of_each: Program, tare: Path, tmp_path: Path
) -> None:
    """Also where one node lies between another and the root."""
    run = tmp_path / "run"
    spec = f"points,policy=nonblock,listen={NETWORK},fan-out={fan_out}"
    done = subprocess.run(
        job(tare, hosts, spec, run, program_of_each, ["points", COUNT]),
        env=program_of_each.mpi.environ(), capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [file.name for file in run.glob("monitor-*")] == ["monitor-node0.tare"]
    found = rounds_of(run, hosts.hosts[0])
    assert [made.round for made in found] == list(range(1, COUNT + 1))
    for made in found:
        assert str(made.ranks) == f"0-{RANKS - 1}" and not made.lost and made.delay_ns > 0
        (reduced,) = [event for event in made.events if event.name == "MPI_Allreduce"]
        assert (reduced.ranks, reduced.calls.least, reduced.calls.most) == (RANKS, made.round, made.round)
    assert not (run / "tree").exists(), "the key is left behind"


def test_a_decision_reaches_the_ranks_of_all_hosts_for_the_same_round(
    hosts: Hosts, program_of_each: Program, tare: Path, tmp_path: Path
) -> None:
    """Whatever auto decides, no host makes rounds that the others do not, and they are whole."""
    run, root = tmp_path / "run", hosts.hosts[0]
    file = RoundFile(run / f"monitor-{root.name}.tare")

    def settled() -> bool:
        found.extend(file.read() if file.path.exists() else [])
        return any(pace.boi_ns > 0 for pace in file.paces) and found[-1].round > file.paces[-1].from_round

    found: list[Round] = []
    with going_on(tare, hosts, program_of_each, tmp_path, f"auto:50ms,listen={NETWORK},fan-out=1") as finish:
        wait_until(settled)
        finish()
    found.extend(file.read())
    assert len(file.paces) >= 3
    for pace, following in itertools.pairwise(file.paces):
        every = pace.interval_ns // POINT_NS
        between = [made for made in found if pace.from_round <= made.round < following.from_round]
        assert all((made.round - pace.from_round) % every == 0 for made in between)
        # The first rounds of an interval that nothing is wrong with.
        assert every < 50 or all(len(made.ranks) == RANKS for made in between[:3])
    assert [path.name for path in run.glob("monitor-*")] == ["monitor-node0.tare"]


def test_a_request_reaches_the_ranks_of_all_hosts(
    hosts: Hosts, program: Program, tare: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with going_on(tare, hosts, program, tmp_path, f"pull,listen={NETWORK},fan-out=1") as finish:
        wait_until(lambda: (run / "tree").is_dir())
        asked = [tare_package.request_round(run, timeout=PATIENCE_S) for _ in range(3)]
        finish()
    found = rounds_of(run, hosts.hosts[0])
    assert [made.round for made in found] == asked
    assert all(str(made.ranks) == f"0-{RANKS - 1}" and not made.lost for made in found)


def test_what_a_user_wants_reaches_the_ranks_of_all_hosts(hosts: Hosts, tare: Path, tmp_path: Path) -> None:
    """It reaches them at the same point of the program; and all nodes change the filter at the same round."""
    steered = Program(
        mpich4(), compile_c(mpich4(), [PROGRAMS / "steered.c"], tmp_path / "steered", *WITH_API)
    )
    run, root, end, output = tmp_path / "run", hosts.hosts[0], tmp_path / "end", tmp_path / "output"
    spec = f"points,policy=nonblock,listen={NETWORK},fan-out=1"
    command = job(tare, hosts, spec, run, steered, [end])

    def steer(*options: str) -> int:
        done = subprocess.run(
            [tare, "monitor", run, *options], capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert done.returncode == 0, done.stderr
        return int(done.stdout.split()[-2])

    with output.open("w") as to, subprocess.Popen(command, env=steered.mpi.environ(), stdout=to) as started:
        try:
            wait_until(lambda: len(rounds_of(run, root)) > 5)
            steer("--send", "level=3")
            steer("--send", "level=4", "--rank", "5")
            changed = steer("--set", "filter=none")
            wait_until(lambda: rounds_of(run, root)[-1].round > changed + 20)
        finally:
            end.touch()
        assert started.wait(PATIENCE_S) == 0
    lines = [line.split() for line in output.read_text().splitlines()]
    to_all = [line for line in lines if line[4] == "3"]
    assert sorted(int(line[0]) for line in to_all) == list(range(RANKS))
    assert len({line[1] for line in to_all}) == 1
    assert [line[0] for line in lines if line[4] == "4"] == ["5"]
    for made in rounds_of(run, root):
        assert str(made.ranks) == f"0-{RANKS - 1}" and not made.lost
        assert made.filter == ("none" if made.round >= changed else "statistics+histogram:16:time")


def test_a_link_that_is_cut_and_mended(
    hosts: Hosts, program_of_each: Program, tare: Path, tmp_path: Path
) -> None:
    """Rounds go on on both sides of it, and are whole again afterwards."""
    run, root, far = tmp_path / "run", hosts.hosts[0], hosts.hosts[2]
    with going_on(tare, hosts, program_of_each, tmp_path, f"50ms,listen={NETWORK}") as finish:
        wait_for_ranks(run, root, "0-5")
        hosts.cut(far)
        wait_for_ranks(run, root, "0-3")
        wait_for_ranks(run, far, "4-5")
        hosts.mend(far)
        wait_for_ranks(run, root, "0-5")
        finish()
    lost = [made for made in rounds_of(run, root) if str(made.lost) == "4-5"]
    assert lost, "nobody said which ranks were missing"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_node_between_that_dies_or_hangs(
    number: signal.Signals, hosts: Hosts, program: Program, tare: Path, tmp_path: Path
) -> None:
    """The node below it finds the root, and the program notices nothing."""
    run, root = tmp_path / "run", hosts.hosts[0]
    with going_on(tare, hosts, program, tmp_path, f"50ms,listen={NETWORK},fan-out=1") as finish:
        wait_for_ranks(run, root, "0-5")
        nodes = node_numbers(run, hosts)
        assert nodes[0] == root
        between = tared_on(hosts, nodes[1])
        os.kill(between, number)
        left = {0, 1, *map(int, ranks_on(run, hosts, nodes[2]).split("-"))}
        wait_until(lambda: [set(made.ranks) for made in rounds_of(run, root)[-3:]] == [left] * 3)
        if number == signal.SIGSTOP:
            os.kill(between, signal.SIGCONT)
            wait_for_ranks(run, root, "0-5")
        finish()


def test_without_the_root_each_child_stores_its_rounds(
    hosts: Hosts, program: Program, tare: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with going_on(tare, hosts, program, tmp_path, f"50ms,listen={NETWORK}") as finish:
        wait_for_ranks(run, hosts.hosts[0], "0-5")
        before = rounds_of(run, hosts.hosts[0])
        os.kill(tared_on(hosts, hosts.hosts[0]), signal.SIGKILL)
        for host in hosts.hosts[1:]:
            wait_for_ranks(run, host, ranks_on(run, hosts, host))
        finish()
    assert len(rounds_of(run, hosts.hosts[0])) >= len(before)
    names = {event.name for made in rounds_of(run, hosts.hosts[1]) for event in made.events}
    assert {"MPI_Allreduce", "step", "residual"} <= names


def test_nothing_is_bound_on_a_network_unless_asked(
    hosts: Hosts, program: Program, tare: Path, tmp_path: Path
) -> None:
    """Then each host has the rounds of its own ranks."""
    run = tmp_path / "run"
    with going_on(tare, hosts, program, tmp_path, "50ms") as finish:
        for host in hosts.hosts:
            wait_for_ranks(run, host, ranks_on(run, hosts, host))
        # hydra, which starts the job, binds what it likes; tared does not.
        for host in hosts.hosts:
            assert not listened(tared_on(hosts, host), host)
        finish()
    told = ask(tare, "info", run, check=True).stdout
    assert "! monitoring: 2 of 3 nodes could not reach the first one" in " ".join(told.split())


def listened(pid: int, host: Host) -> list[str]:
    """The addresses that a process listens on."""
    inodes = set()
    for file in Path(f"/proc/{pid}/fd").iterdir():
        if match := re.fullmatch(r"socket:\[(\d+)\]", str(file.readlink())):
            inodes.add(match[1])
    lines = [line.split() for line in Path(f"/proc/{host.first}/net/tcp").read_text().splitlines()[1:]]
    texts = [words[1] for words in lines if words[3] == "0A" and words[9] in inodes]
    return [socket.inet_ntoa(bytes.fromhex(text[:8])[::-1]) for text in texts]


STRANGER = """
import socket, sys
host, port = sys.argv[1], int(sys.argv[2])
# ZMTP 3.0 with the mechanism NULL, as a peer without any key: greeting, READY, a message.
greeting = b"\\xff" + bytes(8) + b"\\x7f\\x03\\x00" + b"NULL".ljust(20, b"\\0") + b"\\0" + bytes(31)
ready = b"\\x04\\x26\\x05READY\\x0bSocket-Type\\x00\\x00\\x00\\x06DEALER\\x08Identity\\x00\\x00\\x00\\x00"
got = []
for _ in range(20):
    with socket.create_connection((host, port), timeout=10) as peer:
        peer.sendall(greeting + ready + b"\\x00\\x05hello" * 100)
        answer = b""
        try:
            while part := peer.recv(4096):
                answer += part
        except OSError:
            pass
        got.append(len(answer))
print(max(got))
"""


def test_a_stranger_gets_nothing(hosts: Hosts, program: Program, tare: Path, tmp_path: Path) -> None:
    """Who has no key hears a greeting, which says nothing of the run, and is hung up on; rounds go on."""
    run, root = tmp_path / "run", hosts.hosts[0]
    with going_on(tare, hosts, program, tmp_path, f"50ms,listen={NETWORK}") as finish:
        wait_for_ranks(run, root, "0-5")
        assert (run / "tree").stat().st_mode & 0o777 == 0o700
        assert (run / "tree" / "key").stat().st_mode & 0o777 == 0o600
        (port,) = re.findall(r"tcp://[0-9.]+:(\d+)", (run / "tree" / "node-0").read_text())
        python = ROOT / ".venv" / "bin" / "python"
        done = subprocess.run(
            hosts.hosts[1].command([python, "-c", STRANGER, root.address, port]),
            capture_output=True, text=True, timeout=PATIENCE_S, check=True,
        )  # fmt: skip
        greeting_bytes = 64
        assert int(done.stdout) <= greeting_bytes
        reached = rounds_of(run, root)[-1].round
        wait_until(lambda: rounds_of(run, root)[-1].round > reached + 5)
        wait_for_ranks(run, root, "0-5")
        finish()
