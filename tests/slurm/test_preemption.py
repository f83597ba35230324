"""Jobs of Slurm that a more urgent one puts aside, to be run again (REQUEUE) or for good (CANCEL)."""

from __future__ import annotations

from pathlib import Path

import pytest
from environments import mpich4
from patience import wait_until
from slurm_jobs import HUNG, RANKS, assert_all_or_told, slurm_of

PARTITIONS = """
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=patient Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode={mode}
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=2
"""


@pytest.mark.parametrize("mode", ["REQUEUE", "CANCEL"])
@pytest.mark.parametrize("proctrack", ["linuxproc", "cgroup"])
def test_a_job_that_is_put_aside_loses_nothing(proctrack: str, mode: str, tare: Path, tmp_path: Path) -> None:
    more = PARTITIONS.format(mode=mode)
    with slurm_of(mpich4(), tare, tmp_path, proctrack=proctrack, more=more) as slurm:
        hung = slurm.srun(slurm.program("waiting"), "receive")
        job = slurm.submit(f"{tare} run -o {tmp_path}/run-%j-%r -- {hung}", "-p", "patient", "--requeue")
        runs = [tmp_path / f"run-{job}-0"]
        wait_until(lambda: slurm.inside(runs[0]) == set(range(RANKS)))
        ring = slurm.srun(slurm.program("ring"), "5", str(tmp_path / "begun"))
        urgent = slurm.submit(f"{tare} run -o {tmp_path}/urgent -- {ring}", "-p", "urgent")
        assert slurm.wait_for_end(urgent) == {"COMPLETED"}
        if mode == "REQUEUE":
            slurm.start_again(job)
            runs.append(tmp_path / f"run-{job}-1")
            wait_until(lambda: slurm.inside(runs[1]) == set(range(RANKS)))
            slurm.do("scancel", job)
            assert slurm.wait_for_end(job) == {"CANCELLED"}
        else:
            assert slurm.wait_for_end(job) == {"PREEMPTED"}
        for run in runs:
            slurm.do(tare, "recover", run)
            assert_all_or_told(slurm, run, HUNG)
        assert slurm.read(tmp_path / "urgent", "info")["missing"] == []
