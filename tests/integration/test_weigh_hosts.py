"""`tare run --weigh` of ranks on several hosts that exchange messages and seldom meet."""

from __future__ import annotations

import subprocess
from pathlib import Path

from environments import compile_c, mpich4
from measured import PROGRAMS
from two_hosts import PATIENCE_S, job_of


def test_hosts_have_timed_spells_of_their_own(tare: Path, tmp_path: Path) -> None:
    with job_of(mpich4(), tare, tmp_path) as job:
        program = compile_c(job.mpi, [PROGRAMS / "neighbours.c"], tmp_path / "neighbours")
        command = [*job.command("-q", "--weigh", on=(1, 1))[:-2], str(program), "4"]
        subprocess.run(command, env=job.mpi.environ(), timeout=PATIENCE_S, check=True)
        trial = job.read("info")["trial"]
        assert trial["overhead"] is None
        assert trial["why"] == "ranks of several nodes, which seldom meet"
