"""What a replay changes to see what a program would gain without a finding."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tare.analysis.explain import gains
from tare.analysis.explain.finding import Finding
from tare.analysis.rows import UNKNOWN
from tare.analysis.scheduling import Crowd
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
                "crowd": None,
                "waits": [],
                "processes": [],
                "useful_ns": {0: 40 * MS, 1: 40 * MS},
                "has_threads": False,
                "outside_ns": {LINE: {0: 40 * MS, 1: 10 * MS}},
                "worked_ns": {LINE: {0: 30 * MS, 1: 10 * MS}},
                "sites_of": {LINE: {SITE}},
                **different,
            }
        )
        self.asked: list[ReplayChange] = []
        self.without_ns: list[int] = []
        self.by_part_ns: list[int] = []
        self.runtime_ns = 90 * MS
        process = SimpleNamespace(trace=SimpleNamespace(records=10))
        self.run = SimpleNamespace(processes=[process], replayed_with=self._replayed)

    def share(self, time_ns: float) -> float:
        return time_ns / float(self.net_ns * self.ranks)

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
                without_by_part_ns=self.by_part_ns or self.without_ns or [80 * MS] * len(changes),
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


@pytest.mark.parametrize(
    ("by_part_ms", "gain_ms"),
    [(80, 10), (81, 10), (85, None)],  # one of the ways gains 5 ms instead of 10
)
def test_a_gain_that_depends_on_how_work_is_shared_is_not_known(by_part_ms: int, gain_ms: int | None) -> None:
    basis = Basis()
    basis.without_ns = [80 * MS, 60 * MS]
    basis.by_part_ns = [by_part_ms * MS, 60 * MS]
    (finding,) = gains.with_gains(basis, [found("load imbalance")])  # type: ignore[arg-type]
    assert finding.gain_ns == (None if gain_ms is None else gain_ms * MS)


def without_processor(in_all_ms: int, outside_ms: int, mpi_ms: int = 20) -> list[Any]:
    """Two ranks that were descheduled, as long in all; `mpi_ms`: their time in calls."""
    return [
        SimpleNamespace(
            rank=rank,
            mpi_ns=mpi_ms * MS,
            scheduling=SimpleNamespace(
                descheduled_ns=in_all_ms * MS // 2,
                descheduled_outside_ns=outside_ms * MS // 2,
                blocked_ns=0,
                unknown_ns=0,
            ),
        )
        for rank in range(2)
    ]


@pytest.mark.parametrize(
    ("in_all_ms", "outside_ms", "processors", "threads", "gain_ms"),
    [
        (8, 0, None, 0, 10),  # too little to matter
        (20, 18, None, 0, 10),  # something else had the processors, outside of calls
        (20, 17, None, 0, None),
        (20, 17, 1, 2, None),
        (20, 20, 1, 2, 10),  # 60 ms are computed, for which one processor needs no more than that
        (12, 12, 1, 2, 10),
        (20, 20, 1, 3, None),  # of other threads it is not known when they had none
    ],
)
def test_a_gain_is_known_only_as_far_as_processors_are(
    in_all_ms: int, outside_ms: int, processors: int | None, threads: int, gain_ms: int | None
) -> None:
    crowd = None if processors is None else Crowd((0, 1), processors, threads)
    basis = Basis(crowd=crowd, processes=without_processor(in_all_ms, outside_ms))
    (finding,) = gains.with_gains(basis, [found("load imbalance")])  # type: ignore[arg-type]
    assert finding.gain_ns == (None if gain_ms is None else gain_ms * MS)


@pytest.mark.parametrize(
    ("waits_ms", "kind", "gain_ms"),
    [
        (18, "load imbalance", None),  # 2 ms in the calls of each, of which 10 ms were without a processor
        (19, "load imbalance", None),
        (20, "load imbalance", 10),  # while they waited for others
        (20, "farm", None),  # how much less is computed without the slow worker is not known
    ],
)
def test_waiting_ranks_need_no_processor(waits_ms: int, kind: str, gain_ms: int | None) -> None:
    waits = [SimpleNamespace(of_rank={0: waits_ms * MS, 1: waits_ms * MS})]
    processes = without_processor(20, 0)
    basis = Basis(
        crowd=Crowd((0, 1), 1, 2), processes=processes, waits=waits, useful_ns={0: 10 * MS, 1: 10 * MS}
    )
    (finding,) = gains.with_gains(basis, [found(kind, most_ns=2.0, mean_ns=1.0)])  # type: ignore[arg-type]
    assert finding.gain_ns == (None if gain_ms is None else gain_ms * MS)


def test_what_slow_iterations_compute_longer_needs_no_processor_any_more() -> None:
    different: dict[str, Any] = {
        "processes": without_processor(20, 20),
        "useful_ns": {0: 60 * MS, 1: 54 * MS},
    }
    basis = Basis(crowd=Crowd((0, 1), 1, 2), **different)
    finding = found("slow iterations", mean_ns=3 * MS, beyond_ns=2 * MS)
    (finding,) = gains.with_gains(basis, [finding])  # type: ignore[arg-type]
    assert finding.gain_ns == (100 - (60 + 54 - 20 - 2)) * MS


@pytest.mark.parametrize(
    ("outside_ms", "threads", "is_known"), [(18, 2, True), (17, 2, False), (20, 3, False)]
)
def test_what_processors_would_gain_is_known_if_ranks_had_none_outside_of_calls(
    outside_ms: int, threads: int, is_known: bool
) -> None:
    outside = [SimpleNamespace(rank=0, site=SITE, time_ns=40 * MS, descheduled_ns=outside_ms * MS)]
    basis = Basis(outside=outside, processes=without_processor(20, outside_ms))
    function, at = LINE  # in which most of it is lost: without it, more than these calls would be shorter
    finding = Finding(
        kind="oversubscription",
        most_ns=20 * MS,
        lost_ns=20 * MS,
        ranks=(0, 1),
        threads=threads,
        function=function,
        at=at,
    )
    (finding,) = gains.with_gains(basis, [finding])  # type: ignore[arg-type]
    assert finding.gain_ns == (10 * MS if is_known else None)


def test_slow_iterations_take_no_longer_than_the_median() -> None:
    basis = Basis()
    (finding,) = gains.with_gains(basis, [found("slow iterations", mean_ns=3 * MS)])  # type: ignore[arg-type]
    assert finding.gain_ns == 10 * MS
    assert basis.asked == [([(0, SITE, 1.0, 3 * MS)], [], [])]


@pytest.mark.parametrize(("cause_in_call", "gain_ms"), [(False, 10), (True, None)])
def test_what_evens_slow_iterations_as_well_is_no_gain_of_the_rest(
    cause_in_call: bool, gain_ms: int | None
) -> None:
    """Those that are slow in calls are in no time that is evened."""
    few = found("slow iterations", mean_ns=3 * MS, cause_in_call=cause_in_call)
    gains_ms = {
        each.kind: each.gain_ns and each.gain_ns // MS
        for each in gains.with_gains(Basis(), [few, found("load imbalance")])  # type: ignore[arg-type]
    }
    assert gains_ms == {"slow iterations": gain_ms, "load imbalance": None if gain_ms else 10}
