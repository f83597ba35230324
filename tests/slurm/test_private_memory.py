"""Jobs of Slurm with a /dev/shm and a /tmp of their own, which go at the end (job_container/tmpfs)."""

from __future__ import annotations

from pathlib import Path

import pytest
from environments import mpich4
from patience import wait_until
from slurm_jobs import HUNG, RANKS, left, slurm_of

# The tests' own files are below /tmp: the job sees them at another place.
PLACE = "/mnt"
PRIVATE = f"""
JobContainerType=job_container/tmpfs
PrologFlags=Contain
SlurmdSpoolDir={PLACE}/spool-%n
"""


@pytest.mark.parametrize("proctrack", ["linuxproc", "cgroup"])
def test_a_job_with_a_memory_of_its_own_loses_nothing(proctrack: str, tare: Path, tmp_path: Path) -> None:
    (tmp_path / "job_container.conf").write_text("AutoBasePath=true\nBasePath=/srv\n")
    mounts = f"mount -t tmpfs tmpfs /srv && mount --bind {tmp_path} {PLACE}"
    with slurm_of(mpich4(), tare, tmp_path, proctrack=proctrack, more=PRIVATE, mounts=mounts) as slurm:
        waiting = slurm.program("waiting")
        command = f"{tare} run -o {PLACE}/run -- srun --mpi=pmi2 {PLACE}/{waiting.name} receive"
        script = f"SLURM_CONF={PLACE}/slurm.conf exec {command}"
        job = slurm.submit(script, "-D", PLACE, "-o", f"{PLACE}/job-%j.out")
        run = tmp_path / "run"

        wait_until(lambda: slurm.inside(run) == set(range(RANKS)))
        for host in slurm.hosts.hosts:
            assert left(host) == "", "the job has a memory of its own"
        slurm.do("scancel", job)
        assert slurm.wait_for_end(job) == {"CANCELLED"}
        info = slurm.read(run, "info")
        # With cgroup, Slurm may kill the keeper before it has written; then this is told.
        known = {row["rank"]: row["calls"] for row in info["ranks"]}
        assert known.items() <= HUNG.items()
        if proctrack == "linuxproc":
            assert known == HUNG and info["missing"] == []
        else:
            lost = {rank for each in info["missing"] for a, b in each["ranks"] for rank in range(a, b + 1)}
            assert lost == set(HUNG) - set(known)
