"""Which ranks share processors, and how much of their time they were on none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from made import made
from tare._native import Process, Scheduling
from tare.analysis.scheduling import Crowd, crowd_of, off_processor
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
    assert crowd_of(HERE, ranks([0, 1], [0, 1], [0, 1])) == Crowd((0, 1, 2), 2)


def test_two_ranks_bound_to_one_processor_share_it() -> None:
    assert crowd_of(HERE, ranks([0], [0], [1], [2])) == Crowd((0, 1), 1)


def test_who_may_use_a_part_is_among_those_that_may_use_all() -> None:
    assert crowd_of(HERE, ranks([0], [0, 1], [0, 1])) == Crowd((0, 1, 2), 2)


def test_what_was_not_told_is_taken_from_the_run() -> None:
    assert crowd_of(HERE, ranks([], [], [])) == Crowd((0, 1, 2), 2)
    assert crowd_of(cast(Any, SimpleNamespace(host="here", processors=None)), ranks([], [], [])) is None


def test_shares_are_of_the_time_that_was_looked_at() -> None:
    assert off_processor(ranks([0])) is None
    busy = made(
        Scheduling, observed_ns=600, descheduled_ns=150, blocked_outside_ns=30, descheduled_outside_ns=90
    )
    idle = made(Scheduling, observed_ns=400, descheduled_ns=50, unknown_ns=20)
    found = off_processor([made(Process, scheduling=busy), made(Process, scheduling=idle)])
    assert found is not None
    assert (found.descheduled, found.blocked) == (0.2, 0.03)


def test_one_sentence_says_all() -> None:
    crowded = [
        made(
            Process,
            rank=i,
            host="here",
            scheduling=made(Scheduling, processors=[0, 1], observed_ns=100, descheduled_ns=50),
        )
        for i in range(4)
    ]
    assert scheduling.sentence(HERE, crowded) == (
        "ranks 0-3 share 2 processors; 50.0 % of the time the ranks could run, but had no processor"
    )
    assert scheduling.sentence(HERE, ranks([0], [1])) == ""
