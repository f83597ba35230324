"""The share of MPI where calls were only counted for some of the time."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import fake_native
import pytest
from made import made
from tare._native import CurrentCall
from tare.analysis import rank_differences, ranks
from tare.analysis.efficiency import efficiencies, useful_ns
from tare.analysis.explain import explain
from tare.analysis.explain.basis import Basis
from tare.analysis.explain.finding import Finding
from tare.analysis.rows import changed

S = 10**9


def counted(rank: int, whole_mpi_ns: int | None) -> Any:
    """Two seconds, in 0.2 of which calls were measured: 1 % of that was in MPI."""
    return changed(
        fake_native.process(rank, 2_000_000), net_ns=2 * S, threads_ns=S // 5, counted_ns=9 * S // 5,
        whole_mpi_ns=whole_mpi_ns,
    )  # fmt: skip


def test_it_is_an_estimate_for_all_of_the_time() -> None:
    assert ranks.mpi_share(counted(0, S)) == 0.5
    assert ranks.mpi_share(counted(0, 3 * S)) == 1.0
    assert useful_ns(counted(0, S)) == S
    (found,) = efficiencies([counted(0, S), counted(1, S // 2)])
    assert found.mpi_share == pytest.approx(0.375)
    assert found.parallel_efficiency == pytest.approx(0.625)
    assert found.most_computing_rank == 1


def test_what_is_not_known_is_no_share() -> None:
    assert ranks.mpi_share(counted(0, None)) is None
    (found,) = efficiencies([counted(0, S), counted(1, None)])
    shares = (found.mpi_share, found.load_balance, found.communication_efficiency, found.parallel_efficiency)
    assert shares == (None,) * 4
    assert found.most_computing_rank is None


def test_ranks_that_were_saved_while_they_ran_are_not_compared_with_others() -> None:
    """What is known of rank 1 ends in the middle: it has not computed less than rank 0."""
    known = [
        changed(fake_native.process(rank, S), net_ns=4 * S, threads_ns=4 * S, whole_mpi_ns=S)
        for rank in range(2)
    ]
    half = {"mpi_ns": S // 2, "whole_mpi_ns": S // 2, "net_ns": 2 * S, "threads_ns": 2 * S}
    saved = changed(known[1], state="unknown", saved=True, **half)
    (found,) = efficiencies([known[0], saved])
    assert (found.mpi_share, found.load_balance, found.parallel_efficiency) == (0.25, None, None)
    assert (found.communication_efficiency, found.most_computing_rank) == (None, None)
    (found,) = efficiencies([known[0], changed(saved, saved=False, state="killed")])
    assert (found.load_balance, found.most_computing_rank) == (0.75, 0)
    (found,) = efficiencies([changed(each, saved=True) for each in known])
    assert (found.load_balance, found.parallel_efficiency) == (1.0, 0.75), "all were saved at the same time"
    base = explained(known[0], saved)
    assert (base.total_ns, base.lost_ns) == (6 * S, 3 * S // 2), "the rest of rank 1 is not known"


def test_what_starts_ranks_is_none() -> None:
    processes = [fake_native.process(rank, 0) for rank in (-1, -1, 0, 1)]
    assert [each.rank for each in ranks.of_ranks(processes)] == [0, 1]
    assert [each.rank for each in ranks.of_ranks(processes[:2])] == [-1, -1]
    run: Any = SimpleNamespace(processes=[changed(each, has_results=True) for each in processes])
    assert rank_differences.ranks_of(run) == {0: 2}
    run.processes = run.processes[:2]
    assert rank_differences.ranks_of(run) == {0: 1}


def test_calls_of_other_sources_are_none_of_mpi() -> None:
    assert ranks.use_mpi([fake_native.process(0, 0)])
    assert not ranks.use_mpi([changed(fake_native.process(-1, 0), mpi="", abi="none", calls=5)])
    assert ranks.use_mpi([changed(fake_native.process(0, 0), mpi="", abi="none", calls=5)])


def explained(*processes: Any, sources: tuple[str, ...] = (), calls: Sequence[CurrentCall] = ()) -> Basis:
    nothing: Any = lambda *_, **__: None  # noqa: E731
    run: Any = SimpleNamespace(
        processes=processes, has_counted_time=True, current_calls=calls,
        expect_profile=nothing, expect_exchanges=nothing,
        meta=SimpleNamespace(options=SimpleNamespace(sources=sources)),
    )  # fmt: skip
    return Basis(run)


def test_explain_takes_the_time_of_all_of_the_run() -> None:
    known = explained(counted(0, S), counted(1, S // 2))
    assert (known.is_estimated, known.total_ns, known.lost_ns) == (True, 4 * S, 3 * S // 2)
    unknown = explained(counted(0, S), counted(1, None))
    assert (unknown.is_estimated, unknown.total_ns, unknown.lost_ns) == (False, 2 * S // 5, 4_000_000)


@pytest.mark.parametrize("error_ns", [0, None])
def test_without_mpi_it_takes_that_of_all_of_the_run_if_it_is_known_of_each_call(
    error_ns: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a call of which a hundredth was measured would take a hundredth of its time."""
    alone = changed(counted(-1, 0), mpi="", abi="none", has_results=True)
    row = SimpleNamespace(timed=9, whole_time_error_ns=error_ns)
    only_counted = SimpleNamespace(timed=0, whole_time_error_ns=None)
    monkeypatch.setattr("tare.analysis.explain.basis.profile.summed", lambda run, by: [row, only_counted])
    known = explained(alone, sources=("files",))
    assert known.uses_mpi is False
    all_ns = 2 * S if error_ns == 0 else S // 5
    assert (known.is_estimated, known.total_ns, known.profiled_ns) == (error_ns == 0, all_ns, all_ns)


def test_what_times_are_of_is_said_of_those_of_all_of_the_run_and_of_samples() -> None:
    known, unknown = explained(counted(0, S)), explained(counted(0, None))
    late = Finding(kind="slow rank", cause_code="smooth")
    off = Finding(kind="descheduled", most_ns=9)
    said = "For 90.0 % of the time calls were only counted: times "
    assert explain._of_counted(known, [off]) == f"{said}are estimated from the calls that were measured."
    assert explain._of_counted(known, [late]) == (
        f"{said}are estimated from the calls that were measured, but those by samples of the stacks are of "
        "the rest."
    )
    assert explain._of_counted(unknown, [off, late]) == (
        f"{said}and shares are of the rest, but how long ranks could have run is of all of it; how long "
        "ranks are in MPI is not known."
    )
    assert explain._of_counted(unknown, [late]) == (
        f"{said}and shares are of the rest; how long ranks are in MPI is not known."
    )


def test_programs_without_mpi_need_not_run_at_the_same_time() -> None:
    """A process may run them one after another."""
    one = changed(
        fake_native.process(0, 0), rank=-1, mpi="", abi="none", has_results=True, mpi_ns=0, whole_mpi_ns=0
    )
    programs = [changed(one, net_ns=ns, threads_ns=ns) for ns in (S, 2 * S)]
    known = explained(*programs)
    assert (known.uses_mpi, known.total_ns, known.lost_ns) == (False, 3 * S, 0)


def test_explain_takes_no_time_for_computing_of_which_nothing_is_known() -> None:
    """Rank 1 may hang since 1.5 s before its end: it makes no calls of which there would be an estimate."""
    processes = [changed(counted(rank, S), state="killed") for rank in range(2)]
    end_ns = processes[1].start_ns + processes[1].wall_ns
    call = made(CurrentCall, rank=1, process=1, function="MPI_Barrier", made_mpi_calls=True)
    known = explained(*processes, calls=[changed(call, counted_since_ns=end_ns - S // 100)])
    assert known.is_estimated and known.useful_ns == {0: S, 1: S}
    unknown = explained(*processes, calls=[changed(call, counted_since_ns=end_ns - 3 * S // 2)])
    assert not unknown.is_estimated and unknown.counting_ns == {1: 3 * S // 2}
    assert unknown.useful_ns == {0: 198_000_000, 1: 198_000_000}
    ended = [changed(each, state="finished") for each in processes]
    assert explained(*ended, calls=[changed(call, counted_since_ns=end_ns - 3 * S // 2)]).counting_ns == {}


@pytest.mark.parametrize("state", ["killed", "exited"])
def test_explain_takes_no_call_on_a_file_that_has_not_returned_for_computing(state: str) -> None:
    processes = [changed(fake_native.process(rank, 0, state), net_ns=2 * S) for rank in range(2)]
    processes = [changed(each, threads_ns=2 * S) for each in processes]
    end_ns = processes[1].start_ns + processes[1].wall_ns
    read = made(CurrentCall, rank=1, process=1, function="read", inside=True, enter_ns=end_ns - S)
    helper = [changed(read, thread=1, made_mpi_calls=False)]
    assert explained(*processes, calls=helper).useful_ns == {0: 2 * S, 1: 2 * S}
    own = [changed(read, made_mpi_calls=True)]
    assert explained(*processes, calls=own).useful_ns == {0: 2 * S, 1: S}
    region = [changed(each, function="omp_implicit_task") for each in own]
    assert explained(*processes, calls=region).useful_ns == {0: 2 * S, 1: 2 * S}
    ended = [changed(each, state="finished") for each in processes]
    assert explained(*ended, calls=own).useful_ns == {0: 2 * S, 1: 2 * S}


def test_the_time_has_threads_of_which_no_call_has_returned() -> None:
    """The first thread of rank 0 waits at the end of a region for the second one, and rank 1 in a barrier."""
    processes = [changed(fake_native.process(rank, 0, "running"), net_ns=2 * S) for rank in range(2)]
    processes = [changed(each, threads_ns=2 * S, mpi_ns=2 * S, whole_mpi_ns=2 * S) for each in processes]
    processes[0] = changed(processes[0], threads_ns=4 * S)
    given = {"inside": True, "made_mpi_calls": True, "enter_ns": fake_native.START_NS}
    open_calls = [
        made(CurrentCall, rank=0, process=0, function="omp_implicit_barrier", **given),
        made(CurrentCall, rank=0, process=0, thread=1, function="MPI_Recv", **given),
        made(CurrentCall, rank=1, process=1, function="MPI_Barrier", **given),
    ]
    known = explained(*processes, calls=open_calls)
    assert known.share(sum(ns for _, ns in known.calls_under_way)) == 1
    assert (known.total_ns, known.lost_ns) == (6 * S, 4 * S)
