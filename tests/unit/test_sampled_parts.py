"""The calls between which samples of stacks lie."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tare.analysis import sampled_parts
from tare.functions import LOSS


def test_the_calls_on_both_sides_of_a_gap_are_not_known() -> None:
    functions = ("MPI_Send", "stack_sample", LOSS, "stack_sample", "MPI_Recv", "stack_sample", "MPI_Wait")
    rows = [{"function": function, "world": 0, "rank": 0, "thread": 0} for function in functions]
    recorded: Any = SimpleNamespace(events=lambda *_: rows, sites=[])
    found = [
        tuple(call.function if call else None for call in (part.since, part.until))
        for _, part in sampled_parts._between_calls(recorded, None)
    ]
    assert found == [("MPI_Send", None), (None, "MPI_Recv"), ("MPI_Recv", "MPI_Wait")]
