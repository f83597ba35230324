"""Ranks that were started together, but do not belong together, are told as what they are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tare.analysis.ranks import apart
from tare.reporters import summary


def process(start_ns: int, rank: int = 0, size: int = 1, wall_ns: int = 1000) -> SimpleNamespace:
    return SimpleNamespace(
        rank=rank, size=size, mpi="Open MPI v4.1.4, package: x", start_ns=start_ns, wall_ns=wall_ns
    )


def run(command: str, *processes: SimpleNamespace) -> Any:
    return cast(Any, SimpleNamespace(processes=processes, meta=SimpleNamespace(command=[command])))


def test_jobs_of_one_rank_each_that_a_launcher_has_started() -> None:
    of = run("/usr/bin/mpiexec.mpich", process(0), process(10))
    assert apart(of) == 2
    assert summary.apart(of, 2) == (
        "2 jobs of one rank each: Open MPI v4.1.4 does not seem to know the launcher, mpiexec.mpich"
    )


@pytest.mark.parametrize(
    ("command", "processes"),
    [
        ("mpiexec", [process(0)]),
        ("mpiexec", [process(0, 0, 2), process(0, 1, 2)]),
        ("mpiexec", [process(0), process(2000)]),  # one after the other, of a script
        ("mpiexec", [process(0), process(10, -1, -1)]),
        ("./starts_several.sh", [process(0), process(10)]),
    ],
)
def test_others_are_not(command: str, processes: list[SimpleNamespace]) -> None:
    assert apart(run(command, *processes)) == 0
