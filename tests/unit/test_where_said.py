"""What `tare where` says of ranks and of deadlocks, on calls made by hand."""

from __future__ import annotations

from typing import Any

import fake_native
import pytest
from made import made
from seen_calls import call, computing, request, running, shown
from some_run import metadata
from tare._native import Communicator, CurrentCall
from tare.analysis import where
from tare.analysis.blocked import ANY
from tare.analysis.explain import ended
from tare.analysis.rows import changed
from tare.reporters.explanation import sentence
from tare.runs.metadata import Missing


def test_who_keeps_the_others_waiting() -> None:
    text = shown(running(*(call(rank, "MPI_Barrier") for rank in (0, 1, 2)), computing(3)))
    assert "No deadlock: ranks 0-2 wait for rank 3" in text
    assert "rank 3: not in MPI for 100 ms, since MPI_Send to rank 0, tag 1" in text


@pytest.mark.parametrize("last", [computing(3), None])
def test_of_a_rank_that_is_not_seen_nothing_is_claimed(last: CurrentCall | None) -> None:
    run = running(*(call(rank, "MPI_Barrier") for rank in (0, 1, 2)), *filter(None, [last]))
    run.processes[3] = changed(run.processes[3], state="unknown")
    text = " ".join(shown(run).split())
    told = "Whether this is a deadlock cannot be told, as rank 3 is not seen: ranks 0-2 wait for rank 3"
    assert told in text
    assert "No deadlock" not in text


@pytest.mark.parametrize(
    ("state", "why"), [("killed", "this run has no results"), ("running", "not started")]
)
def test_of_a_rank_without_results_nothing_is_claimed(state: str, why: str) -> None:
    run = running(
        *(call(rank, "MPI_Recv", 3, 7) for rank in (0, 1, 2)), states=dict.fromkeys(range(4), state)
    )
    run.end_ns = fake_native.START_NS + 61 * 10**9
    del run.processes[3]
    text = " ".join(shown(run).split())
    waits = "waited" if state == "killed" else "wait"
    assert f"cannot be told, as rank 3 is not seen: ranks 0-2 {waits} for rank 3" in text
    assert "No deadlock" not in text
    assert f"rank 3 unknown: {why}" in text


def saved(run: Any, *ranks: int) -> Any:
    """The run has of these ranks what a keeper saved while they ran, and is over."""
    for rank in ranks:
        run.processes[rank] = changed(run.processes[rank], state="unknown", saved=True)
    run.saved = [Missing(world=0, size=4, ranks=[(rank, rank) for rank in ranks], host="n2")]
    run.is_running, run.end_ns = False, fake_native.START_NS + 61 * 10**9
    run.meta = metadata(wall_ns=1, signal=9)
    return run


def test_what_was_saved_of_a_rank_while_it_ran_is_not_its_end() -> None:
    """It has gone on since: the others had begun more calls than were saved of it."""
    calls = [call(rank, "MPI_Allreduce") for rank in (0, 1, 3)]
    counts = {"MPI_Allreduce": {(0, 0): 600, (1, 0): 600, (2, 0): 400, (3, 0): 400}}
    killed = dict.fromkeys(range(4), "killed")
    run = saved(running(*calls, computing(2), states=killed, completed=counts), 2, 3)
    text = " ".join(shown(run).split())
    assert "ranks 0-1 killed in MPI_Allreduce, begun 60.0 s before the end" in text
    assert "rank 2 unknown whether it runs; last saved after MPI_Send to rank 0, tag 1" in text
    assert "rank 3 unknown whether it runs; last saved in MPI_Allreduce" in text
    assert "running for" not in text and "waited" not in text
    look = where.look(run)
    assert (look.is_over, look.waiting, look.waited_for) == (True, frozenset(), frozenset())
    assert [(row.saved, row.for_ns is None, row.waits_for) for row in look.rows[1:3]] == [
        (False, False, []),
        (True, True, []),
    ]
    # A launcher has ended ranks 0 and 1, perhaps because of the others.
    (found,) = ended.findings(run)
    assert (found.kind, found.ranks, found.function) == ("ended early", (0, 1), "MPI_Allreduce")
    all_saved = saved(running(states=killed), 0, 1, 2, 3)
    all_saved.current_calls = []
    all_saved.ending = "killed by SIGKILL"
    (found,) = ended.findings(all_saved)
    assert sentence(found) == (
        "The command failed: killed by SIGKILL; how 4 of its ranks ended is not known."
    )


def test_of_a_rank_that_was_saved_while_its_calls_were_only_counted_they_are_not_known() -> None:
    run = saved(running(counted(3), states=dict.fromkeys(range(4), "killed")), 2, 3)
    text = " ".join(shown(run).split())
    assert "rank 2 unknown: this run has no call of it" in text
    assert "rank 3 unknown whether it runs; its last calls, which were only counted, are not known" in text


@pytest.mark.parametrize(("is_running", "said"), [(True, " yet"), (False, "")])
def test_of_a_program_without_recorded_calls_nothing_is_said_of_mpi(is_running: bool, said: str) -> None:
    run = running()
    run.processes.clear()
    run.is_running, run.ending = is_running, "running" if is_running else "exit code 0"
    assert f"This run has no recorded call of any process{said}.\n" in shown(run)
    (found,) = ended.findings(run)
    assert sentence(found) == "This run has no recorded call of any process: there is nothing to explain."


def test_threads_in_the_same_state_are_one_line() -> None:
    calls = [call(rank, "MPI_Barrier") for rank in (0, 1, 3)]
    run = running(*calls, call(2, "MPI_Recv", 1, 7))
    look = where.look(run)
    assert [[row.rank for row in rows] for rows in where.folded(look.rows)] == [[0, 1, 3], [2]]
    text = shown(run)
    assert "ranks 0-1, 3  MPI_Barrier without rank 2, for 1.10 s" in text
    assert "rank 2        MPI_Recv from rank 1, tag 7, for 1.10 s" in text
    assert "exchange, app.c:12" in text
    assert "Deadlock: ranks 1-2 wait for each other" in text
    assert "Ranks 0, 3 wait for these, directly or not." in text


@pytest.mark.parametrize(
    ("function", "root", "words"),
    [
        ("MPI_Ibcast", 0, "MPI_Ibcast (root 0)"), ("MPI_Ireduce", 2, "MPI_Ireduce (root 2)"),
        ("MPI_Iallreduce", None, "MPI_Iallreduce"),
    ],
)  # fmt: skip
def test_a_collective_that_is_waited_for_has_a_root_and_goes_to_nobody(
    function: str, root: int | None, words: str
) -> None:
    started = changed(request(function, root), tag=None)
    waiting = call(1, "MPI_Wait", requests=1, communicator=-1, pending=[started])
    assert f"MPI_Wait for 1 request: {words}, for 1.10 s" in " ".join(shown(running(waiting)).split())
    both = changed(waiting, requests=2, pending=[started, request("MPI_Irecv", 3, 7)])
    assert f"MPI_Wait for 2 requests: MPI_Irecv from rank 3, tag 7; {words}, for" in " ".join(
        shown(running(both)).split()
    )


def of_two_worlds(*calls: CurrentCall, **more: Any) -> Any:
    """Ranks 0 and 1 are those of world 0, the others ranks 0 and 1 of world 1."""
    run = running(*calls, **more)
    run.processes = [
        changed(each, world=each.rank // 2, rank=each.rank % 2, size=2) for each in run.processes
    ]
    run.current_calls = [changed(each, world=each.rank // 2, rank=each.rank % 2) for each in calls]
    run.communicators = [
        made(Communicator, name="MPI_COMM_WORLD", size=2, key=1, members=[(0, 1, 2)]),
        made(Communicator, name="MPI_COMM_WORLD", size=2, key=2, world=1, members=[(0, 1, 2)]),
    ]
    run.worlds = 2
    return run


def test_worlds_are_told_apart() -> None:
    receives = [call(0, "MPI_Recv", 1, 7), call(2, "MPI_Recv", 1, 7, communicator=1)]
    text = " ".join(shown(of_two_worlds(*receives, computing(1), computing(3))).split())
    assert "No deadlock: rank 0 of world 0 waits for rank 1 rank 1: not in MPI" in text
    assert "No deadlock: rank 0 of world 1 waits for rank 1 rank 1: not in MPI" in text
    others = call(1, "MPI_Recv", 0, 8), call(3, "MPI_Recv", 0, 8, communicator=1)
    run = of_two_worlds(*receives, *others, is_running=False)
    text = " ".join(shown(run).split())
    for world in (0, 1):
        assert f"Deadlock: ranks 0-1 of world {world} wait for each other" in text
        assert f"rank 0 of world {world} waits for rank 1: MPI_Recv from rank 1, tag 7" in text
    assert ended.findings(run)[0].detail == (
        "ranks 0-1 of world 0 and ranks 0-1 of world 1 wait for ever for one another or for themselves"
    )
    ending = of_two_worlds(*receives, computing(3), states={1: "killed"})
    assert "Deadlock: rank 0 of world 0 waits for rank 1, which was killed" in shown(ending)


@pytest.mark.parametrize(
    ("function", "how"),
    [
        ("MPI_Irecv", "from"), ("MPI_Imrecv", "from"), ("MPI_Iprobe", "from"),
        ("MPI_Isend", "to"), ("MPI_Sendrecv", "to"), ("MPI_Put", "to"),
    ],
)  # fmt: skip
def test_a_peer_is_a_source_or_a_destination(function: str, how: str) -> None:
    assert f"since {function} {how} rank 1" in shown(running(changed(computing(0), function=function,
                                                                      peer=1, peer_world=1)))  # fmt: skip


def test_everything_has_its_words() -> None:
    waiting = call(
        1, "MPI_Waitall", requests=3, communicator=-1,
        pending=[request("MPI_Irecv", 0, 4), request("MPI_Irecv", ANY, 4), request("MPI_Isend", 2, 5)],
    )  # fmt: skip
    killed = call(2, "MPI_Send", 3, 1)
    run = running(computing(0), waiting, killed, states={2: "killed", 3: "finished"})
    text = shown(run)
    assert "rank 0  not in MPI for 100 ms, since MPI_Send to rank 0, tag 1" in text
    assert (
        "MPI_Waitall for 3 requests: MPI_Irecv from rank 0 and any rank, tag 4; MPI_Isend to rank 2, tag 5"
        in " ".join(text.split())
    )
    assert "rank 2  killed in MPI_Send to rank 3, tag 1" in text
    assert "rank 3  ended" in text


def counted(rank: int) -> CurrentCall:
    """The rank has counted its calls for 1.1 s: which one it is in is not known."""
    return changed(computing(rank), counted_since_ns=fake_native.START_NS + 10**9)


def test_of_a_rank_whose_calls_are_only_counted_nothing_is_claimed() -> None:
    run = running(*(call(rank, "MPI_Barrier") for rank in (0, 1, 2)), counted(3))
    text = " ".join(shown(run).split())
    assert "calls of rank 3 are only counted: ranks 0-2 wait for rank 3" in text
    assert "No deadlock" not in text and "not in MPI" not in text and "MPI_Send" not in text
    assert "rank 3 calls only counted for 1.10 s: which call it is in is not known" in text
    row = where.look(run).rows[3]
    assert (row.function, row.counted, row.for_ns) == (None, True, 1_100_000_000)
    killed = running(*map(counted, range(4)), states=dict.fromkeys(range(4), "killed"))
    killed.end_ns = fake_native.START_NS + 3 * 10**9
    text = " ".join(shown(killed).split())
    assert (
        "killed; its last calls, which were only counted from 2.00 s before the end on, are not known" in text
    )


def test_threads_without_mpi_have_numbers() -> None:
    first = call(0, "omp_barrier", made_mpi_calls=False)
    run = running(first, changed(first, thread=1, function="read"))
    run.processes[0] = changed(run.processes[0], rank=-1)
    text = shown(run)
    assert "pid 100 thread 0  omp_barrier, for 1.10 s" in text
    assert "pid 100 thread 1  read, for 1.10 s" in text
