"""Hosts on this machine, joined by a switch: each with a network, name, shared memory and /tmp of its own.

They are network namespaces (ip netns) with a veth to a bridge in a further one. Needs root, as CI has it.
"""

from __future__ import annotations

import os
import secrets
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

NETWORK = "10.77.0.0/24"

# Of the environment of who calls it, ssh hands nothing on.
_AS_SSH = ["env", "-i", f"HOME={Path.home()}", f"PATH={os.environ['PATH']}", "sh", "-c"]

# Becomes the first process of a host; $1 is its name, $2 a file for /etc/hosts, $3 what all hosts share of
# /tmp. It says when it is done.
_FIRST = """
mount --make-rprivate / && mount -t tmpfs tmpfs /dev/shm && mount --bind "$2" /etc/hosts && hostname "$1" &&
mount --bind "$3" /mnt && mount -t tmpfs tmpfs /tmp && mkdir -p "$3" && mount --move /mnt "$3" &&
ip link set lo up && echo ready && exec sleep infinity
"""


@dataclass(frozen=True)
class Host:
    name: str
    address: str
    net: str  # the network namespace
    first: int  # process that holds its namespaces

    def command(self, argv: Sequence[object]) -> list[str]:
        """What runs `argv` on this host."""
        return [
            "nsenter",
            "-t",
            str(self.first),
            "-m",
            "-u",
            "-n",
            "--",
            "env",
            "-C",
            str(Path.cwd()),
            *map(str, argv),
        ]


@dataclass(frozen=True)
class Hosts:
    hosts: list[Host]
    switch: str
    launcher: Path  # instead of ssh: LAUNCHER [-x] HOST COMMAND...

    def cut(self, host: Host) -> None:
        """Nothing reaches it, and nothing comes from it, until `mend`."""
        _ip("-n", self.switch, "link", "set", f"p{self.hosts.index(host)}", "down")

    def mend(self, host: Host) -> None:
        _ip("-n", self.switch, "link", "set", f"p{self.hosts.index(host)}", "up")

    def processes(self, host: Host) -> list[int]:
        """Those on this host, but for its first."""
        name_space = Path(f"/proc/{host.first}/ns/uts").readlink()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "ns/uts").readlink() == name_space and int(process.name) != host.first:
                    found.append(int(process.name))
            except OSError:
                continue
        return found


# Prints the number of its mount namespace (NS_GET_MNTNS_ID), if the kernel tells it.
_NUMBER = """
import fcntl, os, struct
namespace = os.open("/proc/self/ns/mnt", os.O_RDONLY)
print(*struct.unpack("Q", fcntl.ioctl(namespace, 0x8008B705, bytes(8))))
"""


def processor_of_first_namespaces() -> int:
    """The processor on which a host must be made so that it can hold namespaces, as Slurm makes for a job.

    Linux refuses to bind a mount namespace in one that has a larger number, and 6.18 gives each processor
    numbers of its own: those of one may all be larger than those of another.
    """
    numbers = {}
    for processor in os.sched_getaffinity(0):
        command = ["taskset", "-c", str(processor), "unshare", "--mount", sys.executable, "-c", _NUMBER]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        numbers[processor] = int(done.stdout or 0)
    return min(numbers, key=numbers.__getitem__)


@contextmanager
def several_hosts(count: int, folder: Path, processor: int | None = None) -> Iterator[Hosts]:
    """`count` hosts node0, node1, ... for a while. All that runs there is killed at the end.

    `processor`: the one on which they are made, if it matters.
    """
    where = [] if processor is None else ["taskset", "-c", str(processor)]
    mark = secrets.token_hex(3)
    switch = f"tare-{mark}-switch"
    names = folder / "hosts"
    names.write_text("127.0.0.1 localhost\n" + "".join(f"10.77.0.{i + 1} node{i}\n" for i in range(count)))
    spaces = [switch, *(f"tare-{mark}-{i}" for i in range(count))]
    holders: list[subprocess.Popen[str]] = []
    hosts: list[Host] = []
    try:
        for space in spaces:
            _ip("netns", "add", space)
        _ip("-n", switch, "link", "add", "br0", "type", "bridge")
        _ip("-n", switch, "link", "set", "br0", "up")
        for i, net in enumerate(spaces[1:]):
            _ip("-n", switch, "link", "add", f"p{i}", "type", "veth", "peer", "name", "eth0", "netns", net)
            _ip("-n", switch, "link", "set", f"p{i}", "master", "br0", "up")
            address = f"10.77.0.{i + 1}"
            _ip("-n", net, "address", "add", f"{address}/24", "dev", "eth0")
            _ip("-n", net, "link", "set", "eth0", "up")
            script = ["sh", "-c", _FIRST, "sh", f"node{i}", str(names), str(folder.parent)]
            holder = subprocess.Popen(
                [*where, "ip", "netns", "exec", net, "unshare", "--mount", "--uts", *script],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            holders.append(holder)
            assert holder.stdout is not None and holder.stderr is not None
            if holder.stdout.readline() != "ready\n":
                raise RuntimeError(
                    f"this machine cannot have hosts of its own: {holder.stderr.read().strip()}"
                )
            hosts.append(Host(f"node{i}", address, net, holder.pid))
        launcher = folder / "launch"
        cases = "".join(
            f'{host.name}|{host.address}) exec {shlex.join(host.command(_AS_SSH))} "$*" ;;\n'
            for host in hosts
        )
        launcher.write_text(
            '#!/bin/sh\ncase "$1" in -*) shift ;; esac\nhost=$1\nshift\n'
            f'case "$host" in\n{cases}esac\nexit 1\n'
        )
        launcher.chmod(0o755)
        yield Hosts(hosts, switch, launcher)
    finally:
        made = Hosts(hosts, switch, folder)
        for host in hosts:
            for pid in made.processes(host):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
        for holder in holders:
            holder.kill()
            holder.wait()
            for stream in (holder.stdout, holder.stderr):
                if stream is not None:
                    stream.close()
        for space in spaces:
            subprocess.run(["ip", "netns", "delete", space], check=False, capture_output=True)


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(
            f"network namespaces are needed, and root: ip {' '.join(words)}: {done.stderr.strip()}"
        )
