"""The finding on calls that have not returned while the run goes on, and so are in no row of the profile."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import fake_native
import pytest
from made import made
from tare._native import CurrentCall
from tare.analysis.explain import calls
from tare.analysis.explain.basis import Told, calls_under_way
from tare.analysis.explain.finding import Finding
from tare.analysis.explain.losses import Losses
from tare.analysis.rows import changed, line_of, place_of
from tare.reporters.explanation import sentence

S = 10**9


def waiting(function: str, rank: int, enter_ns: int, **more: Any) -> CurrentCall:
    given: dict[str, Any] = {"inside": True, "made_mpi_calls": True, "process": rank}
    return made(
        CurrentCall, rank=rank, site=0, function=function, enter_ns=fake_native.START_NS + enter_ns,
        **(given | more),
    )  # fmt: skip


def basis(unreturned_ns: int = S, uses_mpi: bool = True, **more: Any) -> Any:
    """Three ranks that have run for 2.1 s; ranks 0 and 2 have been in one call for one second and more."""
    processes = [
        changed(fake_native.process(rank, 0, "running"), unreturned_ns=unreturned_ns if rank != 1 else 0)
        for rank in range(3)
    ]

    run = {
        "processes": processes, "is_running": True,
        "current_calls": [
            waiting("MPI_Barrier", 0, S), waiting("MPI_Barrier", 1, S // 2, inside=False),
            waiting("MPI_Barrier", 2, S // 10),
        ], **more,
    }  # fmt: skip
    of: Any = SimpleNamespace(**run)
    return SimpleNamespace(
        run=of, processes=processes, world=0, calls_under_way=calls_under_way(of, 0, uses_mpi=uses_mpi),
        share=lambda time_ns: time_ns / (6 * S),
        place=lambda site: line_of(place_of(site, fake_native.SITES)),
        unreturned_ns=sum(each.unreturned_ns for each in processes),
    )  # fmt: skip


def under_way(of: Any, told_ns: int = 0) -> Finding | None:
    return calls.under_way(of, Told([], Losses([]), float(of.unreturned_ns - told_ns)))


def test_it_says_where_ranks_are_and_since_when() -> None:
    found = under_way(basis())
    assert found is not None
    assert (found.function, found.at.line, found.ranks, found.calls) == ("MPI_Barrier", 12, (0, 2), 2)
    assert (found.time_ns, found.lost_ns, found.most_ns) == (31 * S // 10, 2 * S, 2 * S)
    assert found.share == pytest.approx(3.1 / 6)


def test_it_is_nothing_if_it_is_little_or_the_run_is_over() -> None:
    assert under_way(basis(current_calls=[waiting("read", 0, 2 * S)])) is None
    assert under_way(basis(is_running=False)) is None
    assert under_way(basis(current_calls=[])) is None


def test_what_another_finding_has_is_not_lost_again() -> None:
    found = under_way(basis(), told_ns=S)
    assert found is not None
    assert (found.time_ns, found.lost_ns) == (31 * S // 10, S)


def test_it_says_also_who_is_in_a_call_on_a_file() -> None:
    """The helper thread of rank 2 waits in one all the time."""
    calls = [
        waiting("MPI_Barrier", 0, S), waiting("read", 1, S // 10),
        waiting("read", 2, 0, thread=1, made_mpi_calls=False),
    ]  # fmt: skip
    found = under_way(basis(current_calls=calls))
    assert found is not None
    assert (found.function, found.ranks, found.time_ns, found.most_ns) == ("read", (1,), 31 * S // 10, 2 * S)


def test_without_mpi_it_is_the_first_thread() -> None:
    own = waiting("omp_barrier", -1, S, process=0, made_mpi_calls=False)
    others = [changed(own, function="read", thread=1), changed(own, function="omp_parallel", process=1)]
    found = under_way(basis(0, uses_mpi=False, current_calls=[own, *others]))
    assert found is not None and (found.function, found.ranks, found.lost_ns) == ("omp_barrier", (), 0)
    assert "Calls under way: the program has been in omp_barrier" in sentence(found)
    assert "take 18.3 % of the time (" in sentence(found)


def test_of_calls_that_are_only_counted_it_is_said_since_when() -> None:
    of = SimpleNamespace(
        counting_ns={0: 2 * S, 1: S, 2: S // 100}, net_ns=10 * S, share_of_all=lambda ns: ns / (30 * S)
    )
    found = calls.only_counted(of)  # type: ignore[arg-type]
    assert found is not None and (found.ranks, found.time_ns, found.most_ns) == ((0, 1), 3 * S, 2 * S)
    assert "for the last 2.00 s at most, calls of ranks 0-1 were only counted (10.0 % of the" in sentence(
        found
    )
    of.counting_ns = {-1: S}
    without_rank = calls.only_counted(of)  # type: ignore[arg-type]
    assert without_rank is not None and "for the last 1.00 s, calls were only counted" in sentence(
        without_rank
    )
    of.counting_ns = {}
    assert calls.only_counted(of) is None  # type: ignore[arg-type]
