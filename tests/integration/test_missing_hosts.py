"""Ranks that were killed on a host together with its keeper: who misses them, and what brings them back."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from environments import compile_c
from measured import PROGRAMS
from patience import wait_until
from tare.page import content
from tare.runs.run import open_run
from two_hosts import MPIS, PATIENCE_S, RANKS, Job, job_of, words


@pytest.fixture(params=MPIS, ids=lambda env: env.name)
def job(request: pytest.FixtureRequest, tare: Path, tmp_path: Path) -> Iterator[Job]:
    with job_of(request.param, tare, tmp_path) as made:
        yield made


@pytest.mark.parametrize("options", [(), ("--trace",)], ids=["profile", "trace"])
def test_all_say_who_is_missing_until_the_other_host_is_recovered(job: Job, options: tuple[str, ...]) -> None:
    running = job.start(job.command(*options))
    told = words(job.do(job.here, "info"))
    assert "ranks 2 of 4 on 1 host, 2 running, 2 missing" in told
    assert "ranks 2-3 of 4 are missing: what ranks record on node1 is read there" in told
    told = words(job.do(job.there, "info"))
    assert "ranks 0-1 of 4 are missing: what ranks record on node0 is read there" in told
    job.kill_with_keepers()
    said = " ".join(running.communicate(timeout=PATIENCE_S)[1].split())
    assert job.sentence() in said
    assert "ranks 2 of 4 on 1 host, 2 killed, 2 missing" in said
    assert "Cost of measuring (2 of 4 ranks)" in said
    assert "(2 of 4 ranks)" in said and "(all ranks)" not in said
    for verb, more in (("info", ()), ("profile", ()), ("explain", ()), ("sql", ("SELECT * FROM ranks",))):
        assert job.sentence() in words(job.do(job.here, verb, *more)), verb
    assert "2 of 4 ranks, net time" in words(job.do(job.here, "profile"))
    row = {"world": 0, "size": 4, "ranks": [[2, 3]], "host": "node1"}
    assert job.read("info")["missing"] == [row]
    for verb in ("info", "explain"):
        assert job.sentence() in job.read(verb)["warnings"], verb
    (found,) = job.read("profile")["efficiency"]
    assert (found["ranks"], found["size"]) == (2, 4)
    export = job.do(job.here, "sql", "SELECT * FROM missing", "--csv").stdout
    assert list(csv.reader(io.StringIO(export)))[1] == ["0", "2", "3", "4", "node1"]
    assert job.sentence() in words(job.do(job.here, "report", "-o", job.run.parent / "page.html"))
    overview = content.of_run(open_run(job.run))["overview"]
    assert overview["missing"] == 2
    sentence = job.sentence()
    assert f"{sentence[0].upper()}{sentence[1:]}." in overview["notes"]

    # Where they are not, nothing changes, and it says where they are.
    assert job.sentence() in words(job.do(job.here, "recover"))
    recovered = words(job.do(job.there, "recover"))
    assert "took over 2 processes" in recovered and "are missing" not in recovered
    for verb in ("info", "profile", "explain"):
        assert "are missing" not in words(job.do(job.here, verb)), verb
    info = job.read("info")
    assert [row["rank"] for row in info["ranks"]] == list(range(RANKS))
    assert info["missing"] == [] and info["hosts"] == ["node0", "node1"]
    assert "(all ranks)" in words(job.do(job.here, "info"))
    assert job.read("profile")["efficiency"][0]["ranks"] == RANKS
    calls = {row["rank"]: row["calls"] for row in info["ranks"]}
    assert calls == dict.fromkeys(range(RANKS), 3), "each rank is there once, with its calls"


def test_a_job_that_dies_with_tare_run_itself(job: Job) -> None:
    """Nobody has written how it ended, as at the end of a batch job."""
    running = job.start(job.command("-q"))
    job.kill_with_keepers(json.loads((job.run / "meta.json").read_text("utf-8"))["runner"]["pid"])
    running.communicate(timeout=PATIENCE_S)
    # The segments of the first host can still be read there, but on no other.
    assert job.sentence() in words(job.do(job.here, "info"))
    assert "ranks 0-1 of 4 are missing" in words(job.do(job.there, "info"))
    assert job.sentence() in words(job.do(job.here, "recover"))
    assert "are missing" not in words(job.do(job.there, "profile"))
    assert job.sentence() in words(job.do(job.here, "profile"))
    assert "are missing" not in words(job.do(job.there, "recover"))
    assert [row["rank"] for row in job.read("info")["ranks"]] == list(range(RANKS))


def test_who_recovers_elsewhere_first_is_told_what_is_left(job: Job) -> None:
    running = job.start(job.command("-q"))
    job.kill_with_keepers(json.loads((job.run / "meta.json").read_text("utf-8"))["runner"]["pid"])
    running.communicate(timeout=PATIENCE_S)
    left = job.sentence("0-1", "node0")
    assert left in words(job.do(job.there, "recover"))
    assert left in words(job.do(job.there, "info"))
    failed = job.do(job.there, "recover", "--launch", "false {host}", check=False)
    assert failed.returncode == 1
    assert left in words(job.do(job.there, "info"))
    found = words(job.do(job.there, "recover", "--launch", f"{job.hosts.launcher} {{host}}"))
    assert "node0: took over 2 processes" in found and "are missing" not in found
    assert [row["rank"] for row in job.read("info")["ranks"]] == list(range(RANKS))


def test_a_run_that_goes_on_stays_as_it_is(job: Job) -> None:
    """Who recovers too early takes nothing from it, and hides nothing of it from other hosts."""
    running = job.start(job.command("-q"))
    meta = (job.run / "meta.json").read_bytes()
    names = {path.name for path in job.run.iterdir()}
    assert ".reserve" in names
    assert "2 processes still run; nothing of them was moved" in words(job.do(job.here, "recover"))
    assert {path.name for path in job.run.iterdir()} >= names
    assert (job.run / "meta.json").read_bytes() == meta
    job.do(job.there, "info")
    job.kill()
    running.communicate(timeout=PATIENCE_S)
    assert [row["rank"] for row in job.read("info")["ranks"]] == list(range(RANKS))


def test_all_ranks_are_elsewhere(job: Job) -> None:
    """It is not said that nobody has called MPI, on a login node, which has no rank."""
    running = job.start(job.command(on=(0, 4)))
    job.kill_with_keepers()
    said = " ".join(running.communicate(timeout=PATIENCE_S)[1].split())
    assert job.sentence("0-3") in said
    assert "no process" not in said
    assert "4 missing" in said
    for verb in ("info", "profile", "explain"):
        told = words(job.do(job.here, verb, check=False))
        assert job.sentence("0-3") in told and "no process" not in told, verb
    job.do(job.there, "recover")
    assert [row["rank"] for row in job.read("info")["ranks"]] == list(range(RANKS))


def test_what_a_killed_rank_has_flushed_is_not_all_of_it(job: Job) -> None:
    """Its trace is in the run directory as far as it was written before the kill; its profile is not."""
    program = compile_c(job.mpi, [PROGRAMS / "killed.c"], job.program.parent / "killed")
    forever = [str(program), "forever", str(job.run.parent / "calls")]
    running = replace(job, program=program)
    begun = subprocess.Popen(
        [*running.command("-q", "--trace", "--buffer", "64K")[:-2], *forever],
        env=job.mpi.environ(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    written = job.run / "node1.tare"
    wait_until(lambda: written.exists() and written.stat().st_size >= 200_000, PATIENCE_S, begun)
    running.kill_with_keepers()
    begun.communicate(timeout=PATIENCE_S)
    info = job.read("info")
    (missing,) = info["missing"]
    assert missing == {"world": 0, "size": 4, "ranks": [[2, 3]], "host": "node1"}
    partial = [row for row in info["ranks"] if not row["has_results"]]
    assert partial and {row["rank"] for row in partial} <= {2, 3}
    for row in partial:
        assert row["state"] == "unknown" and row["trace"]["records"] > 0 and row["calls"] == 0
    told = words(job.do(job.here, "info"))
    assert job.sentence() in told and "2 of 4 ranks" in told
    assert re.search(r"MPI share min [\d.]+ % \(rank [01]\), mean [\d.]+ %, max [\d.]+ % \(rank [01]\)", told)
    assert job.read("profile")["efficiency"][0]["ranks"] == 2
    before = {row["rank"]: row["trace"]["records"] for row in partial}
    job.do(job.there, "recover")
    info = job.read("info")
    assert info["missing"] == [] and all(row["has_results"] for row in info["ranks"])
    for row in info["ranks"]:
        # The records of flushes are no longer among them.
        records = row["trace"]["records"] + row["cost"]["flushes"]
        assert row["state"] == "killed" and records >= before.get(row["rank"], 1)
        assert row["calls"] > row["trace"]["records"] / 2


def test_one_command_recovers_all_hosts(job: Job) -> None:
    """Its launcher starts a command on all of them, or one on each."""
    running = job.start(job.command("-q"))
    job.kill_with_keepers()
    running.communicate(timeout=PATIENCE_S)
    failed = job.do(job.here, "recover", "--launch", "false {host}", check=False)
    assert (
        failed.returncode == 1
        and "-m tare recover --part" in failed.stderr
        and "(exit code 1)" in failed.stderr
    )
    assert job.sentence() in words(failed)
    launcher = [*job.mpi.mpiexec, *job.launcher("{hosts}:1"), "-n", "1"]
    recovered = words(job.do(job.here, "recover", "--launch", shlex.join(map(str, launcher))))
    assert "node1: took over 2 processes" in recovered and "are missing" not in recovered
    info = job.read("info")
    assert [row["rank"] for row in info["ranks"]] == list(range(RANKS)) and info["missing"] == []
    again = words(job.do(job.here, "recover", "--launch", "false {host}"))
    assert "took over 0 processes" in again, "no host is left to start anything on"
