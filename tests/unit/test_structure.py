"""Detected phases and loops: those of all ranks together, and as text."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import cast

import pytest
from made import made
from tare._native import DetectedPhase, Loop, Site, SlowIteration, Structure
from tare.analysis import rows, structure
from tare.analysis.explain.iterations import _is_descheduled
from tare.analysis.rows import changed
from tare.reporters import structure as reporter
from tare.reporters.console import Console
from tare.runs.run import Run

START_NS = 10**18


def site(line: int) -> Site:
    return made(Site, file="/src/solver.c", line=line, caller="step", object="/bin/app", offset=line)


SITES = [site(10), site(11), site(12)]


def slow(iteration: int, duration_ns: int, cause_rank: int = 1, descheduled_ns: int = 0) -> SlowIteration:
    return made(SlowIteration, **{
        "iteration": iteration, "start_ns": START_NS + 1_500_000_000, "duration_ns": duration_ns,
        "mpi_ns": duration_ns // 2, "cause_rank": cause_rank, "cause_function": "MPI_Send", "cause_site": 2,
        "cause_in_call": False, "cause_ns": duration_ns - 10_000_000, "cause_blocked_ns": 0,
        "cause_descheduled_ns": descheduled_ns,
    })  # fmt: skip


def loop(rank: int, site: int, iterations: int, *slowest: SlowIteration) -> Loop:
    return made(Loop, **{
        "world": 0, "rank": rank, "number": 1, "function": "MPI_Recv", "site": site, "iterations": iterations,
        "median_ns": 10_000_000 + rank, "longest_ns": 90_000_000 + rank, "slow_iterations": len(slowest),
        "beyond_ns": 0, "slow": list(slowest),
    })  # fmt: skip


def phase(number: int, name: str, *, outside_calls: bool = False) -> DetectedPhase:
    return made(DetectedPhase, **{
        "world": 0, "number": number, "phase": name, "start_ns": START_NS + number * 10**9,
        "end_ns": START_NS + (number + 1) * 10**9, "mpi_share": 0.25, "function": "MPI_Recv", "site": 0,
        "outside_calls": outside_calls, "line_share": 0.5,
    })  # fmt: skip


def recorded(*loops: Loop) -> Run:
    phases = [phase(0, "A", outside_calls=True), phase(1, "B")]
    found = made(Structure, phases=phases, loops=list(loops))
    return cast("Run", SimpleNamespace(structure=found, sites=SITES))


def test_ranks_with_one_line_have_one_loop() -> None:
    run = recorded(loop(0, 1, 20), loop(1, 0, 30), loop(2, 0, 31))
    first, second = structure.phases(run)
    assert first.loops == ()
    assert [(each.ranks, each.line, each.iterations) for each in second.loops] == [
        ((1, 2), 10, 31),
        ((0,), 11, 20),
    ]
    assert second.loops[0].longest_ns == 90_000_002


def test_an_iteration_is_listed_on_the_rank_on_which_it_takes_longest() -> None:
    run = recorded(
        loop(0, 0, 20, slow(3, 50_000_000), slow(7, 90_000_000)), loop(1, 0, 20, slow(3, 60_000_000))
    )
    (found,) = structure.phases(run)[1].loops
    assert [(each.iteration, each.rank, each.duration_ns) for each in found.slowest] == [
        (7, 0, 90_000_000),
        (3, 1, 60_000_000),
    ]


def test_where_the_trace_has_gaps_iterations_correspond_by_time() -> None:
    long = slow(7, 50_000_000)
    beside = changed(slow(4, 40_000_000), start_ns=long.start_ns + 1_000_000)
    later = changed(slow(7, 30_000_000), start_ns=long.start_ns + 60_000_000)
    loops = (
        changed(loop(0, 0, 20, long), has_gaps=True),
        changed(loop(1, 0, 15, beside, later), has_gaps=True),
    )
    (found,) = structure.phases(recorded(*loops))[1].loops
    assert [(each.iteration, each.rank) for each in found.slowest] == [(7, 0), (7, 1)]


def test_few_of_the_slowest_are_listed() -> None:
    run = recorded(loop(0, 0, 80, *(slow(number, 50_000_000 + number) for number in range(8))))
    (found,) = structure.phases(run)[1].loops
    assert [each.iteration for each in found.slowest] == [7, 6, 5, 4, 3]
    assert found.slow_iterations == 8


def test_json_takes_places_apart() -> None:
    row = rows.flat(structure.phases(recorded(loop(0, 0, 20, slow(7, 90_000_000))))[1])
    assert (row["phase"], row["line"], row["duration_ns"]) == ("B", 10, 10**9)
    assert row["loops"][0]["ranks"] == [0]
    slowest = row["loops"][0]["slowest"][0]
    assert (slowest["cause_line"], slowest["cause_file"]) == (12, "/src/solver.c")


def test_text_says_why_an_iteration_is_slow() -> None:
    out = io.StringIO()
    rows = structure.phases(recorded(loop(0, 0, 20, slow(7, 90_000_000)), loop(1, 0, 20)))
    reporter.show(Console(out, 200), rows, START_NS, is_traced=True)
    said = out.getvalue()
    assert "outside MPI before MPI_Recv at solver.c:10" in said
    begin = "from one call of MPI_Recv at solver.c:10 to the next"
    assert f"Phase B (1): 20 iterations of ranks 0-1, {begin}" in said
    cause = "80.0 ms longer than usual outside MPI before MPI_Send at solver.c:12, on rank 1."
    assert f"Iteration 7 at 1.500 s takes 90.0 ms on rank 0: {cause}" in said


@pytest.mark.parametrize(
    ("is_traced", "said"), [(False, "this run has no trace"), (True, "the trace has no calls of MPI")]
)
def test_no_phases_have_a_reason(is_traced: bool, said: str) -> None:
    out = io.StringIO()
    reporter.show(Console(out, 200), [], START_NS, is_traced=is_traced)
    assert said in out.getvalue()


@pytest.mark.parametrize(("descheduled_ns", "is_told"), [(59_000_000, True), (61_000_000, False)])
def test_what_is_long_without_a_processor_is_no_slow_iteration(descheduled_ns: int, is_told: bool) -> None:
    """They take 80 and 40 ms longer; half of that is the limit."""
    of = loop(0, 0, 20, slow(3, 90_000_000), slow(7, 50_000_000, descheduled_ns=descheduled_ns))
    assert _is_descheduled(of) != is_told
