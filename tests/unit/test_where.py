"""The places of ranks, and which of them are deadlocked, on calls made by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import fake_native
import pytest
from made import made
from seen_calls import COMMUNICATORS, call, computing, request, running, shown
from some_run import metadata
from tare._native import Communicator, CurrentCall
from tare.analysis import where
from tare.analysis.blocked import ANY
from tare.analysis.explain import ended
from tare.analysis.rows import changed


def blocked(run: Any) -> list[int]:
    found = where.look(run).deadlock
    return sorted(each.call.rank for each in found.blocked) if found else []


def test_two_that_receive_from_each_other() -> None:
    found = where.look(
        running(call(0, "MPI_Recv", 1, 7), call(1, "MPI_Recv", 0, 7), computing(2), computing(3))
    )
    assert found.deadlock is not None
    assert found.deadlock.cycles == (((0, 0), (0, 1)),)
    assert [each.waits_for for each in found.deadlock.blocked] == [((0, 1),), ((0, 0),)]


def test_crossed_sends() -> None:
    ring = [call(rank, "MPI_Send", (rank + 1) % 4, 1) for rank in range(4)]
    found = where.look(running(*ring)).deadlock
    assert found is not None
    assert found.cycles == (((0, 0), (0, 1), (0, 2), (0, 3)),)


def test_a_message_under_way_is_no_deadlock() -> None:
    assert blocked(running(call(0, "MPI_Recv", 1, 7), call(1, "MPI_Send", 0, 7))) == []
    assert blocked(running(call(0, "MPI_Recv", ANY, ANY), call(1, "MPI_Send", 0, 7))) == []
    # Each waits for its receive, and both messages are on their way.
    pair = [
        call(rank, "MPI_Waitall", requests=2, communicator=-1,
             pending=[request("MPI_Irecv", 1 - rank), request("MPI_Isend", 1 - rank)])
        for rank in (0, 1)
    ]  # fmt: skip
    assert blocked(running(*pair)) == []


def test_a_lock_is_waited_for_until_its_holder_gives_it_back() -> None:
    """Rank 0 holds a lock and waits for rank 1, which wants one: of rank 2, which is in MPI."""
    calls = [call(0, "MPI_Recv", 1, 7), call(1, "MPI_Win_lock", 2), call(2, "MPI_Recv", 0, 7), computing(3)]
    taken: dict[str, Any] = {"MPI_Win_lock": {(0, 0): 3, (3, 0): 1}, "MPI_Win_unlock": {(0, 0): 2, (3, 0): 1}}
    found = where.look(running(*calls, completed=taken)).deadlock
    assert found is not None
    assert found.cycles == (((0, 0), (0, 1)),)
    # The target may grant it when it comes back to MPI; and so may whoever else holds one.
    assert blocked(running(*calls[:2], computing(2), calls[3], completed=taken)) == []
    taken["MPI_Win_lock"][3, 0] = 2
    assert blocked(running(*calls, completed=taken)) == []
    # Nobody holds one: it is about to be granted.
    taken["MPI_Win_lock"] = {(0, 0): 2}
    found_none = where.look(running(*calls, completed=taken))
    assert found_none.deadlock is None
    text = shown(running(*calls, completed=taken))
    assert "No deadlock that is certain: ranks 0, 2 wait for rank 1" in text
    assert "MPI_Win_lock of rank 2" in text


def test_threads_that_never_call_mpi_hide_no_deadlock() -> None:
    """Neither those of a team that idle nor those that are in calls of other sources."""
    idle = call(0, "read", thread=1, inside=False, made_mpi_calls=False, leave_ns=fake_native.START_NS)
    busy = call(1, "omp_implicit_task", thread=1, made_mpi_calls=False)
    calls = [call(0, "MPI_Recv", 1, 7), idle, call(1, "MPI_Recv", 0, 7), busy, computing(2), computing(3)]
    run = running(*calls)
    assert blocked(run) == [0, 1]
    assert [(row.rank, row.thread) for row in where.look(run).rows][:4] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    text = shown(run)
    assert "rank 1 thread 1" in text
    assert "in omp_implicit_task, for" in text
    assert "since read" not in text
    # A thread that has called MPI may do so again.
    calls[1] = call(0, "MPI_Send", 2, thread=1, inside=False, leave_ns=fake_native.START_NS)
    assert blocked(running(*calls)) == []


def test_another_tag_is_another_message() -> None:
    assert blocked(running(call(0, "MPI_Recv", 1, 7), call(1, "MPI_Ssend", 0, 8))) == [0, 1]


def test_another_communicator_is_another_message() -> None:
    assert blocked(running(call(0, "MPI_Recv", 1, 7), call(1, "MPI_Ssend", 0, 7, communicator=1))) == [0, 1]


@pytest.mark.parametrize(("others", "stuck"), [(computing(3), []), (call(3, "MPI_Recv", 2, 1), [0, 1, 2, 3])])
def test_any_source_waits_until_nobody_can_send(others: CurrentCall, stuck: list[int]) -> None:
    run = running(*(call(rank, "MPI_Recv", ANY, 1) for rank in range(3)), others)
    assert blocked(run) == stuck


def test_rank_that_misses_a_barrier_and_waits_for_one_inside() -> None:
    inside = [call(rank, "MPI_Barrier") for rank in (0, 1, 2)]
    found = where.look(running(*inside, call(3, "MPI_Recv", 0, 5))).deadlock
    assert found is not None
    assert found.cycles == (((0, 0), (0, 3)),)
    assert len(found.blocked) == 4
    assert blocked(running(*inside, computing(3))) == []
    assert blocked(running(*inside)) == []  # nothing is known of rank 3


def test_barrier_of_part_of_the_ranks_needs_only_these() -> None:
    assert (
        blocked(running(call(1, "MPI_Barrier", communicator=1), computing(3), call(0, "MPI_Recv", 1, 0)))
        == []
    )
    run = running(
        call(1, "MPI_Barrier", communicator=1), call(3, "MPI_Recv", 1, 0), computing(0), computing(2)
    )
    assert blocked(run) == [1, 3]


def test_ranks_behind_a_broadcast_are_not_missed() -> None:
    """The root has left its second broadcast; rank 1 waits in it for rank 2, which waits for rank 1."""
    counts = {"MPI_Bcast": {(0, 0): 2, (1, 0): 1, (2, 0): 1, (3, 0): 2}}
    calls = [computing(0), call(1, "MPI_Bcast", 0), call(2, "MPI_Recv", 1, 1), computing(3)]
    assert blocked(running(*calls, completed=counts)) == [1, 2]
    # While the root is missing, it alone is waited for.
    counts["MPI_Bcast"][0, 0] = 1
    assert blocked(running(*calls, completed=counts)) == []


def test_scan_waits_for_lower_ranks() -> None:
    scan = call(2, "MPI_Scan")
    others = [computing(0), computing(1)]
    assert blocked(running(scan, *others, call(3, "MPI_Recv", 2, 0))) == []


def test_waits_know_their_requests() -> None:
    receive = call(0, "MPI_Wait", requests=1, communicator=-1, pending=[request("MPI_Irecv", 1)])
    other = call(1, "MPI_Recv", 0, 9)
    assert blocked(running(receive, other, computing(2), computing(3))) == [0, 1]
    idle = changed(receive, pending=[request("MPI_Irecv", 1, waited_for=False)])
    assert blocked(running(idle, other)) == []


@pytest.mark.parametrize("function", ["MPI_Waitall", "MPI_Waitany", "MPI_Waitsome"])
def test_some_of_several_requests_may_be_complete(function: str) -> None:
    """So whom it waits for is not known, but only that all who are left cannot go on."""
    either = [request("MPI_Irecv", 1), request("MPI_Irecv", 2)]
    waiting = call(0, function, requests=2, communicator=-1, pending=either)
    other = call(1, "MPI_Recv", 0, 9)
    assert blocked(running(waiting, other, computing(2), computing(3))) == []
    assert blocked(running(waiting, other, call(2, "MPI_Recv", 0, 9), computing(3))) == [0, 1, 2]
    # One of three requests is not known: it may be the one that completes.
    unknown = changed(waiting, requests=3)
    assert blocked(running(unknown, other, call(2, "MPI_Recv", 0, 9))) == []


def test_sendrecv_waits_for_one_or_the_other() -> None:
    exchange = call(0, "MPI_Sendrecv", 1, 3, source=2, source_world=2, source_tag=3)
    receiver = call(2, "MPI_Recv", 0, 4)
    assert blocked(running(exchange, receiver, computing(1), computing(3))) == []
    assert blocked(running(exchange, receiver, call(1, "MPI_Recv", 0, 4), computing(3))) == [0, 1, 2]
    assert blocked(running(exchange, call(2, "MPI_Send", 0, 3), call(1, "MPI_Recv", 0, 4))) == []
    last = call(0, "MPI_Sendrecv", -2, 3, source=2, source_world=2, source_tag=3)
    assert blocked(running(last, receiver, computing(1))) == [0, 2]


def test_requests_that_send_and_receive_may_be_what_is_missing() -> None:
    """Rank 1 has begun an exchange with somebody before it waits: perhaps what rank 0 waits for."""
    begun = changed(request("MPI_Isendrecv", 3, waited_for=False), receives=True)
    calls = [call(0, "MPI_Recv", 1, 7), call(1, "MPI_Recv", 0, 9, pending=[begun])]
    assert blocked(running(*calls, computing(2), computing(3))) == []
    waiting = call(1, "MPI_Wait", requests=1, communicator=-1, pending=[changed(begun, waited_for=True)])
    assert blocked(running(calls[0], waiting, computing(2), computing(3))) == []


@pytest.mark.parametrize("function", ["MPI_Ibarrier", "MPI_Iallreduce_c", "MPI_Comm_idup"])
def test_collective_that_does_not_block(function: str) -> None:
    """Rank 0 has begun its second one, rank 1 its first only, and waits for rank 0."""
    started = changed(request(function, None), tag=None)
    waiting = call(0, "MPI_Wait", requests=1, communicator=-1, pending=[started])
    begun = {function: {(0, 0): 2, (1, 0): 1, (2, 0): 2, (3, 0): 2}}
    others = [call(1, "MPI_Recv", 0, 9), computing(2), computing(3)]
    assert blocked(running(waiting, *others, completed=begun)) == [0, 1]
    begun[function][1, 0] = 2
    assert blocked(running(waiting, *others, completed=begun)) == []


def test_full_tables_are_not_counted_on() -> None:
    """The table of rank 1 has no rows by communicator left: how many barriers it has left is not known."""
    calls = [
        call(0, "MPI_Barrier"),
        call(1, "MPI_Recv", 0, 9),
        call(2, "MPI_Barrier"),
        call(3, "MPI_Barrier"),
    ]
    assert blocked(running(*calls)) == [0, 1, 2, 3]
    assert blocked(running(*calls, completed={"MPI_Barrier": {(1, -1): 5}})) == []


@pytest.mark.parametrize(("alike", "stuck"), [(16, [0, 1, 2, 3]), (17, [])])
def test_communicators_that_share_rows_do_not_tell_who_has_passed(alike: int, stuck: list[int]) -> None:
    """Ranks 1 to 3 may have been in the barrier that rank 0 has not left; its row is that of others."""
    copies = [
        made(Communicator, name=f"#{number}", size=4, key=9 + number, members=[(0, 1, 4)])
        for number in range(alike)
    ]
    inside = [call(0, "MPI_Barrier", communicator=1 + alike)]
    others = [call(rank, "MPI_Recv", rank - 1, 5) for rank in (1, 2, 3)]
    run = running(*inside, *others, communicators=[*COMMUNICATORS, *copies], completed={"MPI_Barrier": {}})
    assert blocked(run) == stuck


def test_rank_that_has_ended_is_waited_for_in_vain() -> None:
    run = running(call(0, "MPI_Recv", 1, 7), computing(2), computing(3), states={1: "killed"})
    found = where.look(run).deadlock
    assert found is not None
    assert (found.cycles, found.ended) == ((), ((0, 1),))
    assert [each.call.rank for each in found.blocked] == [0]


def test_how_long_a_killed_rank_was_in_its_call_is_not_known_while_the_run_goes_on() -> None:
    calls = [call(0, "MPI_Recv", 1, 7), call(1, "MPI_Barrier"), computing(2), computing(3)]
    rows = {row.rank: row for row in where.look(running(*calls, states={1: "killed"})).rows}
    assert rows[0].for_ns == 1_100_000_000
    assert rows[1].inside and rows[1].for_ns is None


def test_finalize_is_for_all() -> None:
    finalizing = [call(rank, "MPI_Finalize", communicator=-1) for rank in (1, 2, 3)]
    assert blocked(running(*finalizing, call(0, "MPI_Recv", 1, 7))) == [0, 1, 2, 3]
    done = {"MPI_Finalize": {(0, -1): 1}}
    assert blocked(running(*finalizing, states={0: "finished"}, completed=done)) == []


def test_another_thread_can_help() -> None:
    first, second = call(0, "MPI_Recv", 1, 7), changed(computing(0), thread=1)
    assert blocked(running(first, second, call(1, "MPI_Recv", 0, 7))) == []


def test_calls_that_say_nothing_block_nobody() -> None:
    assert blocked(running(call(0, "MPI_Win_fence"), call(1, "MPI_Recv", 0, 1))) == []


def test_deadlock_must_stand_at_a_second_look() -> None:
    calls = [call(0, "MPI_Recv", 1, 7), call(1, "MPI_Recv", 0, 7)]
    first = where.look(running(*calls))
    assert first.deadlock is not None
    seen = {where.identity(each) for each in first.calls}
    assert where.look(running(*calls), seen).deadlock == first.deadlock
    assert where.look(running(calls[0], changed(calls[1], enter_ticks=5)), seen).deadlock is None


def test_calls_that_have_just_begun_are_not_blocked() -> None:
    now_ns = fake_native.START_NS + 2_100_000_000
    calls = [call(rank, "MPI_Recv", 1 - rank, 7) for rank in (0, 1)]
    calls[1] = changed(calls[1], enter_ns=now_ns - 400_000_000)
    look = where.look(running(*calls))
    assert look.deadlock is None
    assert where.blocked_in_s(look) == pytest.approx(0.6)


def test_stopped_ranks_may_go_on() -> None:
    run = running(call(0, "MPI_Recv", 1, 7), call(1, "MPI_Recv", 0, 7))
    run.processes[1] = changed(run.processes[1], stopped=True)
    assert blocked(run) == []
    assert "rank 1     STOPPED by a signal or a debugger; MPI_Recv from rank 0" in shown(run)


def test_run_that_was_killed_shows_its_deadlock() -> None:
    states = dict.fromkeys(range(4), "killed")
    calls = [call(0, "MPI_Recv", 1, 7), call(1, "MPI_Recv", 0, 7), computing(2), computing(3)]
    run = running(*calls, states=states)
    run.end_ns = fake_native.START_NS + 61 * 10**9
    assert blocked(run) == [0, 1]
    text = shown(run)
    assert "ranks 0-1  killed in MPI_Recv from ranks 0-1, tag 7, begun 60.0 s before the end" in text
    assert "Deadlock: ranks 0-1 wait for each other" in text
    # Killed a moment after the calls began: the message may have been on its way.
    run.end_ns = fake_native.START_NS + 10**9 + 5
    assert blocked(run) == []


def over(*calls: CurrentCall, ends: dict[int, int], until: str = "end") -> Any:
    """A run whose ranks were all killed: these so many milliseconds after it began, the others after 9 s."""
    run = running(*calls, states=dict.fromkeys(range(4), "killed"))
    run.processes = [
        changed(each, until=until, wall_ns=ends.get(each.rank, 9_000) * 10**6, signal=9)
        for each in run.processes
    ]
    run.end_ns = fake_native.START_NS + 9 * 10**9
    return run


def test_a_rank_that_was_killed_long_before_the_others_has_ended_for_them() -> None:
    calls = [call(0, "MPI_Recv", 1, 7), computing(1), call(2, "MPI_Recv", 0, 7), computing(3)]
    run = over(*calls, ends={1: 5_000})
    assert blocked(run) == [0, 2]
    assert "Deadlock: rank 0 waits for rank 1, which was killed by SIGKILL" in shown(run)
    # Rank 3 ended even before, and nobody waits for it; rank 2 a little before rank 0.
    assert blocked(over(*calls, ends={1: 5_000, 3: 3_000, 2: 8_900})) == [0, 2]
    # What explains the end of the run is that of rank 1.
    run.meta, run.is_running = metadata(wall_ns=1, signal=9), False
    assert [(each.kind, each.ranks) for each in ended.findings(run)] == [("ended early", (1,))]
    # Who has been killed before may have waited, and one that waits may have been killed before.
    assert blocked(over(*calls, ends={0: 5_000, 2: 5_000})) == []


@pytest.mark.parametrize(("until", "end_ms"), [("end", 8_500), ("command", 5_000), ("last_seen", 5_000)])
def test_which_of_two_killed_ranks_ended_first_is_said_only_where_it_is_known(
    until: str, end_ms: int
) -> None:
    run = over(call(0, "MPI_Recv", 1, 7), computing(1), ends={1: end_ms}, until=until)
    assert blocked(run) == []
    text = shown(run)
    assert "Rank 0 waited for rank 1" in text
    assert "No deadlock" not in text
    assert "rank 1: killed by SIGKILL; last call: MPI_Send" in text


def test_ranks_that_wait_for_each_other_need_not_end_at_the_same_time() -> None:
    run = over(call(0, "MPI_Recv", 1, 7), call(1, "MPI_Recv", 0, 7), ends={1: 5_000})
    assert "Deadlock: ranks 0-1 wait for each other" in shown(run)


def test_a_deadlock_of_a_run_that_goes_on_is_told_if_it_was_seen_twice() -> None:
    run = running(call(0, "MPI_Recv", 1, 7), call(1, "MPI_Recv", 0, 7), is_running=True)
    look = where.look(run)
    assert [each.kind for each in ended.findings(run)] == ["still running"]
    going_on, found = ended.findings(run, (run, look))
    assert (going_on.kind, found.kind, found.ranks) == ("still running", "deadlock", (0, 1))
    # Rank 1 has ended early, but the run has not.
    run = running(call(0, "MPI_Recv", 1, 7), call(1, "MPI_Barrier"), states={1: "killed"}, is_running=True)
    kinds = [(each.kind, each.ranks, each.calls) for each in ended.findings(run, (run, where.look(run)))]
    assert kinds == [("still running", (), 0), ("ended early", (1,), 0), ("deadlock", (0,), 0)]


def kinds(run: Any) -> list[str]:
    return [each.kind for each in where.look(run).mismatches]


def test_roots_that_differ() -> None:
    calls = [call(0, "MPI_Reduce", 0), call(1, "MPI_Reduce", 0), call(2, "MPI_Reduce", 2), computing(3)]
    run = running(*calls)
    (found,) = where.look(run).mismatches
    assert [(side.root, side.ranks) for side in found.sides] == [(0, ((0, 0), (0, 1))), (2, ((0, 2),))]
    assert "ranks 0-1: root 0; rank 2: root 2" in shown(run)
    # Rank 2 is in its second one: that has a root of its own.
    assert kinds(running(*calls, completed={"MPI_Reduce": {(2, 0): 1}})) == []
    assert kinds(running(*calls[:2], computing(2), computing(3))) == []
    # What is not the same at a second look goes on.
    seen = where.identities(running(*calls[:2]).current_calls)
    assert where.look(running(*calls), seen).mismatches == []


def test_tags_and_communicators_that_do_not_match() -> None:
    receive = call(0, "MPI_Recv", 1, 7)
    assert kinds(running(receive, call(1, "MPI_Ssend", 0, 8))) == ["tags"]
    assert kinds(running(receive, call(1, "MPI_Ssend", 0, 7, communicator=1))) == ["communicators"]
    waiting = call(1, "MPI_Waitall", requests=1, communicator=-1, pending=[request("MPI_Isend", 0, 9)])
    assert kinds(running(receive, waiting)) == ["tags"]
    assert "for tag 7 from rank 1, which sends it tag 9" in " ".join(shown(running(receive, waiting)).split())
    # The message is for another rank.
    assert kinds(running(receive, call(1, "MPI_Recv", 0, 8, pending=[request("MPI_Isend", 2, 9)]))) == []


def test_a_message_that_was_never_received() -> None:
    def peer(rank: int, peer: int, sent: int, received: int) -> Any:
        return SimpleNamespace(rank=rank, peer=peer, sent_messages=sent, received_messages=received)

    calls = [
        call(0, "MPI_Recv", 1, 7),
        call(1, "MPI_Barrier"),
        call(2, "MPI_Barrier"),
        call(3, "MPI_Barrier"),
    ]
    for sent, messages in ((5, [2]), (3, [])):
        run = running(*calls, peers=lambda *_, sent=sent: [peer(0, 1, 9, 3), peer(1, 0, sent, 9)])
        assert [each.messages for each in where.look(run).mismatches] == messages
    run = running(*calls, peers=lambda *_: [peer(0, 1, 9, 3), peer(1, 0, 5, 9)])
    assert "Rank 1 has sent rank 0 2 messages that it has not received" in shown(run)
    # A request that was freed may have received them, or a call that is not in the counts.
    run.profile = lambda *_, **__: [SimpleNamespace(rank=0, calls=1)]
    assert kinds(run) == []
    run.profile = lambda *_, **__: []
    assert kinds(run) == ["unreceived"]
    run.processes[0] = changed(run.processes[0], pauses=1)
    assert kinds(run) == []
    run.processes[0] = changed(run.processes[0], pauses=0, failed_communication=1)
    assert kinds(run) == []
    run.processes[0] = changed(run.processes[0], failed_communication=0)
    run.has_counted_time = True
    assert kinds(run) == []


@pytest.mark.parametrize("why", ["pauses", "failed_communication", "left_calls", "callback_calls"])
def test_counts_that_do_not_say_how_far_a_rank_is_tell_no_deadlock(why: str) -> None:
    """Rank 1, by its count, has not come to the barrier in which the others are."""
    calls = [
        call(0, "MPI_Barrier"), call(1, "MPI_Recv", 0, 7), call(2, "MPI_Barrier"), call(3, "MPI_Barrier"),
    ]  # fmt: skip
    counts: dict[str, Any] = {"MPI_Barrier": {(rank, 0): 5 for rank in (0, 2, 3)} | {(1, 0): 4}}
    run = running(*calls, completed=counts)
    assert blocked(run) == [0, 1, 2, 3]
    run.processes[1] = changed(run.processes[1], **{why: 1})
    assert blocked(run) == []


def test_collectives_that_differ() -> None:
    both = [call(1, "MPI_Barrier", communicator=1), call(3, "MPI_Allreduce")]
    others = [call(0, "MPI_Allreduce"), call(2, "MPI_Allreduce")]
    assert kinds(running(*both, *others)) == ["order"]
    alike = [call(rank, "MPI_Barrier" if rank % 2 else "MPI_Allreduce") for rank in range(4)]
    assert kinds(running(*alike)) == ["collectives"]
    text = " ".join(shown(running(*alike)).split())
    assert "ranks 1, 3 in MPI_Barrier on MPI_COMM_WORLD" in text
    assert "ranks 0, 2 in MPI_Allreduce on MPI_COMM_WORLD" in text


def test_polling_is_no_deadlock_unless_it_goes_on() -> None:
    """Rank 1 asks for a message of rank 0, which waits for rank 1."""
    poll = changed(computing(1), function="MPI_Test", peer=None, pending=[request("MPI_Irecv", 0, 7, False)])
    first = where.look(running(call(0, "MPI_Recv", 1, 5), poll))
    assert (first.deadlock, first.stalled) == (None, None)
    assert where.needs_second_look(first)
    assert where.blocked_in_s(first) == where.POLLING_AFTER_S
    seen = where.identities(first.calls)

    def second(**more: Any) -> where.Look:
        return where.look(running(call(0, "MPI_Recv", 1, 5), changed(poll, enter_ticks=5, **more)), seen)

    found = second()
    assert found.deadlock is None
    assert found.stalled is not None
    assert found.stalled.cycles == (((0, 0), (0, 1)),)
    assert [row.polling for row in found.rows] == [False, True, False, False]
    # It asks for another message, or waits elsewhere, or has it under way.
    assert second(pending=[changed(request("MPI_Irecv", 0, 7, False), start_ns=1)]).stalled is None
    assert second(function="MPI_Iprobe").stalled is None
    assert second(pending=[request("MPI_Irecv", 2, 7, False)]).stalled is None
