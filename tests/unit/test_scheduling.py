"""Which ranks share processors, and how much of their time they were on none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from made import made
from tare._native import Process, Scheduling
from tare.analysis.scheduling import Crowd, busy_threads, crowd_of, off_processor
from tare.reporters import scheduling

HERE = cast(Any, SimpleNamespace(host="here", processors=2))


def ranks(*processors: list[int], host: str = "here", first: int = 0) -> list[Process]:
    return [
        made(Process, rank=first + i, host=host, scheduling=made(Scheduling, processors=each))
        for i, each in enumerate(processors)
    ]


def test_ranks_with_a_processor_each_share_none() -> None:
    assert crowd_of(HERE, ranks([0, 1], [0, 1])) is None
    assert crowd_of(HERE, ranks([0], [1])) is None
    assert crowd_of(HERE, [*ranks([0]), *ranks([0], host="there", first=1)]) is None


def test_all_ranks_share_what_is_there() -> None:
    assert crowd_of(HERE, ranks([0, 1], [0, 1], [0, 1])) == Crowd((0, 1, 2), 2, 3)


def test_two_ranks_bound_to_one_processor_share_it() -> None:
    assert crowd_of(HERE, ranks([0], [0], [1], [2])) == Crowd((0, 1), 1, 2)


def test_who_may_use_a_part_is_among_those_that_may_use_all() -> None:
    assert crowd_of(HERE, ranks([0], [0, 1], [0, 1])) == Crowd((0, 1, 2), 2, 3)


def test_what_was_not_told_is_taken_from_the_run() -> None:
    assert crowd_of(HERE, ranks([], [], [])) == Crowd((0, 1, 2), 2, 3)
    assert crowd_of(cast(Any, SimpleNamespace(host="here", processors=None)), ranks([], [], [])) is None


def team(rank: int, *work_ns: int, time_ns: int = 100, site: int = 1, calls: int = 1) -> list[Any]:
    """The threads of a region, of which the first encounters it `calls` times, `time_ns` long in all."""
    return [
        SimpleNamespace(
            world=0,
            rank=rank,
            pid=10 + rank,
            site=site,
            thread=number,
            regions_ns=0 if number else time_ns,
            team_ns=time_ns,
            work_ns=each,
        )
        for number, each in enumerate(work_ns)
    ]


def test_busy_threads_of_teams_share_processors_too() -> None:
    ranks_of_node = [made(Process, rank=i, host="here", net_ns=1000) for i in range(2)]
    rows = [*team(0, 90, 80, 8), *team(1, 90, 2), *team(1, 30, 30, 30, time_ns=30, site=2)]
    busy = busy_threads(rows, ranks_of_node)
    assert busy == {(0, 0): 2, (0, 1): 1}, "an idle thread is not busy, and a short region does not count"
    assert crowd_of(HERE, ranks([], []), busy) == Crowd((0, 1), 2, 3)
    assert crowd_of(HERE, ranks([0], [1]), busy) == Crowd((0,), 1, 2)
    # A runtime that takes other threads each time has no more of them at once.
    each_time = [*team(0, 50, 50), *team(0, 50, 50)[1:]]
    for row in each_time[1:]:
        row.team_ns = 50
    assert busy_threads(each_time, ranks_of_node) == {(0, 0): 2}


def test_shares_are_of_the_net_time_of_the_threads() -> None:
    assert off_processor(ranks([0])) is None
    busy = made(
        Scheduling, observed_ns=600, descheduled_ns=150, blocked_outside_ns=30, descheduled_outside_ns=90
    )
    idle = made(Scheduling, observed_ns=400, descheduled_ns=50, unknown_ns=20)
    of_ranks = [
        made(Process, rank=0, net_ns=600, threads_ns=500, counted_ns=100, scheduling=busy),
        made(Process, rank=1, net_ns=390, threads_ns=390, scheduling=idle),
    ]
    found = off_processor([*of_ranks, made(Process, rank=-1, net_ns=9000, threads_ns=9000)])
    assert found is not None
    assert (found.descheduled, found.blocked) == (0.2, 0.03)
    # The one hangs in a call that no reading tells of, the other computes since its only reading.
    hung = made(Process, rank=2, net_ns=500, threads_ns=500, scheduling=made(Scheduling, readings=1))
    of_ranks[1] = made(Process, rank=1, net_ns=2900, threads_ns=2900, scheduling=idle)
    found = off_processor([*of_ranks, hung])
    assert found is not None
    assert (found.descheduled, found.blocked) == (0.05, 0.0075)


def test_one_sentence_says_all() -> None:
    crowded = [
        made(
            Process,
            rank=i,
            host="here",
            scheduling=made(
                Scheduling, processors=[0, 1], observed_ns=100, descheduled_ns=50, blocked_outside_ns=5
            ),
        )
        for i in range(4)
    ]
    # Of what a rank slept, it is not known whether all was outside MPI.
    assert scheduling.sentence(HERE, crowded) == (
        f"ranks 0-3 share 2 processors; at least 50.0 % of the time the ranks {scheduling.DESCHEDULED}; "
        f"at least 5.0 % of the time the ranks {scheduling.BLOCKED}"
    )
    assert scheduling.sentence(HERE, ranks([0], [1])) == ""
