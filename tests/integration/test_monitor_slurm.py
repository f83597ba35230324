"""`tare run --monitor` of a job that Slurm starts on several hosts (tests/support/slurm.py)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from environments import mpich4
from hosts import NETWORK, several_hosts
from measured import compile_monitored
from slurm import cluster
from tare.runs.rounds import RoundFile
from verbs import ask

HOSTS = 3
RANKS = 2 * HOSTS
COUNT = 30


@pytest.mark.parametrize("starter", ["srun", "mpiexec"])
def test_a_job_of_slurm_is_one_tree(starter: str, tare: Path, tmp_path: Path) -> None:
    """Ranks that srun starts by itself, and those of an mpiexec within an allocation."""
    mpi = mpich4()
    if missing := mpi.missing():
        pytest.fail(f"not on this machine: {missing}")
    program = compile_monitored(mpi, tmp_path)
    run = tmp_path / "run"
    spec = f"--monitor=points,policy=nonblock,listen={NETWORK}"
    start = ["srun", "-n", str(RANKS), "--mpi=pmi2"] if starter == "srun" else mpi.mpiexec
    inside = ["salloc", "-n", str(RANKS)] if starter == "mpiexec" else []
    command = [*inside, tare, "run", spec, "-o", run, "--", *start, program, "points", str(COUNT)]
    with several_hosts(HOSTS, tmp_path) as hosts, cluster(hosts, tmp_path, ranks_per_host=2) as variables:
        done = subprocess.run(
            hosts.hosts[0].command(command), env=mpi.environ(**variables),
            capture_output=True, text=True, timeout=90, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ok") == RANKS
    # Only within an allocation it is known how many nodes there are: two below the root.
    fan_out = HOSTS - 1 if starter == "mpiexec" else 8
    assert f"--monitor: fan-out={fan_out}: " in done.stderr
    options = json.loads((run / "meta.json").read_text())["options"]
    assert options["monitor"] == f"{spec.removeprefix('--monitor=')},fan-out={fan_out}"
    (file,) = run.glob("monitor-*.tare")
    found = list(RoundFile(file).read())
    assert [made.round for made in found] == list(range(1, COUNT + 1))
    assert all(str(made.ranks) == f"0-{RANKS - 1}" and not made.lost for made in found)
    told = ask(tare, "info", run, "--json", check=True)
    assert json.loads(told.stdout)["hosts"] == [f"node{i}" for i in range(HOSTS)]
