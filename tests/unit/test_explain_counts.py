"""How many calls a finding is about, and of how many ranks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import fake_native
import pytest
from tare.analysis import profile
from tare.analysis.explain.basis import Basis
from tare.analysis.explain.calls import _senders

SITES = [fake_native.site(fake_native.frame(16, "exchange", line)) for line in (12, 13)]
# Each rank sends on a line of its own; 90 calls of both were only counted.
ROWS = [
    fake_native.row(0, "MPI_Send", 0, 4, 1000, 32),
    fake_native.row(1, "MPI_Send", 1, 6, 1000, 48),
    fake_native.row(0, "MPI_Send", -1, 40, 0, 0),
    fake_native.row(1, "MPI_Send", -1, 50, 0, 0),
    fake_native.row(0, "MPI_Barrier", 0, 3, 1000, 0),
]


def basis(*, whole: bool = False, has_counted_time: bool = True) -> Any:
    made = Basis.__new__(Basis)
    made.world = 0
    made.run = SimpleNamespace(  # type: ignore[assignment]
        has_counted_time=has_counted_time,
        rows=fake_native.Table.rows,
        sites=SITES,
        profile=lambda by, **chosen: fake_native.profile(by, rows=ROWS, sites=SITES, whole=whole, **chosen),
    )
    return made


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (basis(), {12: 40, 13: 60}),
        (basis(whole=True), {12: 40, 13: 60}),
        (basis(has_counted_time=False), {12: 4, 13: 6}),
    ],
    ids=["no estimate", "an estimate", "all measured"],
)
def test_calls_of_a_line_are_those_of_the_whole_run(of: Any, expected: dict[int, int]) -> None:
    rows = [row for row in profile.summed(of.run, ["line"]) if row.function == "MPI_Send" and row.line]
    assert {row.line: of.calls_of(row) for row in rows} == expected
    (barrier,) = (row for row in profile.summed(of.run, ["function"]) if row.function == "MPI_Barrier")
    assert of.calls_of(barrier) == 3 * (10 if barrier.whole_calls else 1)


def test_ranks_that_send_on_lines_of_their_own_are_several() -> None:
    assert _senders(basis(), {"MPI_Send"}) == 2
    assert _senders(basis(), {"MPI_Barrier"}) == 1
