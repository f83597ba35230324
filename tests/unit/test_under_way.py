"""The finding on calls that have not returned while the run goes on, and so are in no row of the profile."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import fake_native
import pytest
from made import made
from tare._native import CurrentCall
from tare.analysis.explain import calls
from tare.analysis.explain.basis import Told
from tare.analysis.explain.finding import Finding
from tare.analysis.explain.losses import Losses
from tare.analysis.rows import changed, line_of, place_of

S = 10**9


def basis(unreturned_ns: int = S, **more: Any) -> Any:
    """Three ranks that have run for 2.1 s; ranks 0 and 2 have been in one call for one second and more."""
    processes = [
        changed(fake_native.process(rank, 0, "running"), unreturned_ns=unreturned_ns if rank != 1 else 0)
        for rank in range(3)
    ]

    def call(rank: int, enter_ns: int, inside: bool = True) -> CurrentCall:
        return made(
            CurrentCall, rank=rank, process=rank, site=0, function="MPI_Barrier", inside=inside,
            made_mpi_calls=True, enter_ns=fake_native.START_NS + enter_ns,
        )  # fmt: skip

    run = {
        "processes": processes, "is_running": True,
        "current_calls": [call(0, S), call(1, S // 2, inside=False), call(2, S // 10)], **more,
    }  # fmt: skip
    return SimpleNamespace(
        run=SimpleNamespace(**run), processes=processes, world=0, share=lambda time_ns: time_ns / (6 * S),
        place=lambda site: line_of(place_of(site, fake_native.SITES)),
        unreturned_ns=sum(each.unreturned_ns for each in processes),
    )  # fmt: skip


def under_way(of: Any, told_ns: int = 0) -> Finding | None:
    return calls.under_way(of, Told([], Losses([]), float(of.unreturned_ns - told_ns)))


def test_it_says_where_ranks_are_and_since_when() -> None:
    found = under_way(basis())
    assert found is not None
    assert (found.function, found.at.line, found.ranks, found.calls) == ("MPI_Barrier", 12, (0, 2), 2)
    assert (found.time_ns, found.lost_ns, found.most_ns) == (2 * S, 2 * S, 2 * S)
    assert found.share == pytest.approx(1 / 3)


def test_it_is_nothing_if_it_is_little_or_the_run_is_over() -> None:
    assert under_way(basis(S // 10)) is None
    assert under_way(basis(is_running=False)) is None
    assert under_way(basis(current_calls=[])) is None


def test_what_another_finding_has_is_not_lost_again() -> None:
    found = under_way(basis(), told_ns=S)
    assert found is not None
    assert (found.time_ns, found.lost_ns) == (2 * S, S)
