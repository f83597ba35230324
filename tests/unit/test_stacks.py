"""What samples of stacks say, of samples that are made up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tare.analysis import stacks
from tare.analysis.explain.finding import Finding
from tare.reporters import explanation

MS = 1_000_000


def frame(caller: str, file: str = "app.c") -> SimpleNamespace:
    return SimpleNamespace(caller=caller, file=file, object="/bin/app", line=1)


def sample(rank: int, site: int, number: int, caller: str | None = None, **fields: Any) -> SimpleNamespace:
    """So many samples of 10 ms each."""
    known = {"world": 0, "thread": 0, "activity": "program"}
    of = {"rank": rank, "site": site, "samples": number, "time_ns": 10 * MS * number, "caller": caller}
    return SimpleNamespace(**(known | of | fields))


def run_of(rows: list[SimpleNamespace], sites: list[SimpleNamespace], ranks: int = 2) -> Any:
    processes = [SimpleNamespace(world=0, rank=rank, has_results=True) for rank in range(ranks)]
    return SimpleNamespace(
        stack_samples=rows,
        rows=lambda table: table if isinstance(table, list) else [],
        sites=sites,
        processes=processes,
        profile=lambda *_, **__: [],
    )


SITES = [
    SimpleNamespace(path=[frame("sqrt", "math.c"), frame("smooth"), frame("main")]),
    SimpleNamespace(path=[frame("inner (inlined in smooth)"), frame("main")]),
    SimpleNamespace(path=[frame("walk"), frame("walk"), frame("main")]),
]


def test_time_in_a_function_itself_and_with_what_it_calls() -> None:
    rows = [
        sample(0, 0, 10),
        sample(1, 0, 30),
        sample(1, 1, 20),
        sample(1, 2, 5),
        sample(1, 0, 7, activity="call"),
    ]
    found = {each.function: each for each in stacks.by_function(run_of(rows, SITES))}
    assert found["sqrt"].time_ns == found["sqrt"].with_callees_ns == 400 * MS
    assert (found["smooth"].time_ns, found["smooth"].with_callees_ns) == (0, 600 * MS)
    assert found["main"].with_callees_ns == 650 * MS
    assert found["walk"].with_callees_ns == 50 * MS  # once, though it calls itself
    assert found["inner (inlined in smooth)"].time_ns == 200 * MS
    assert (found["sqrt"].rank_mean_ns, found["sqrt"].rank_max_ns, found["sqrt"].rank_max) == (
        200 * MS,
        300 * MS,
        1,
    )
    # 40 of 72 samples: 1.96 sqrt(40 (1 - 40 / 72)) of 10 ms each.
    assert found["sqrt"].error_ns == pytest.approx(82.64 * MS, rel=1e-3)


def test_samples_of_unknown_places_have_no_function() -> None:
    (found,) = stacks.by_function(run_of([sample(0, None, 3)], SITES))  # type: ignore[arg-type]
    assert (found.function, found.time_ns) == (stacks.UNKNOWN, 30 * MS)


def test_the_function_in_which_a_rank_computes_longer() -> None:
    rows = [
        sample(0, 0, 50, "smooth"),
        sample(1, 0, 250, "smooth"),
        sample(0, 2, 40, "walk"),
        sample(1, 2, 42, "walk"),
    ]
    found = stacks.more_than_others(run_of(rows, SITES), 0, 1)
    assert found == stacks.More("smooth", 2_000 * MS)
    # The other one spends less there; two samples more in `walk` are chance; and a rank alone has no others.
    assert stacks.more_than_others(run_of(rows, SITES), 0, 0) is None
    assert stacks.more_than_others(run_of(rows[2:], SITES), 0, 1) is None
    assert stacks.more_than_others(run_of(rows, SITES, ranks=1), 0, 1) is None
    assert stacks.more_than_others(run_of([], SITES), 0, 1) is None


def test_several_functions_of_which_none_explains_half_are_not_told() -> None:
    names = ("a", "b", "c")
    rows = [sample(1, 0, 100, name) for name in names] + [sample(0, 0, 10, name) for name in names]
    assert stacks.more_than_others(run_of(rows, SITES), 0, 1) is None


def test_a_finding_says_where_its_cause_computes() -> None:
    found = Finding(
        kind="late sender",
        share=0.5,
        time_ns=100,
        ranks=(0,),
        function="MPI_Recv",
        cause_rank=1,
        cause_share=1.0,
        cause_function="MPI_Send",
        cause_code="smooth\x1b",
        cause_code_ns=2_000 * MS,
    )
    said = explanation.sentence(found)
    assert "rank 1 computes longer before MPI_Send" in said
    assert said.endswith(
        "By samples of the stacks, rank 1 spends 2.00 s more in smooth\\x1b than the others on average."
    )
