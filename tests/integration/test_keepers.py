"""Ranks that were killed on a host without `tare run`: a keeper there writes what they have left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from environments import compile_c
from measured import PROGRAMS
from patience import wait_until
from two_hosts import MPIS, PATIENCE_S, RANKS, Job, job_of, words


@pytest.fixture(params=MPIS, ids=lambda env: env.name)
def job(request: pytest.FixtureRequest, tare: Path, tmp_path: Path) -> Iterator[Job]:
    with job_of(request.param, tare, tmp_path) as made:
        yield made


def nothing_is_left(job: Job) -> None:
    wait_until(lambda: not job.keepers(job.there))
    assert job.segments(job.there) == ""
    assert list(job.run.glob(".keeping-*")) == []


@pytest.mark.parametrize("options", [(), ("--trace",)], ids=["profile", "trace"])
def test_killed_ranks_of_another_host_are_collected(job: Job, options: tuple[str, ...]) -> None:
    running = job.start(job.command(*options))
    assert job.keepers(job.here) == [], "tare run itself is there"
    (keeper,) = job.keepers(job.there)
    assert os.getsid(keeper) not in {os.getsid(rank) for rank in job.ranks(job.there)}
    job.kill()
    said = " ".join(running.communicate(timeout=PATIENCE_S)[1].split())
    assert "ranks 4 on 2 hosts, 4 killed" in said
    assert "missing" not in said and "(all ranks)" in said
    info = job.read("info")
    assert info["missing"] == []
    assert {row["rank"]: row["calls"] for row in info["ranks"]} == dict.fromkeys(range(RANKS), 3)
    assert {row["state"] for row in info["ranks"]} == {"killed"}
    if options:
        assert {row["trace"]["records"] for row in info["ranks"]} == {1}, "that of MPI_Init"
    blocked = {row["rank"]: row["function"] for row in job.where(job.here)}
    assert blocked == dict.fromkeys(range(RANKS), "MPI_Barrier") | {1: "MPI_Recv"}
    nothing_is_left(job)


def test_a_job_that_dies_with_tare_run_itself(job: Job) -> None:
    """Only what was on the host of `tare run` has nobody who collects it."""
    running = job.start(job.command("-q"))
    job.kill(json.loads((job.run / "meta.json").read_text("utf-8"))["runner"]["pid"])
    running.communicate(timeout=PATIENCE_S)
    nothing_is_left(job)
    assert job.sentence("0-1", "node0") in words(job.do(job.there, "info"))
    recovered = words(job.do(job.there, "recover", "--launch", f"{job.hosts.launcher} {{host}}"))
    assert "node0: took over 2 processes" in recovered and "are missing" not in recovered
    assert [row["rank"] for row in job.read("info")["ranks"]] == list(range(RANKS))


def saves_twice(job: Job) -> int:
    """Sends SIGTERM to the keeper there: it saves, and once more as long as the ranks live. Its PID."""
    (keeper,) = job.keepers(job.there)
    written = job.run / "node1.tare"
    wait_until(written.exists)  # the keeper makes it when it begins
    before = written.stat().st_size
    os.kill(keeper, signal.SIGTERM)
    wait_until(lambda: written.stat().st_size > before)
    size = written.stat().st_size
    wait_until(lambda: written.stat().st_size > size)
    return keeper


def test_what_sigterm_saves_is_there_if_all_are_killed_at_once(job: Job) -> None:
    """Slurm sends SIGTERM, and later SIGKILL to all processes of the step."""
    running = job.start(job.command("-q"))
    keeper = saves_twice(job)
    assert job.keepers(job.there) == [keeper]
    assert "2 running" in words(job.do(job.here, "info")), "of the others it is not known here"
    job.kill_with_keepers()
    running.communicate(timeout=PATIENCE_S)
    info = job.read("info")
    assert info["missing"] == []
    assert {row["rank"]: row["calls"] for row in info["ranks"]} == dict.fromkeys(range(RANKS), 3)
    ends = {row["rank"]: (row["state"], row["saved"]) for row in info["ranks"]}
    assert ends == dict.fromkeys((0, 1), ("killed", False)) | dict.fromkeys((2, 3), ("unknown", True))
    assert {row["until"] for row in info["ranks"] if row["rank"] >= 2} == {"last_seen"}
    # They hung when they were saved, and may have gone on since.
    assert {row["rank"]: row["saved"] for row in job.where(job.here)} == {
        0: False,
        1: False,
        2: True,
        3: True,
    }
    told = words(job.do(job.here, "where"))
    assert "ranks 2-3 unknown whether it runs; last saved in MPI_Barrier" in told
    assert "running for" not in told, told
    assert "Deadlock: ranks 0-1 wait for each other" in told, told
    assert "first end" not in words(job.do(job.here, "info"))
    assert words(job.do(job.here, "explain")).startswith("1. Deadlock: ranks 0-1 wait for ever")
    # What they have recorded since can still be had there, and is not counted twice.
    assert saved_on_node1(job) in info["warnings"]
    assert saved_on_node1(job) in words(job.do(job.here, "recover"))
    recovered = words(job.do(job.there, "recover"))
    assert "took over 2 processes" in recovered and "were saved" not in recovered
    info = job.read("info")
    assert {row["rank"]: row["calls"] for row in info["ranks"]} == dict.fromkeys(range(RANKS), 3)
    assert "were saved" not in " ".join(info["warnings"])


def saved_on_node1(job: Job) -> str:
    """What is said of the ranks there as long as nobody has fetched the rest."""
    told = "ranks 2-3 of 4 were saved while they ran: the rest has not come from node1; "
    return told + job.sentence().partition("; ")[2]


def test_what_sigterm_saves_goes_as_far_as_it_was_seen(job: Job) -> None:
    """The ranks go on, in many calls, and die with the keeper a while later."""
    program = compile_c(job.mpi, [PROGRAMS / "killed.c"], job.program.parent / "killed")
    running = replace(job, program=program)
    begun = subprocess.Popen(
        [*running.command()[:-2], str(program), "forever", str(job.run.parent / "calls")],
        env=job.mpi.environ(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_until(lambda: job.keepers(job.there) and (job.run / "node1.tare").exists(), PATIENCE_S, begun)
    saves_twice(job)
    running.kill_with_keepers()
    said = " ".join(begun.communicate(timeout=PATIENCE_S)[1].split())
    assert saved_on_node1(job) in said
    saved = {row["rank"]: row for row in job.read("info")["ranks"]}
    for rank in (2, 3):
        assert saved[rank]["net_ns"] > saved[rank]["mpi_ns"] > 0
    launcher = f"{job.hosts.launcher} {{host}}"
    assert "node1: took over 2 processes" in words(job.do(job.here, "recover", "--launch", launcher))
    whole = {row["rank"]: row for row in job.read("info")["ranks"]}
    assert all(whole[rank]["calls"] >= saved[rank]["calls"] for rank in (2, 3))


def test_keepers_answer_when_tare_run_is_gone(job: Job) -> None:
    """The ranks live on: nothing of them is lost, whatever is recovered meanwhile."""
    running = job.start(job.command("-q"))
    os.kill(json.loads((job.run / "meta.json").read_text("utf-8"))["runner"]["pid"], signal.SIGKILL)
    running.wait()
    still = "ranks 2-3 of 4 still run on node1, where a keeper collects what is left when they end"
    assert f"`tare where {job.run}` asks" in words(job.do(job.here, "info"))
    for _ in range(2):
        told = words(job.do(job.here, "where"))
        assert still in told and "missing" not in told
        inside = {row["rank"]: row["function"] for row in job.where(job.here) if row["state"] == "running"}
        assert inside == dict.fromkeys(range(RANKS), "MPI_Barrier") | {1: "MPI_Recv"}
        recovered = words(job.do(job.here, "recover"))
        assert still in recovered and "results have not come from" not in recovered
        wait_until(lambda: list(job.run.glob(".keeping-*")))  # recover has removed it
    job.kill()
    nothing_is_left(job)
    assert "took over 2 processes" in words(job.do(job.here, "recover"))
    info = job.read("info")
    assert info["warnings"] == [] and info["missing"] == []
    assert [row["rank"] for row in info["ranks"]] == list(range(RANKS))


@pytest.mark.parametrize("why", ["its file system is read-only", "there is no such directory"])
def test_a_run_directory_that_cannot_be_written_there(job: Job, why: str) -> None:
    """What is recorded there stays in its memory, and all say how it can be had."""
    program = compile_c(job.mpi, [PROGRAMS / "ring.c"], job.program.parent / "ring")
    job = replace(job, program=program, run=job.run.parent / "apart" / "run")
    job.run.mkdir(parents=True)
    mounted = job.run if "read-only" in why else job.run.parent
    mount = f"mount --bind {mounted} {mounted} && mount -o remount,bind,ro {mounted}"
    script = mount if "read-only" in why else f"mount -t tmpfs tmpfs {mounted}"
    subprocess.run(job.there.command(["sh", "-c", script]), check=True)
    command = [*job.command()[:-1], "20", str(job.program.parent / "begun")]
    done = subprocess.run(
        command, env=job.mpi.environ(), capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    said = words(done)
    assert done.returncode == 0, said
    there = f"tare: node1: cannot write to {job.run} ({why}): until it can be written there, results stay in"
    assert said.count(there) == 1, said
    assert f"{there} /dev/shm of that host; then `tare recover {job.run}` there takes them" in said
    assert "ranks 2-3 of 4 are missing" in said and "their results lie in /dev/shm there" in said
    assert len(job.recording(job.there)) == 2
    for keeper in job.keepers(job.there):  # it tries for half a minute
        os.kill(keeper, signal.SIGKILL)
    # A keeper that was killed has the directory open until it is gone.
    wait_until(
        lambda: subprocess.run(job.there.command(["umount", str(mounted)])).returncode == 0, PATIENCE_S
    )
    assert "took over 2 processes" in words(job.do(job.there, "recover"))
    info = job.read("info")
    assert info["missing"] == [] and [row["rank"] for row in info["ranks"]] == list(range(RANKS))


def test_of_a_job_that_ends_by_itself_nothing_is_left(job: Job) -> None:
    program = compile_c(job.mpi, [PROGRAMS / "ring.c"], job.program.parent / "ring")
    command = replace(job, program=program).command("--trace")[:-1]
    command += ["20", str(job.run.parent / "begun")]
    done = subprocess.run(
        command, env=job.mpi.environ(), capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr
    nothing_is_left(job)
    assert {row["state"] for row in job.read("info")["ranks"]} == {"finished"}


def test_ranks_that_were_saved_and_end_by_themselves(job: Job) -> None:
    """Also if the keeper was killed alone: of the saves, and of the keeper, nothing is left."""
    program = compile_c(job.mpi, [PROGRAMS / "ring.c"], job.program.parent / "ring")
    begun = job.run.parent / "begun"
    command = replace(job, program=program).command("--keep", "last:500ms")[:-1]
    end = job.run.parent / "end"
    running = subprocess.Popen(
        [*command, "1000000", str(begun), str(end)],
        env=job.mpi.environ(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_until(lambda: begun.exists() and job.keepers(job.there), PATIENCE_S, running)
    os.kill(saves_twice(job), signal.SIGKILL)
    wait_until(lambda: not job.keepers(job.there), PATIENCE_S, running)
    end.touch()
    said = running.communicate(timeout=PATIENCE_S)[1]
    assert running.returncode == 0, said
    nothing_is_left(job)
    info = job.read("info")
    assert info["warnings"] == [] and info["missing"] == []
    assert {row["state"] for row in info["ranks"]} == {"finished"}
    assert [row for row in job.where(job.here) if row["function"]] == []
    rows = job.read("events")["rows"]
    last = max(row["start_ns"] for row in rows)
    assert {row["rank"] for row in rows} == set(range(RANKS))
    assert all(row["start_ns"] > last - 1e9 for row in rows)
