"""What a replay changes to see what a program would gain without a finding."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tare.analysis.explain import gains
from tare.analysis.explain.finding import Finding
from tare.analysis.rows import UNKNOWN
from tare.runs.run import ReplayChange

LINE = "MPI_Barrier", UNKNOWN
SITE = 4
MS = 1_000_000


class Basis(SimpleNamespace):
    """Ranks 0 and 1 worked 30 and 10 ms before the calls of a line; rank 0 had no processor for 10 ms."""

    def __init__(self, **different: Any) -> None:
        super().__init__(
            **{
                "is_traced": True,
                "ranks": 2,
                "net_ns": 100 * MS,
                "world": 0,
                "has_threads": False,
                "outside_ns": {LINE: {0: 40 * MS, 1: 10 * MS}},
                "worked_ns": {LINE: {0: 30 * MS, 1: 10 * MS}},
                "sites_of": {LINE: {SITE}},
                **different,
            }
        )
        self.asked: list[ReplayChange] = []
        self.without_ns: list[int] = []
        self.runtime_ns = 90 * MS
        process = SimpleNamespace(trace=SimpleNamespace(records=10))
        self.run = SimpleNamespace(processes=[process], replayed_with=self._replayed)

    def _replayed(self, world: int, changes: list[ReplayChange]) -> list[Any]:
        self.asked += changes
        return [
            SimpleNamespace(
                world=world,
                obstacle=None,
                unknown_ns=0,
                runtime_ns=self.runtime_ns,
                ideal_ns=90 * MS,
                without_ns=self.without_ns or [80 * MS] * len(changes),
            )
        ]


def found(kind: str, **fields: Any) -> Finding:
    function, at = LINE
    return Finding(kind=kind, cause_rank=0, cause_function=function, cause_at=at, lost_ns=20 * MS, **fields)


def test_even_work_leaves_the_time_without_a_processor() -> None:
    basis = Basis()
    (finding,) = gains.with_gains(basis, [found("load imbalance")])  # type: ignore[arg-type]
    assert finding.gain_ns == 10 * MS
    even: ReplayChange = ([], [], [(0, SITE, 1 - 30 / 40), (1, SITE, 0.0)])
    none = [(*share, gains.NO_LIMIT_NS) for share in even[2]]
    assert basis.asked == [even, (none, [], [])]


@pytest.mark.parametrize(
    ("even_ms", "removed_ms", "runtime_ms", "known"),
    [
        (
            89,
            40,
            90,
            False,
        ),  # without the work of one rank the program would be far faster: they work in turn
        (89, 89, 90, True),  # another rank is as late
        (89, 89, 150, False),  # an ideal network alone gains far more: sends wait for receivers
        (80, 70, 150, True),
    ],
)
def test_a_gain_that_is_no_bound_is_not_known(
    even_ms: int, removed_ms: int, runtime_ms: int, known: bool
) -> None:
    basis = Basis()
    basis.without_ns = [even_ms * MS, removed_ms * MS]
    basis.runtime_ns = runtime_ms * MS
    (finding,) = gains.with_gains(basis, [found("load imbalance")])  # type: ignore[arg-type]
    assert finding.gain_ns == ((90 - even_ms) * MS if known else None)


def test_the_gain_of_slow_threads_is_not_known() -> None:
    basis = Basis(has_threads=True)
    (finding,) = gains.with_gains(basis, [found("load imbalance")])  # type: ignore[arg-type]
    assert (finding.gain_ns, basis.asked) == (None, [])


def test_slow_iterations_take_no_longer_than_the_median() -> None:
    basis = Basis()
    (finding,) = gains.with_gains(basis, [found("slow iterations", mean_ns=3 * MS)])  # type: ignore[arg-type]
    assert finding.gain_ns == 10 * MS
    assert basis.asked == [([(0, SITE, 1.0, 3 * MS)], [], [])]
