"""The sentence on time between polls: it counts as computing, but ranks may sleep there until others come."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tare.analysis.explain import calls

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
