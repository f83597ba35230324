"""Open MPI under `srun --mpi=pmix`, without a launcher of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from environments import openmpi4
from hosts import NETWORK
from patience import wait_until
from slurm_jobs import HUNG, RANKS, assert_all_or_told, slurm_of


@pytest.mark.parametrize("proctrack", ["linuxproc", "cgroup"])
def test_srun_starts_the_ranks_by_pmix(
    proctrack: str, tare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMPI_MCA_btl_tcp_if_include", NETWORK)
    with slurm_of(openmpi4(), tare, tmp_path, proctrack=proctrack, mpi_type="pmix") as slurm:
        ring = slurm.srun(slurm.program("ring"), "20", str(tmp_path / "begun"))
        job = slurm.submit(f"{tare} run -o {tmp_path}/ended -- {ring}")
        assert slurm.wait_for_end(job) == {"COMPLETED"}
        info = slurm.read(tmp_path / "ended", "info")
        assert info["hosts"] == ["node0", "node1"] and info["missing"] == []
        assert [row["rank"] for row in info["ranks"]] == list(range(RANKS))
        assert {row["state"] for row in info["ranks"]} == {"finished"}

        run = tmp_path / "run"
        hung = slurm.srun(slurm.program("waiting"), "receive")
        job = slurm.submit(f"{tare} run -o {run} -- {hung}")
        wait_until(lambda: slurm.inside(run) == set(range(RANKS)))
        slurm.do("scancel", job)
        assert slurm.wait_for_end(job) == {"CANCELLED"}
        assert_all_or_told(slurm, run, HUNG)
