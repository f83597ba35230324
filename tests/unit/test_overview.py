"""What the cards of a page may say of what is lost."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import fake_native
import pytest
from tare.analysis.efficiency import NO_TRACE, efficiencies
from tare.analysis.rows import changed
from tare.page import overview


def of_two(net_ns: int, *, finalized: bool) -> Any:
    """Two ranks, of which the second one has this net time; the first one takes 2 s."""
    ranks = [fake_native.process(rank, 100_000_000) for rank in range(2)]
    ranks[1] = changed(ranks[1], net_ns=net_ns, threads_ns=net_ns, finalized=finalized)
    return SimpleNamespace(processes=ranks)


@pytest.mark.parametrize(
    ("net_ns", "finalized", "is_so"),
    [(10**9, False, True), (2 * 10**9, False, False), (10**9, True, False)],
)
def test_ranks_that_have_ended_early(net_ns: int, finalized: bool, is_so: bool) -> None:
    run = of_two(net_ns, finalized=finalized)
    assert overview._have_some_ended_early(run, efficiencies(run.processes)) is is_so


def test_a_trace_is_advised_if_there_is_none() -> None:
    (found,) = efficiencies(of_two(2 * 10**9, finalized=True).processes)
    assert overview._why_not_replayed([found]) is None
    without = overview._why_not_replayed([replace(found, not_replayed=NO_TRACE)])
    assert without == "a trace tells which: tare run --trace"
    why = "a rank has not come to its end"
    assert overview._why_not_replayed([replace(found, not_replayed=why)]) == (
        f"which of them is not known: {why}"
    )
