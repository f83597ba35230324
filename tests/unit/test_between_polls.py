"""The sentence on time between polls: it counts as computing, but ranks may sleep there until others come."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tare.analysis.explain import calls, computing

MS = 1_000_000


def basis(is_traced: bool, function: str, time_ms: int, blocked_ms: int, polls: int) -> Any:
    return SimpleNamespace(
        is_traced=is_traced,
        outside=[SimpleNamespace(function=function, time_ns=time_ms * MS)],
        lines=[SimpleNamespace(function=function, calls=polls)],
        processes=[SimpleNamespace(scheduling=SimpleNamespace(blocked_outside_ns=blocked_ms * MS))],
        share=lambda time_ns: time_ns / (1000 * MS),
    )


@pytest.mark.parametrize(
    ("of", "begins"),
    [
        (basis(True, "MPI_Test", 200, 0, 300), "20.0 % of the ranks' time is between polls"),
        (basis(True, "MPI_Test", 40, 400, 300), ""),
        (basis(True, "MPI_Send", 200, 200, 300), ""),
        (basis(False, "MPI_Iprobe", 0, 300, 300), "30.0 % of the ranks' time is blocked"),
        (basis(False, "MPI_Iprobe", 0, 300, 99), ""),
        (basis(False, "MPI_Iprobe", 0, 140, 300), ""),
        (basis(False, "MPI_Send", 0, 300, 300), ""),
    ],
)
def test_much_time_between_polls_is_told(of: Any, begins: str) -> None:
    said = calls.between_polls(of)
    assert said.startswith(begins) and bool(said) == bool(begins)


@pytest.mark.parametrize(
    ("function", "polls", "messages", "part"),
    [
        ("MPI_Test", 900, 10, 0.9), ("MPI_Test", 900, 100, 0.0), ("MPI_Send", 900, 10, 0.0),
        ("MPI_Test", 99, 1, 0.0), ("MPI_Iprobe", 2000, 0, 1.0),
    ],
)  # fmt: skip
def test_of_the_cost_of_measuring_polls_in_vain_are_told_apart(
    function: str, polls: int, messages: int, part: float
) -> None:
    of = basis(False, function, 0, 0, polls)
    of.exchange = SimpleNamespace(messages=messages)
    cost = SimpleNamespace(net_share=0.2, calls=1000)
    of.run, of.world, of.total_ns = SimpleNamespace(total_cost=lambda _: cost), 0, 1000
    (found,) = computing.cost_of_measuring(of, SimpleNamespace())  # type: ignore[arg-type]
    assert (found.share, found.time_ns, found.here_share) == (0.2, 200, part)
