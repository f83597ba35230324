"""Ranks of which a run holds nothing (runs/missing.py)."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from made import made
from some_run import metadata
from tare._native import Process
from tare.errors import CommandError
from tare.runs import missing
from tare.runs.asking import RUNNER, Answers
from tare.runs.metadata import Launched, Missing, Runner, Unseen, decode, encode

OF_MPMD = [Missing(world=0, size=3, ranks=[(1, 2)])]


def row(first: int, last: int, *, size: int = 9, host: str | None = None, world: int = 0) -> Any:
    return SimpleNamespace(world=world, first_rank=first, last_rank=last, size=size, host=host)


def said_of(
    found: list[Missing],
    *,
    unranked: int = 0,
    is_going_on: bool = False,
    answers: Answers | None = None,
    searched: Sequence[str] = (),
    saved: Sequence[Missing] = (),
    processes: Sequence[Process] = (),
    living: Sequence[Missing] = (),
    has_keepers: bool = False,
    member: str = "",
    **given: Any,
) -> list[str]:
    of = SimpleNamespace(
        missing=found,
        saved=saved,
        has_keepers=has_keepers,
        meta=metadata(**given),
        run_dir=Path("/a run"),
        processes=[*processes, *[made(Process, rank=-1)] * unranked],
        is_going_on=is_going_on,
        answers=answers,
        member=member,
    )
    return missing.sentences(cast(Any, of), searched, living)


def test_rows_are_one_for_each_world_and_host() -> None:
    rows = [
        row(0, 1),
        row(2, 2, host="a"),
        row(3, 3, host="b"),
        row(5, 6, host="a"),
        row(0, 0, world=1, size=1),
    ]
    found = missing.find(rows)
    assert found == [
        Missing(world=0, size=9, ranks=[(0, 1)]),
        Missing(world=0, size=9, ranks=[(2, 2), (5, 6)], host="a"),
        Missing(world=0, size=9, ranks=[(3, 3)], host="b"),
        Missing(world=1, size=1, ranks=[(0, 0)]),
    ]
    assert missing.count(found) == 7
    assert said_of(found)[3].startswith("rank 0 of 1 of world 1 is missing: ")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            {"launched": Launched(variable="PMI_RANK", rank=0, size=3)},
            "a launcher has started `tare run` itself, as rank 0 of 3 (PMI_RANK)",
        ),
        (
            {"unseen": [Unseen(reason="static", executable="/a")]},
            "they called MPI unseen by tare, as is said of them",
        ),
        ({"command": ["mpirun", "-n", "1", "a", ":", "-n", "2", "env", "-i", "a"]}, "`env -i`"),
        ({"command": ["mpirun", "/bin/env", "-u", "LD_PRELOAD", "a"]}, "`/bin/env -u LD_PRELOAD`"),
        ({"command": ["mpirun", "env", "LD_PRELOAD=/my.so", "a"]}, "`LD_PRELOAD=/my.so`"),
        ({"command": ["mpirun", "env", "-u", "HOME", "a"]}, "they probably started without"),
        ({"exit_code": 0}, "they probably started without tare's environment"),
        ({"exit_code": 0, "unranked": 2}, "they probably started without tare's environment"),
        ({"exit_code": 1}, "`tare recover '/a run'`"),
        (
            {"exit_code": 1, "unranked": 2},
            "they may be among the 2 processes that ended before they had left",
        ),
        ({"exit_code": 1, "unranked": 1}, "`tare recover '/a run'`"),
        ({"is_going_on": True}, "what ranks record on another host is read there"),
    ],
)
def test_the_likely_cause_is_said(given: dict[str, Any], why: str) -> None:
    (said,) = said_of(OF_MPMD, **given)
    assert said.startswith("ranks 1-2 of 3 are missing: ")
    assert why in said


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (
            {"unseen": [Unseen(reason="static", executable="/a")]},
            "it called MPI unseen by tare, as is said of it",
        ),
        ({"command": ["mpirun", "env", "-i", "a"]}, "tare's environment (LD_PRELOAD, TARE_*) from it"),
        ({"exit_code": 0}, "it probably started without"),
        ({"exit_code": 1}, "it ended before it had left MPI_Init, where `tare run` does not see its memory"),
        (
            {"exit_code": 1, "unranked": 2},
            "it may be among the 2 processes that ended before they had left MPI_Init",
        ),
        ({"exit_code": 1, "unranked": 1}, "it may be the process that ended before it had left MPI_Init"),
    ],
)
def test_of_one_rank_that_is_missing_sentences_say_it(given: dict[str, Any], why: str) -> None:
    (said,) = said_of([Missing(world=0, size=3, ranks=[(1, 1)])], **given)
    assert said.startswith("rank 1 of 3 is missing: ")
    assert why in said
    assert " them" not in said and " they p" not in said


def test_of_open_mpi_it_is_known_what_it_does_not_hand_on() -> None:
    command = ["mpirun", "-x", "A", "-x", "B", "--host", "n1:2,n2:2", "-n", "4", "a"]
    here = [made(Process, rank=rank, mpi="Open MPI v4.1.4") for rank in (0, 1)]
    (said,) = said_of(OF_MPMD, command=command, processes=here, exit_code=0)
    assert said == (
        "ranks 1-2 of 3 are missing: with `-x` in the command Open MPI does not hand tare's environment "
        '(LD_PRELOAD, TARE_*) on to other hosts; instead of `-x A -x B` set OMPI_MCA_mca_base_env_list="A;B"'
    )
    for guessed in ([*command[:1], *command[5:]], ["bash", *command]):
        (said,) = said_of(OF_MPMD, command=guessed, processes=here, exit_code=0)
        assert "they probably started without" in said
    (said,) = said_of(OF_MPMD, command=command, processes=[made(Process, mpi="MPICH 4.1")], exit_code=0)
    assert "they probably started without" in said


def test_where_they_ran_is_no_guess() -> None:
    """It is said whatever else may have happened; a name of a host comes from a file."""
    found = [Missing(world=0, size=2, ranks=[(1, 1)], host="n\x1b2")]
    (said,) = said_of(found, exit_code=0, command=["env", "-i", "a"])
    assert said == (
        "rank 1 of 2 is missing: its results have not come from n\\x1b2; "
        "`tare recover '/a run'` there takes what is left, or from here "
        "`tare recover '/a run' --launch 'ssh {host}'`"
    )
    (said,) = said_of(found, environment={"SLURM_JOB_ID": "7"})
    assert said.endswith(
        "or from here `tare recover '/a run' --launch 'srun -w {hosts} --ntasks-per-node=1'`"
    )
    (said,) = said_of(found, host="n\x1b2")
    assert (
        "come from a container, with a /dev/shm of its own, on n\\x1b2; `tare recover '/a run'` there" in said
    )
    (said,) = said_of(found, is_going_on=True)
    assert "what ranks record on n\\x1b2 is read there" in said


def test_of_the_host_of_tare_run_the_name_is_known() -> None:
    """The ranks there write nothing while they run: on other hosts nobody says where they are."""
    elsewhere = Runner(pid=7, start_ticks=1, machine="fedcba9876543210")
    (said,) = said_of(OF_MPMD, is_going_on=True, host="n0", runner=elsewhere)
    assert "missing: what ranks record on n0 is read there" in said
    here = Runner(pid=7, start_ticks=1)
    (said,) = said_of(OF_MPMD, is_going_on=True, host=os.uname().nodename, runner=here)
    assert "missing: what ranks record on another host is read there" in said


def test_who_was_asked_in_vain_is_said() -> None:
    found = [Missing(world=0, size=2, ranks=[(1, 1)], host="n2")]
    (said,) = said_of(found, is_going_on=True, answers=Answers(silent=["n2"]))
    assert said == (
        "rank 1 of 2 is missing: nobody on n2 has answered; `tare where '/a run'` there shows its own"
    )
    (said,) = said_of(
        found,
        is_going_on=True,
        answers=Answers(obstacle="Permission denied"),
        environment={"SLURM_JOB_ID": "7"},
    )
    assert (
        "missing: n2 cannot be asked (Permission denied); `tare where '/a run'` there shows its own" in said
    )
    assert said.endswith(", or from here `srun --jobid=7 --overlap -w n2 -n1 tare where '/a run'`")
    # A run may come from elsewhere.
    (said,) = said_of(
        found, is_going_on=True, answers=Answers(silent=["n2"]), environment={"SLURM_JOB_ID": "7 x"}
    )
    assert "srun" not in said
    silent = Answers(silent=[RUNNER])
    (said,) = said_of(OF_MPMD, is_going_on=True, answers=silent, host="n1")
    assert "ranks 1-2 of 3 are missing: nobody on n1 has answered" in said
    (said,) = said_of([], is_going_on=True, answers=silent, host="n1")
    assert said.startswith("ranks of n1, if there are any, are missing: nobody on n1 has answered")
    assert said_of([], is_going_on=True, answers=Answers()) == []


def test_nobody_is_sent_where_nothing_was_left() -> None:
    found = [Missing(world=0, size=2, ranks=[(1, 1)], host="n2")]
    (said,) = said_of(found, searched=["n2"])
    lost = "nothing of it is left on n2: its /dev/shm was emptied, or it has restarted"
    assert said == f"rank 1 of 2 is missing: {lost}"
    (said,) = said_of(found, searched=["n3"])
    assert lost not in said
    (said,) = said_of(found, searched=["n2"], host="n2")
    assert lost not in said, "it was a container of that host"


def test_what_was_saved_of_living_ranks_is_not_all() -> None:
    found = [Missing(world=0, size=4, ranks=[(1, 2)], host="n2")]
    (said,) = said_of([], saved=found)
    assert said == (
        "ranks 1-2 of 4 were saved while they ran: the rest has not come from n2; "
        "`tare recover '/a run'` there takes what is left, or from here "
        "`tare recover '/a run' --launch 'ssh {host}'`"
    )
    (said,) = said_of([], saved=found, searched=["n2"])
    assert said == (
        "ranks 1-2 of 4 were saved while they ran: the rest is lost; "
        "nothing of them is left on n2: its /dev/shm was emptied, or it has restarted"
    )
    (said,) = said_of([], saved=found, is_going_on=True)
    assert said.startswith("ranks 1-2 of 4 were saved while they ran: what ranks record on n2 is read there")
    (said,) = said_of([], saved=[Missing(world=1, size=2, ranks=[(1, 1)], host="n2")])
    assert said.startswith("rank 1 of 2 of world 1 was saved while it ran: the rest has not come from n2; ")


def test_who_still_runs_is_not_lost() -> None:
    """`tare run` is gone, and keepers of other hosts have answered."""
    found = [Missing(world=0, size=4, ranks=[(3, 3)], host="n3")]
    on_n2 = [made(Process, world=0, rank=rank, size=4, host="n2", state="running") for rank in (1, 2)]
    still = "ranks 1-2 of 4 still run on n2, where a keeper collects what is left when they end"
    lines = said_of(found, processes=on_n2, answers=Answers(silent=["n3"]))
    assert lines[0] == still
    assert [line.partition(";")[0] for line in lines[1:]] == [
        "rank 3 of 4 is missing: its results have not come from n3"
    ]
    living = [Missing(world=0, size=4, ranks=[(1, 2)], host="n2")]
    also = [*found, Missing(world=0, size=4, ranks=[(1, 2)], host="n2")]
    first, second = said_of(also, living=living, searched=["n3"])
    assert first == still and second.startswith("rank 3 of 4 is missing: nothing of it is left on n3:")
    assert still not in said_of([], processes=on_n2, is_going_on=True, answers=Answers())
    (said,) = said_of(found, has_keepers=True)
    assert said.endswith("; or they still run there: `tare where '/a run'` asks")


def test_results_may_lie_where_the_run_directory_cannot_be_written() -> None:
    (said,) = said_of(OF_MPMD, exit_code=0)
    assert "cannot be written there: then their results lie in /dev/shm there" in said
    assert said.endswith("`tare recover '/a run'` there takes those when it can be written")


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, None),
        ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "2"},
         Launched(variable="OMPI_COMM_WORLD_RANK", rank=2, size=4)),
        ({"PMI_RANK": "0", "PMI_SIZE": "3"}, Launched(variable="PMI_RANK", rank=0, size=3)),
        ({"PMIX_RANK": "1"}, Launched(variable="PMIX_RANK", rank=1, size=None)),
        ({"PMI_RANK": "x", "PMIX_RANK": "9" * 400}, None),
    ],
)  # fmt: skip
def test_a_launcher_tells_what_it_starts(environment: dict[str, str], found: Launched | None) -> None:
    assert missing.launched(environment) == found


def test_meta_json_keeps_it() -> None:
    meta = metadata(missing=OF_MPMD, launched=Launched(variable="PMI_RANK", rank=0, size=3))
    assert decode(encode(meta), "r", meta.format) == meta
    for ranks in ([5, 2], [0, 3], [-1, 2]):
        damaged = json.loads(encode(meta))
        damaged["missing"][0]["ranks"] = [ranks]
        with pytest.raises(CommandError, match="damaged"):
            decode(json.dumps(damaged).encode(), "r", meta.format)


def test_an_archive_is_taken_apart_before_its_runs_are_recovered() -> None:
    (line,) = said_of([Missing(world=0, size=4, ranks=[(2, 3)], host="node1")], member="a-run")
    assert line.endswith("`tare split '/a run'`, and `tare recover` of its runs, there takes what is left")
    assert "--launch" not in line
