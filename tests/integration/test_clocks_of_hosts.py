"""Hosts whose clocks tell other times than those of the host of `tare run`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from environments import compile_c, mpich4
from measured import PROGRAMS
from two_hosts import PATIENCE_S, RANKS, Job, job_of, words

pytestmark = pytest.mark.long  # it waits for what hosts do each few seconds

SHIFT_S = 30
# What is preloaded on the second host.
CLOCK = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec* time) {
  const int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec += SHIFT_S;
  return result;
}
"""
ON_THE_SECOND = """#!/bin/sh
if [ "$(hostname)" = node1 ]; then export LD_PRELOAD="$LD_PRELOAD:{library}"; fi
exec "$@"
"""


@pytest.fixture(params=[SHIFT_S, -SHIFT_S])
def shifted(request: pytest.FixtureRequest, tare: Path, tmp_path: Path) -> Iterator[Job]:
    """Its program starts another one, on the second host with the other clock."""
    (tmp_path / "clock.c").write_text(CLOCK)
    library = tmp_path / "clock.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", f"-DSHIFT_S={request.param}", "-o", library, tmp_path / "clock.c"],
        check=True,
    )
    starter = tmp_path / "starter"
    starter.write_text(ON_THE_SECOND.format(library=library))
    starter.chmod(0o755)
    with job_of(mpich4(), tare, tmp_path) as job:
        yield replace(job, program=starter)


def test_clocks_that_differ_are_told_and_corrected(shifted: Job) -> None:
    ring = compile_c(shifted.mpi, [PROGRAMS / "ring.c"], shifted.program.parent / "ring")
    command = [*shifted.command("-q", "--trace")[:-1], str(ring), "20", str(shifted.program.parent / "begun")]
    subprocess.run(command, env=shifted.mpi.environ(), timeout=PATIENCE_S, check=True)
    query = "FROM clock_violations"
    violations = json.loads(shifted.do(shifted.here, "sql", query, "--json").stdout)["rows"]
    assert violations and all(SHIFT_S - 1 < row["most_ns"] / 1e9 < SHIFT_S for row in violations)
    told = "The clocks of two ranks disagree by 30.0 s at least"
    assert told in words(shifted.do(shifted.here, "explain"))
    corrected = words(shifted.do(shifted.here, "explain", "--times", "corrected"))
    assert "Clocks are corrected, by at most 30.0 s" in corrected and told not in corrected
    query = "SELECT count(*) > 0 AS any FROM messages WHERE receive_completion_leave_ns < send_enter_ns"
    for times, early in (("recorded", True), ("corrected", False)):
        rows = json.loads(shifted.do(shifted.here, "sql", query, "--times", times, "--json").stdout)["rows"]
        assert rows == [{"any": early}]
    assert all(0 < row["net_ns"] / 1e9 < SHIFT_S for row in shifted.read("info")["ranks"])


def test_what_a_rank_does_is_as_old_as_its_own_clock_says(shifted: Job) -> None:
    waiting = compile_c(shifted.mpi, [PROGRAMS / "waiting.c"], shifted.program.parent / "waiting")
    command = [*shifted.command("-q")[:-1], str(waiting), "receive"]
    shifted.start(command)
    for host in (shifted.here, shifted.there):
        rows = shifted.where(host)
        assert len(rows) == RANKS and all(0.3 < row["for_ns"] / 1e9 < SHIFT_S for row in rows)
        shift_ns = sorted(row["since_ns"] for row in rows)
        assert SHIFT_S - 1 < (shift_ns[-1] - shift_ns[0]) / 1e9 < SHIFT_S + 1, (
            "they are as each host has them"
        )
        assert "Deadlock: ranks 0-1 wait for each other" in words(shifted.do(host, "where"))
