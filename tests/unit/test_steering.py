"""Requests of `tare monitor`."""

from __future__ import annotations

import pytest
from tare.measuring import monitoring
from tare.runs import controls


@pytest.mark.parametrize(
    ("spec", "text", "request_"),
    [
        ("100ms", "interval=300ms", "set every=3"),
        ("100ms", "every=7", "set every=7"),
        ("points", "every=2,filter=none+groups:3", "set every=2,filter=none+groups:3"),
        ("1s,only=MPI_Send", "site=a.py:3", "set only=MPI_Send,site=a.py:3"),
        ("1s,site=a.py:3,site=b.py:4", "only=x+y", "set only=x+y,site=a.py:3,site=b.py:4"),
        ("auto", "filter=none", "set filter=none"),
        ("pull", "only=*", "set only=*"),
    ],
)
def test_what_may_change_is_asked_for(spec: str, text: str, request_: str) -> None:
    assert monitoring.change(spec, text, []) == request_


@pytest.mark.parametrize(
    ("spec", "text", "why"),
    [
        ("100ms", "interval=150ms", "multiple"),
        ("100ms", "interval=10ms", "multiple"),
        ("100ms", "interval=soon", "soon"),
        ("points", "interval=1s", "every=N"),
        ("auto", "interval=1s", "auto"),
        ("points,every=auto", "every=3", "auto"),
        ("pull", "every=3", "pull"),
        ("1s", "every=0", "number of points"),
        ("1s", "every=2,interval=2s", "write one"),
        ("1s", "every=2,every=3", "twice"),
        ("1s", "policy=block", "cannot change"),
        ("1s", "fan-out=3", "cannot change"),
        ("1s", "colour=red", "none of"),
        ("1s", "filter=", "none of"),
        ("1s", "filter=magic", "filter=magic"),
        ("1s", "site=app", "site=app"),
        ("1s", "", "none of"),
    ],
)
def test_what_cannot_change_is_told(spec: str, text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        monitoring.change(spec, text, [])


def test_messages_have_the_type_of_their_value() -> None:
    assert controls.message("a.b-c_1", 3, None) == "send all integer a.b-c_1 3"
    assert controls.message("a", True, 2) == "send 2 integer a 1"
    assert controls.message("a", 1e-06, 0) == "send 0 real a 1e-06"
    assert controls.message("a", "b c=d", None) == "send all text a b c=d"
    for name, value, rank in (
        ("", 1, None),
        ("a b", 1, None),
        ("x" * 32, 1, None),
        ("ä", 1, None),
        ("a", 2**63, None),
        ("a", float("nan"), None),
        ("a", float("inf"), None),
        ("a", "x" * 65, None),
        ("a", "ä" * 33, None),
        ("a", "b\nset every=1", None),
        ("a", 1, -1),
        ("a", 1, 2**31),
    ):
        with pytest.raises(ValueError):
            controls.message(name, value, rank)
