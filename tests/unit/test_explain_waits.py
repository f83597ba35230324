"""What is said of waits and of imbalance, by waits and times that are known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import fake_native
import pytest
from made import made
from tare._native import Loop, Process, RootSum, SlowIteration, WrongOrder
from tare.analysis.efficiency import useful_ns
from tare.analysis.explain import causes, computing, iterations, losses, order, waiting
from tare.analysis.explain.basis import Basis, Told
from tare.analysis.explain.finding import Finding
from tare.analysis.explain.losses import Activity, Line, Loss, Losses
from tare.analysis.rows import Placed, changed
from tare.functions import LOSS


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


MS = 1_000_000
BARRIER: Line = ("MPI_Barrier", place(3))
SEND: Line = ("MPI_Send", place(1))
RECEIVE: Line = ("MPI_Recv", place(2))
LINES = (SEND, RECEIVE, BARRIER)  # the site of each is its index


def wait(at: Line, kind: str, cause_rank: int, before: Line, **by_rank_ms: int) -> Loss:
    """Waits for what a rank does outside MPI before the calls of a line; `r0=5`: rank 0 waits for 5 ms."""
    by_rank = {int(rank[1:]): float(ms * MS) for rank, ms in by_rank_ms.items()}
    activity = Activity(*before, in_call=False)
    loss = Loss(at, sum(by_rank.values()), kind, cause_rank, activity, by_rank=by_rank)
    loss.by_time, loss.waits_by_time = [loss.time_ns], [10.0]
    return loss


def traced(worked_ms: dict[Line, dict[int, int]], ranks: int = 4, **run: Any) -> Any:
    """A run of one second; `worked_ms`: what ranks worked before the calls of lines."""
    worked_ns = {line: {rank: ms * MS for rank, ms in of.items()} for line, of in worked_ms.items()}
    report = SimpleNamespace(critical_path=[], wrong_order=run.pop("wrong_order", []))
    empty: dict[str, Any] = {"structure": SimpleNamespace(loops=[], phases=[])}
    return SimpleNamespace(
        is_traced=True, net_ns=1000 * MS, world=0, ranks=ranks, exchange=None, unreturned_ns=0,
        share=lambda time_ns: time_ns / (1000 * MS * ranks), share_blocked=lambda *_: 0.0,
        place=lambda site: LINES[site][1], worked_ns=worked_ns, outside_ns=worked_ns,
        processes=[SimpleNamespace(rank=rank) for rank in range(ranks)],
        sites_of={line: {site} for site, line in enumerate(LINES)}, lines=[], line_of_row=None,
        run=SimpleNamespace(wait_report=report, **{**empty, **run}),
    )  # fmt: skip


def hiccups(rank: int, longer_ms: int) -> Any:
    """Three of 40 iterations of a rank take this much longer in all, before a barrier."""
    slow = [
        made(
            SlowIteration, duration_ns=(20 + longer_ms // 3) * MS, cause_rank=rank, cause_site=2,
            cause_function="MPI_Barrier", cause_ns=longer_ms // 3 * MS,
        )
        for _ in range(3)
    ]  # fmt: skip
    loop = made(
        Loop, rank=rank, function="MPI_Barrier", site=2, iterations=40, median_ns=20 * MS, slow_iterations=3,
        beyond_ns=longer_ms * MS, slow=slow,
    )  # fmt: skip
    return SimpleNamespace(loops=[loop], phases=[])


def test_slow_iterations_of_a_rank_take_no_waits_for_another_one() -> None:
    """Rank 1 is slower all the time, by 300 ms; rank 2 in three iterations, by 600 ms."""
    of = traced({BARRIER: {0: 100, 1: 400, 2: 700, 3: 100}}, structure=hiccups(2, 600))
    told = Told([], Losses([
        wait(BARRIER, "wait at barrier", 2, BARRIER, r0=600, r1=570, r3=600),
        wait(BARRIER, "wait at barrier", 1, BARRIER, r0=300, r2=280, r3=300),
    ]))  # fmt: skip
    few, steady = causes.of_waits(of, told)
    assert (few.kind, few.cause_rank, few.lost_ns) == ("slow iterations", 2, 1770 * MS)
    assert (steady.kind, steady.ranks, steady.lost_ns) == ("slow rank", (1,), 880 * MS)
    assert (steady.most_ns, steady.mean_ns) == (400 * MS, 100 * MS)
    told.findings += [few, steady]
    assert iterations.slow_iterations(of, told) == []


def test_what_a_rank_loses_in_all_iterations_is_left_by_its_slow_ones() -> None:
    of = traced({BARRIER: {0: 100, 1: 100, 2: 700, 3: 100}}, structure=hiccups(2, 390))
    told = Told([], Losses([wait(BARRIER, "wait at barrier", 2, BARRIER, r0=600, r1=600, r3=600)]))
    few, steady = causes.of_waits(of, told)
    assert (few.kind, few.lost_ns) == ("slow iterations", 1170 * MS)
    assert (steady.kind, steady.ranks, steady.lost_ns) == ("slow rank", (2,), 630 * MS)
    assert (steady.most_ns, steady.mean_ns) == (310 * MS, 100 * MS)


def test_slow_iterations_of_a_rank_that_loses_more_in_all_others_are_not_told_apart() -> None:
    of = traced({BARRIER: {0: 100, 1: 100, 2: 700, 3: 100}}, structure=hiccups(2, 291))
    told = Told([], Losses([wait(BARRIER, "wait at barrier", 2, BARRIER, r0=600, r1=600, r3=600)]))
    (steady,) = causes.of_waits(of, told)
    assert (steady.kind, steady.ranks, steady.lost_ns) == ("slow rank", (2,), 1800 * MS)
    assert iterations.slow_iterations(of, told) == []


@pytest.mark.parametrize(
    ("worked_ms", "kind"), [({0: 400, 1: 401}, "alternating imbalance"), ({0: 200, 1: 600}, "load imbalance")]
)
def test_ranks_take_turns_among_those_that_come_to_a_line(worked_ms: dict[int, int], kind: str) -> None:
    """Ranks 2 and 3 never come there; they wait a little at the end."""
    of = traced({BARRIER: worked_ms})
    told = Told([], Losses([
        wait(BARRIER, "wait at NxN", 0, BARRIER, r1=200),
        wait(BARRIER, "wait at NxN", 1, BARRIER, r0=200),
        wait(RECEIVE, "wait at barrier", 1, BARRIER, r2=40, r3=40),
    ]))  # fmt: skip
    (imbalance,) = causes.of_waits(of, told)
    assert (imbalance.kind, imbalance.most_ns) == (kind, max(worked_ms.values()) * MS)
    assert of.worked_ns[BARRIER] == {rank: ms * MS for rank, ms in worked_ms.items()}


@pytest.mark.parametrize("worked_ms", [{0: 400, 1: 401}, {0: 520, 1: 400}])
def test_a_single_rank_that_is_late_takes_no_turns_and_is_not_the_one_that_waits(
    worked_ms: dict[int, int],
) -> None:
    """Rank 1 waits for its own threads, which its processor time does not show."""
    of = traced({BARRIER: worked_ms}, ranks=2)
    waits = [
        wait(BARRIER, "wait at barrier", 1, BARRIER, r0=190),
        wait(BARRIER, "wait at barrier", 0, BARRIER, r1=10),
    ]
    (late,) = causes.of_waits(of, Told([], Losses(waits)))
    assert (late.kind, late.ranks, late.cause_rank) == ("wait at barrier", (0,), 1)
    assert (late.most_ns, late.mean_ns, late.lost_ns) == (None, None, 200 * MS)


def test_ranks_that_never_come_to_a_line_may_wait_for_those_that_do() -> None:
    of = traced({BARRIER: {0: 400, 1: 401}})
    waits = wait(RECEIVE, "wait at barrier", 1, BARRIER, r2=400, r3=400)
    (imbalance,) = causes.of_waits(of, Told([], Losses([waits])))
    assert (imbalance.kind, imbalance.ranks, imbalance.mean_ns) == ("load imbalance", (0, 1), None)


@pytest.mark.parametrize(("lay_ms", "is_told"), [(60, True), (45, False)])
def test_the_order_of_receives_is_told_though_ranks_wait_for_it_in_a_barrier(
    lay_ms: int, is_told: bool
) -> None:
    """The others wait in a barrier for the same cause, and far longer."""
    receives = made(WrongOrder, rank=0, function="MPI_Recv", site=1, waits=10, time_ns=lay_ms * MS)
    of = traced({SEND: {1: 900}}, wrong_order=[receives])
    told = Told([], Losses([
        wait(RECEIVE, "late sender", 1, SEND, r0=100),
        wait(BARRIER, "wait at barrier", 1, SEND, r2=600, r3=600),
    ]))  # fmt: skip
    found = {each.kind: each for each in causes.of_waits(of, told)}
    assert ("wrong order" in found) == is_told
    assert sum(each.lost_ns for each in found.values()) == 1300 * MS
    if is_told:
        wrong = found["wrong order"]
        assert (wrong.ranks, wrong.function, wrong.cause_rank) == ((0,), "MPI_Recv", 1)
        assert (wrong.lost_ns, wrong.most_ns) == (100 * MS, lay_ms * MS)


@pytest.mark.parametrize(
    ("gain_ms", "needless_ms"),
    [
        (None, 0),  # not known
        (49, 0),
        (100, 400),  # so much of it would not be elsewhere
        (300, 900),
    ],
)
def test_a_barrier_takes_the_waits_that_would_not_be_elsewhere(gain_ms: int | None, needless_ms: int) -> None:
    """Rank 0 works longer before a barrier, which a collective of a root follows."""
    asked = []

    def replayed(world: int, changes: Any) -> list[Any]:
        asked.extend(changes)
        without_ns = [900 * MS - (gain_ms or 0) * MS]
        obstacle = "too long" if gain_ms is None else None
        return [SimpleNamespace(
            world=world, obstacle=obstacle, unknown_ns=0, runtime_ns=1000 * MS, ideal_ns=900 * MS,
            without_ns=without_ns, without_by_part_ns=without_ns,
        )]  # fmt: skip

    processes = [SimpleNamespace(trace=SimpleNamespace(records=10))]
    of = traced({BARRIER: {0: 400, 1: 100, 2: 100, 3: 100}}, processes=processes, replayed_with=replayed)
    gather = "MPI_Gather", place(4)
    steps = [(*BARRIER, 10), (*gather, 11)] * 10
    calls = [
        order.Call(function, at, 0, 20 * (number // 2) + start, 20 * (number // 2) + start)
        for number, (function, at, start) in enumerate(steps)
    ]
    told = Told([], Losses([wait(BARRIER, "wait at barrier", 0, BARRIER, r1=300, r2=300, r3=300)]))
    needless = order._needless(of, told, calls)
    assert asked == [([], [2], [])]
    assert [each.lost_ns for each in needless] == ([needless_ms * MS] if needless_ms else [])
    rest = causes.of_waits(of, told)
    assert [(each.kind, each.ranks) for each in rest] == ([("slow rank", (0,))] if needless_ms < 900 else [])
    assert sum(each.lost_ns for each in (*needless, *rest)) == 900 * MS


def test_what_lies_behind_a_gap_of_the_trace_follows_no_barrier() -> None:
    """One of two threads has a gap before each collective, which follows at once; the other makes a call."""
    rows: list[dict[str, Any]] = []
    for step in range(10):
        for function, start_ms in [
            ("MPI_Barrier", 10),
            (LOSS, 11),
            ("MPI_Allreduce", 12),
            ("MPI_Comm_rank", 13),
        ]:
            of_call = {"function": function, "world": 0, "start_ns": (20 * step + start_ms) * MS}
            rows.append({**of_call, "thread": 0, "duration_ns": MS, "communicator": 0})
    rows += [{**rows[0], "thread": 1}, {**rows[1], "thread": 1}, {**rows[1], "world": 1}]
    of: Any = SimpleNamespace(
        processes=[SimpleNamespace(rank=0)], is_traced=True, world=0, place=lambda _: place(1),
        run=SimpleNamespace(events=lambda *_: rows), share=lambda _: 1.0, lines=[],
    )  # fmt: skip
    calls = order.calls_of_a_rank(of)
    assert [call.is_behind_gap for call in calls] == [False, True] * 10
    losses = Losses([Loss(("MPI_Barrier", place(1)), 100 * MS)])
    assert order._needless(of, Told([], losses), calls) == []
    without_gaps = [changed(call, is_behind_gap=False) for call in calls]
    assert len(order._needless(of, Told([], losses), without_gaps)) == 1


def test_the_line_of_an_imbalance_is_that_in_which_the_others_lose_most() -> None:
    """It may be MPI_Finalize, which is in no row of the profile; of a collective, only waits count."""
    row = SimpleNamespace(imbalance_ns=200 * MS)
    reduce, finalize = ("MPI_Allreduce", place(1)), ("MPI_Finalize", place(2))
    of: Any = SimpleNamespace(lines=[row], line_of_row=lambda _: reduce)
    losses = [Loss(reduce, 900 * MS), Loss(finalize, 201 * MS), Loss(finalize, 90 * MS, "wait at barrier")]
    assert computing._main_line(of, losses) == finalize
    assert computing._main_line(of, losses[:2]) == finalize
    assert computing._main_line(of, losses[:1]) == reduce


def test_what_ends_a_worker_is_no_task() -> None:
    """Each worker gets a last message to which no result comes back; one has sent results to another."""
    pairs = {(0, 1): 6, (1, 0): 5, (0, 2): 3, (2, 0): 2, (2, 1): 9, (1, 2): 0, (0, 0): 7, (1, None): 4}
    rows = [SimpleNamespace(rank=rank, peer=peer, sent_messages=sent) for (rank, peer), sent in pairs.items()]
    run = SimpleNamespace(peers=lambda *_: rows, rows=lambda of: of)
    results, given = Basis.messages_with(SimpleNamespace(run=run, world=0), 0)  # type: ignore[arg-type]
    assert (results, given) == ({1: 5, 2: 2}, {1: 6, 2: 3})

    of = traced({SEND: {1: 250, 2: 320, 3: 250}})
    of.useful_ns = {0: 0, 1: 250 * MS, 2: 320 * MS, 3: 250 * MS}
    of.exchange = SimpleNamespace(busiest=0, busiest_messages=30, between=30)
    of.partners = lambda _: {1, 2, 3}
    of.messages_with = lambda _: ({1: 5, 2: 2}, {1: 6, 2: 3, 3: 5})  # of rank 3, no results come back
    told = Told([], Losses([
        wait(RECEIVE, "late sender", 1, SEND, r0=300), wait(BARRIER, "wait at barrier", 2, SEND, r1=200),
    ]))  # fmt: skip
    farm = waiting.farm(of, told)
    assert farm is not None
    assert (farm.calls, farm.cause_rank, farm.most_ns, farm.mean_ns) == (12, 2, 160 * MS, 50 * MS)


def test_a_collective_of_one_rank_alone_is_held_up_by_nobody() -> None:
    """Rank 1 is longer in a call on a file that it has opened alone; rank 0 waits for it in a barrier."""
    sync: Line = ("MPI_File_sync", LINES[0][1])
    cause = made(
        RootSum, kind="wait at barrier", function="MPI_Barrier", site=2, cause_rank=1, cause_site=0,
        cause_function=sync[0], cause_in_call=True, wait_ns=100 * MS, by_rank=[100 * MS, 0],
    )  # fmt: skip

    def kind(*sizes: int) -> str:
        of = traced({}, ranks=2)
        rows = [SimpleNamespace(world=0, line=sync, communicator_size=size) for size in sizes]
        of.run.profile, of.run.rows = lambda *_, **__: rows, lambda table: table
        of.line_of_row, of.root_sums, of.outside, of.weight = lambda row: row.line, [cause], [], lambda _: 1.0
        of.lines = [SimpleNamespace(line=BARRIER, function="MPI_Barrier", time_ns=200 * MS, calls=0)]
        of.absent_ns = 0
        return next(each.kind for each in losses.all_of(of).all if each.activity)

    assert kind(1) == kind(1, 1) == "wait at barrier"
    assert kind(2) == kind(1, 2) == kind() == ""
