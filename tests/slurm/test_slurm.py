"""Jobs of Slurm: time limits, scancel, requeue, job arrays. A time limit is at least a minute long."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from environments import mpich4
from patience import wait_until
from slurm_jobs import HUNG, RANKS, Cluster, assert_all_or_told, slurm_of

QUERY = "SELECT count(*) AS n FROM events WHERE function = 'MPI_Sendrecv'"


@pytest.fixture(params=["linuxproc", "cgroup"])
def slurm(request: pytest.FixtureRequest, tare: Path, tmp_path: Path) -> Iterator[Cluster]:
    with slurm_of(mpich4(), tare, tmp_path, proctrack=request.param) as found:
        yield found


def test_srun_and_sbatch_record_all_nodes(slurm: Cluster) -> None:
    ring = slurm.program("ring")
    run = slurm.folder / "run"
    command = slurm.srun(ring, "20", str(slurm.folder / "begun"))
    measured = f"{slurm.tare} run --trace -o {slurm.folder}/%x-%j-%r -- {command}"
    job = slurm.submit(measured, "-J", "ring")
    assert slurm.wait_for_end(job) == {"COMPLETED"}
    srun = ["srun", "-n4", "-N2", "--mpi=pmi2", ring, "20", slurm.folder / "begun"]
    slurm.do(slurm.tare, "run", "--trace", "-o", run, "--", *srun)
    for each in (slurm.folder / f"ring-{job}-0", run):
        info = slurm.read(each, "info")
        assert info["hosts"] == ["node0", "node1"] and info["missing"] == []
        assert {row["state"] for row in info["ranks"]} == {"finished"}
        for host in range(2):
            efficiency = slurm.read(each, "profile", host)["efficiency"][0]
            assert (efficiency["ranks"], efficiency["size"]) == (RANKS, RANKS)
        sends = slurm.do(
            slurm.tare, "sql", each, QUERY, "--csv"
        )  # fmt: skip
        assert sends.stdout.split()[1] == str(20 * RANKS)


def test_cancelled(slurm: Cluster) -> None:
    run = slurm.folder / "run"
    command = slurm.srun(slurm.program("waiting"), "receive")
    job = slurm.submit(f"{slurm.tare} run --trace -o {run} -- {command}")
    wait_until(lambda: slurm.inside(run) == set(range(RANKS)))
    slurm.do("scancel", job)
    assert slurm.wait_for_end(job) == {"CANCELLED"}
    assert_all_or_told(slurm, run, HUNG)


def test_the_time_limit_kills_ranks_that_ignore_sigterm(slurm: Cluster) -> None:
    """SIGTERM to all, and KillWait later SIGKILL to all, `tare run` among them."""
    run = slurm.folder / "run"
    command = f"srun --mpi=pmi2 env --ignore-signal=TERM {slurm.program('waiting')} receive"
    job = slurm.submit(f"{slurm.tare} run -o {run} -- {command}", "--time=1")
    assert slurm.wait_for_end(job) == {"TIMEOUT"}
    if slurm.proctrack == "cgroup":  # the keeper was killed with the ranks, and nothing told it before
        told = slurm.do(slurm.tare, "info", run)
        assert "ranks 2-3 of 4 are missing: their results have not come from node1" in " ".join(
            told.stdout.split()
        )
    else:
        slurm.do(slurm.tare, "recover", run)
    assert_all_or_told(slurm, run, HUNG)


def test_a_requeued_job_runs_into_a_new_directory(slurm: Cluster) -> None:
    waiting = slurm.program("waiting")
    command = slurm.srun(waiting, "receive")
    job = slurm.submit(f"exec {slurm.tare} run -o {slurm.folder}/run-%j-%r -- {command}", "--requeue")
    first = slurm.folder / f"run-{job}-0"
    wait_until(lambda: slurm.inside(first) == set(range(RANKS)))
    slurm.do("scontrol", "requeue", job)
    slurm.start_again(job)
    second = slurm.folder / f"run-{job}-1"
    wait_until(lambda: slurm.inside(second) == set(range(RANKS)))
    slurm.do("scancel", job)
    assert slurm.wait_for_end(job) == {"CANCELLED"}
    for run in (first, second):
        slurm.do(slurm.tare, "recover", run)
        assert_all_or_told(slurm, run, HUNG)


def test_jobs_of_an_array_have_a_directory_each(slurm: Cluster) -> None:
    begun = slurm.folder / "begun"
    command = slurm.srun(slurm.program("ring"), "5", str(begun))
    job = slurm.submit(f"{slurm.tare} run -o {slurm.folder}/run-%A-%a -- {command}", "--array=3-4")
    assert slurm.wait_for_end(job) == {"COMPLETED"}
    for index in (3, 4):
        info = slurm.read(slurm.folder / f"run-{job}-{index}", "info")
        assert [row["rank"] for row in info["ranks"]] == list(range(RANKS)) and info["missing"] == []
