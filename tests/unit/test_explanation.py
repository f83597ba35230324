"""The sentences of findings: every kind has one, and there are ten at most."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from made import made
from tare._native import Process, Scheduling
from tare.analysis.explain import explain
from tare.analysis.explain.basis import Basis
from tare.analysis.explain.finding import Explanation, Finding
from tare.analysis.rows import Placed
from tare.reporters import explanation

HERE = Placed(file="/src/solver.c", line=12, caller="step")
THERE = Placed(file="/src/solver.c", line=34, caller="exchange")

WITHOUT_PLACE = (
    "nothing measured", "still running", "failed", "cost of measuring", "serial computing", "only counted",
)  # fmt: skip
KINDS = [*explanation._SENTENCES, *explanation._WAITS, "slow iterations"]


def finding(kind: str) -> Finding:
    return Finding(
        kind=kind,
        share=0.25,
        time_ns=2_000_000_000,
        function="MPI_Recv",
        at=HERE,
        ranks=(1, 2),
        calls=10,
        cause_rank=3,
        cause_share=0.75,
        cause_function="MPI_Send",
        cause_at=THERE,
        cause_blocked=0.0,
        detail="9",
    )


def explained(*findings: Finding, traced: bool = True, notes: tuple[str, ...] = ()) -> Explanation:
    return Explanation(
        findings=findings,
        ranks=4,
        net_ns=1_000_000_000,
        mpi_share=0.03,
        total_ns=4_000_000_000,
        lost_ns=40_000_000,
        unexplained_ns=40_000_000,
        is_traced=traced,
        is_too_short=False,
        notes=notes,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_sentence(kind: str) -> None:
    said = explanation.sentence(finding(kind))
    assert said.endswith(".") and said[0].isupper()
    if kind not in WITHOUT_PLACE:
        assert "solver.c:12" in said
    of_ends = ("nothing measured", "still running", "failed", "ended early", "deadlock")
    if kind not in (*of_ends, "cost of measuring"):
        assert "25.0 %" in said


@pytest.mark.parametrize("kind", KINDS)
def test_a_place_that_is_not_known_is_left_out(kind: str) -> None:
    bare = Finding(kind=kind, function="MPI_Recv", ranks=(1,), detail="0")
    assert "MPI_Recv at " not in explanation.sentence(bare)


@pytest.mark.parametrize(
    ("kind", "waits"),
    [
        ("early reduce", "where ranks 1-2 wait as root for the others to come"),
        ("late broadcast", "where ranks 1-2 wait for the root to come"),
        ("early scan", "where ranks 1-2 wait for lower ranks to come"),
    ],
)
def test_the_ranks_of_a_wait_at_a_root_do_not_spend_what_others_wait_elsewhere(kind: str, waits: str) -> None:
    found = replace(finding(kind), here_share=0.4)
    said = explanation.sentence(found)
    takes = "waiting takes 25.0 % of the ranks' time (2.00 s), 40.0 % of it in MPI_Recv at solver.c:12"
    assert takes in said and f"{waits}, because rank 3" in said
    assert "ranks 1-2 spend" in explanation.sentence(replace(found, here_share=1.0))


def test_the_end_is_told_of_each_rank_as_it_was() -> None:
    first = Finding(
        kind="ended early", ranks=(1,), calls=3, function="MPI_Recv", at=HERE, cause_in_call=True,
        detail="killed by SIGSEGV",
    )  # fmt: skip
    assert explanation.sentence(first) == (
        "The run did not come to its end: rank 1 was killed by SIGSEGV, in MPI_Recv at solver.c:12 (in step) "
        "(3 processes ended early)."
    )
    second = Finding(kind="ended early", ranks=(0, 2), function="MPI_Barrier", detail="killed by SIGKILL")
    assert explanation.sentence(second) == "Ranks 0, 2 were killed by SIGKILL, after MPI_Barrier."
    failed = Finding(kind="failed", ranks=(1,), detail="exit code 2")
    assert explanation.sentence(failed) == (
        "The program failed: rank 1 ended with exit code 2 after it had finalized MPI."
    )
    of_launcher = Finding(kind="failed", detail="killed by SIGTERM")
    assert "killed by SIGTERM" in explanation.sentence(of_launcher)


def test_who_was_blocked_did_not_compute() -> None:
    late = replace(finding("late sender"), cause_in_call=False)
    assert "because rank 3 computes longer before MPI_Send" in explanation.sentence(late)
    assert "because rank 3 is blocked longer before MPI_Send" in explanation.sentence(
        replace(late, cause_blocked=0.8)
    )
    assert "because rank 3 computes or is blocked longer" in explanation.sentence(
        replace(late, cause_blocked=None)
    )
    slow = replace(finding("load imbalance"), ranks=(2,), cause_blocked=0.8)
    assert "rank 2 computes or is blocked" in explanation.sentence(slow)


@pytest.mark.parametrize(
    ("blocked_ms", "outside_ms", "late_ms", "unread_ms", "share"),
    [
        (40, 40, 100, 0, 0.4),  # all is known to be outside of calls
        (51, 40, 100, 0, None),  # 11 ms were in calls, or outside: it computes less than half of it, or more
        (90, 60, 100, 0, 0.6),  # it is blocked most of it in any case
        (50, 40, 0, 0, 0.4),
        (0, 0, 100, 60, None),  # since its last call, which was the last reading
        (0, 0, 100, 40, 0.0),
    ],
)
def test_it_is_not_known_of_a_rank_that_was_blocked_elsewhere(
    blocked_ms: int, outside_ms: int, late_ms: int, unread_ms: int, share: float | None
) -> None:
    scheduling = made(
        Scheduling, blocked_ns=blocked_ms, blocked_outside_ns=outside_ms, unknown_ns=0, observed_ns=1000
    )
    process = made(Process, rank=3, net_ns=1000 + unread_ms, scheduling=scheduling)
    known = outside_ms / 100
    assert Basis.share_blocked(SimpleNamespace(processes=[process]), 3, known, late_ms) == share  # type: ignore[arg-type]


def test_of_a_killed_rank_without_readings_it_is_not_known_whether_it_computed() -> None:
    run = SimpleNamespace(meta=SimpleNamespace(imported=None))
    for finalized, share in ((True, 0.0), (False, None)):
        process = made(Process, rank=3, net_ns=100, finalized=finalized, scheduling=made(Scheduling))
        basis = SimpleNamespace(processes=[process], run=run)
        assert Basis.share_blocked(basis, 3, 0.0, 100) == share  # type: ignore[arg-type]


def test_what_a_lack_of_processors_costs_is_told_as_far_as_it_is_known() -> None:
    crowd = Finding(
        kind="oversubscription", share=0.2, ranks=(0, 1, 2, 3), calls=2, function="MPI_Recv", at=HERE
    )
    assert explanation.sentence(crowd) == (
        "Oversubscription: 4 ranks share 2 processors, and wait for these as well as for one another; "
        "20.0 % of the ranks' time in MPI is no wait for another rank, most in MPI_Recv at solver.c:12 "
        "(in step). What else is said may be due to that."
    )
    lost = replace(crowd, kind="descheduled", lost_ns=800_000_000, most_ns=3_000_000_000)
    assert explanation.sentence(lost) == (
        "Descheduled: something else runs on the processors of ranks 0-3, which could have run for another "
        "3.00 s; the ranks lose 20.0 % of their time by it, most in MPI_Recv at "
        "solver.c:12 (in step). What else is said may be due to that."
    )
    without_mpi = replace(lost, ranks=(), lost_ns=0, function="")
    assert explanation.sentence(without_mpi) == (
        "Descheduled: something else runs on the processors of the program, which could have run for another "
        "3.00 s, 20.0 % of the time. What else is said may be due to that."
    )


def test_there_are_ten_sentences_at_most() -> None:
    many = explained(*[finding("late sender")] * 8, traced=False, notes=("One.", "Two.", "Three."))
    assert len(explanation.sentences(many, 0)) == 10


def test_a_profile_alone_says_that_a_trace_would_tell_more() -> None:
    assert len(explanation.sentences(explained(), 0)) == 1
    assert "no trace" in explanation.sentences(explained(traced=False), 0)[-1]


def test_nothing_limits_a_program_only_if_little_of_its_time_is_in_mpi() -> None:
    going_on = Finding(kind="still running")
    assert explanation.sentences(explained(going_on), 0)[-1] == (
        "Nothing in the trace limits this program: the MPI share is 3.0 %."
    )
    much = replace(explained(going_on), mpi_share=0.15)
    assert explanation.sentences(much, 0)[-1] == (
        "Not explained: the MPI share is 15.0 %, and nothing in the trace says why."
    )
    inside = replace(finding("calls under way"), ranks=(0,), calls=1, most_ns=4e9)
    assert explanation.sentences(replace(much, findings=(going_on, inside)), 0)[1:] == [
        "Calls under way: rank 0 has been in MPI_Recv at solver.c:12 (in step) for 4.00 s; calls that have "
        "not returned yet take 25.0 % of the ranks' time (tare where shows all of them)."
    ]


def test_threads_with_even_work_that_idle_are_one_sentence() -> None:
    idle = replace(finding("idle threads"), ranks=(), here_share=0.25, threads=2, most_ns=2e9, mean_ns=2e9)
    assert "idle 25.0 % of their time, although all work for about as long in all, 2.00 s on average; it" in (
        explanation.sentence(idle)
    )
    uneven = explanation.sentence(replace(idle, most_ns=4e9, detail="1"))
    assert "idle 25.0 % of their time: thread 1 works for 4.00 s, the other for 2.00 s; it" in uneven


def test_what_measuring_polls_costs_is_no_gain() -> None:
    cost = Finding(kind="cost of measuring", share=0.323, calls=1000, here_share=0.01)
    assert explanation.sentence(cost) == (
        "Measuring took 32.3 % of the time, for 1,000 calls: the program is faster without it, most where it "
        "makes many calls."
    )
    assert explanation.sentence(replace(cost, here_share=0.998)) == (
        "Measuring took 32.3 % of the time, for 1,000 calls: the program loses less by it, as 99.8 % of "
        "these are polls that find nothing, and a rank that waits in them waits as long without measuring."
    )


def test_json_has_places_taken_apart() -> None:
    row = explanation.record(finding("late sender"), 0)
    assert (row["file"], row["line"], row["cause_line"]) == ("/src/solver.c", 12, 34)
    assert row["sentence"].startswith("Late sender: ranks 1-2 spend 25.0 %")


def test_a_gain_is_said_where_it_is_known() -> None:
    row = finding("late sender")
    assert explanation.sentence(row).endswith("of it).")
    assert explanation.sentence(replace(row, gain_ns=0)).endswith(" no faster.")
    assert explanation.sentence(replace(row, gain_ns=1_500_000_000)).endswith("up to 1.50 s less.")


def test_what_gains_nothing_is_said_last() -> None:
    slow = replace(finding("slow rank"), gain_ns=0)
    found = [finding("late sender"), slow, finding("not explained"), finding("oversubscription")]
    kinds = [each.kind for each in explain._ordered(found)]
    assert kinds == ["oversubscription", "late sender", "not explained", "slow rank"]


def test_what_is_lost_adds_up() -> None:
    found = replace(explained(replace(finding("late sender"), lost_ns=1_000_000_000)), lost_ns=1_400_000_000)
    assert explanation.sentences(replace(found, unexplained_ns=400_000_000), 0)[-1] == (
        "In all, the ranks lose 35.0 % of their time; 10.0 % is not explained."
    )


def test_what_is_lost_in_all_says_that_openmp_is_not_in_it() -> None:
    waits = replace(finding("late sender"), lost_ns=1_000_000_000)
    found = replace(explained(waits, replace(finding("idle threads"), share=0.5)), lost_ns=1_400_000_000)
    assert explanation.sentences(found, 0)[-1].startswith(
        "In all, the ranks lose 35.0 % of their time in MPI, apart from what OpenMP and files cost them;"
    )
