"""Slurm on hosts of this machine (hosts.py): slurmctld on the first, a slurmd on each.

Nobody proves who he is (auth/none): nothing outside of the hosts' own network reaches them.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hosts import Host, Hosts

PATIENCE_S = 60

_CONFIGURATION = """
ClusterName=tare
SlurmctldHost={first.name}({first.address})
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/{proctrack}
KillWait={kill_wait_s}
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
SchedulerType=sched/builtin
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
{more}
"""


@contextmanager
def cluster(
    hosts: Hosts,
    folder: Path,
    *,
    ranks_per_host: int,
    proctrack: str = "linuxproc",
    kill_wait_s: int = 30,
    more: str = "",
) -> Iterator[dict[str, str]]:
    """Slurm, while it is entered: the variables with which its commands find it.

    `proctrack`: how it finds the processes of a job that it kills; "cgroup" finds all. `more`: more lines of
    its configuration.
    """
    configuration = folder / "slurm.conf"
    nodes = "\n".join(
        f"NodeName={host.name} NodeAddr={host.address} CPUs={ranks_per_host}" for host in hosts.hosts
    )
    (folder / "state").mkdir()
    # Control groups are not used, or each host mounts its own; but slurmd would look for those of systemd.
    (folder / "cgroup.conf").write_text(
        "CgroupPlugin=cgroup/v1\nCgroupAutomount=yes\nCgroupMountpoint=/tmp/cgroup\n"
    )
    configuration.write_text(
        _CONFIGURATION.format(
            first=hosts.hosts[0],
            folder=folder,
            nodes=nodes,
            proctrack=proctrack,
            kill_wait_s=kill_wait_s,
            more=more,
        )
    )
    variables = {"SLURM_CONF": str(configuration)}
    daemons: list[subprocess.Popen[bytes]] = []

    def start(host: Host, *command: str) -> None:
        argv = host.command(["env", *(f"{key}={value}" for key, value in variables.items()), *command])
        daemons.append(
            subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        )

    try:
        start(hosts.hosts[0], "slurmctld", "-D")
        for host in hosts.hosts:
            start(host, "slurmd", "-D", "-N", host.name)
        _wait_for_idle(hosts, variables, folder)
        yield variables
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def _wait_for_idle(hosts: Hosts, variables: dict[str, str], folder: Path) -> None:
    until = time.monotonic() + PATIENCE_S
    states: list[str] = []
    while time.monotonic() < until:
        asked = subprocess.run(
            hosts.hosts[0].command(
                [
                    "env",
                    *(f"{key}={value}" for key, value in variables.items()),
                    "sinfo",
                    "-hN",
                    "-p",
                    "all",
                    "-o",
                    "%t",
                ]
            ),
            capture_output=True,
            text=True,
            check=False,
        )
        states = asked.stdout.split()
        if states == ["idle"] * len(hosts.hosts):
            return
        time.sleep(0.1)
    logs = "\n".join(log.read_text()[-500:] for log in folder.glob("*.log"))
    raise RuntimeError(f"Slurm's nodes are {states}, not idle:\n{logs}")
