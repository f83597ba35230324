"""What is said of waits and of imbalance, by waits and times that are known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import fake_native
import pytest
from tare._native import Process
from tare.analysis.efficiency import useful_ns
from tare.analysis.explain import computing, waiting
from tare.analysis.explain.basis import Told
from tare.analysis.explain.finding import Finding
from tare.analysis.explain.losses import Loss, Losses
from tare.analysis.rows import Placed, changed


def place(line: int) -> Placed:
    return Placed(file="a.c", line=line)


def test_kind_and_line_of_a_sentence_are_of_the_same_waits() -> None:
    """Two lines wait 30 each for late senders; a third waits 50 in a barrier for the same reason."""
    losses = [
        Loss(("MPI_Recv", place(1)), 30, kind="late sender", by_rank={0: 30}),
        Loss(("MPI_Recv", place(2)), 31, kind="late sender", by_rank={0: 31}),
        Loss(("MPI_Barrier", place(3)), 50, kind="wait at barrier", by_rank={0: 50}),
    ]
    of: Any = SimpleNamespace(share=lambda time_ns: time_ns / 1000)
    found = waiting.finding(of, waiting.Group(None, losses))
    assert (found.kind, found.function, found.at) == ("late sender", "MPI_Recv", place(2))
    assert found.here_share == pytest.approx(31 / 111)


def process(rank: int, net_ns: int, state: str = "finished") -> Any:
    return changed(fake_native.process(rank, 0, state), net_ns=net_ns, threads_ns=net_ns, mpi_ns=net_ns // 10)


def found(*processes: Process, elsewhere_ns: int = 0) -> Finding | None:
    """The imbalance of ranks whose time in MPI is in one line, but for what is in no row of the profile."""
    of: Any = SimpleNamespace(
        processes=processes, useful_ns={each.rank: useful_ns(each) for each in processes}, lines=[],
        net_ns=max(each.net_ns for each in processes), share=lambda time_ns: time_ns / 3000,
        share_blocked=lambda *_: 0.0,
    )  # fmt: skip
    in_line_ns = sum(each.mpi_ns for each in processes) - elsewhere_ns
    told = Told([], Losses([Loss(("MPI_Recv", place(1)), in_line_ns)]), elsewhere_ns)
    imbalance = computing.imbalance(of, told)
    left_ns = sum(loss.time_ns for loss in told.losses.left) + told.elsewhere_ns
    assert left_ns + (imbalance.lost_ns if imbalance else 0) == pytest.approx(in_line_ns + elsewhere_ns)
    return imbalance


def test_others_lose_no_more_than_they_are_in_mpi_by_a_rank_that_had_no_processor() -> None:
    """Rank 1 polls; for half of the time it is on no processor, and so is less late than rank 0 is early."""
    descheduled = changed(fake_native.process(1, 0).scheduling, descheduled_outside_ns=500)
    polls = changed(process(1, 1000), mpi_ns=200, scheduling=descheduled)
    imbalance = found(process(0, 1000), polls)
    assert imbalance is not None
    assert (imbalance.lost_ns, imbalance.time_ns, imbalance.share) == (300, 300, 0.1)
    # Too little is left of it.
    assert found(process(0, 1000), changed(polls, mpi_ns=40)) is None


def test_calls_that_have_not_returned_wait_as_well() -> None:
    imbalance = found(process(0, 1000), changed(process(1, 1000), mpi_ns=600), elsewhere_ns=600)
    assert imbalance is not None
    assert (imbalance.lost_ns, imbalance.time_ns) == (500, 500)


def test_a_rank_that_was_killed_is_no_imbalance() -> None:
    killed = process(1, 300, "killed")
    assert found(process(0, 1000), killed, process(2, 1000)) is None
    other = changed(process(2, 1000), mpi_ns=600)
    imbalance = found(process(0, 1000), killed, other)
    assert imbalance is not None
    assert (imbalance.ranks, imbalance.time_ns) == ((0,), 500)
    # All were killed together.
    assert found(process(0, 1000, "killed"), changed(process(1, 1000, "killed"), mpi_ns=600)) is not None
