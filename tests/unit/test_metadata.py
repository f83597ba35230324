from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from some_run import metadata
from tare.errors import CommandError
from tare.runs.metadata import RankEnd, Taken, decode, encode

WHOLE = metadata(
    ranks=[RankEnd(world=0, rank=0, host="node", pid=7, state="finished", exit_code=0, until="exit")],
    cost={"calls": 2**62, "call_ns": 25.5, "wrapper_error_ns": None},
    collected=Taken(processes=1, running=0, recovered_events=3, kept=0, messages=["a line"]),
)
TEXT = encode(WHOLE)
DEEP = b"[" * 100_000 + b"]" * 100_000


def test_what_is_written_is_read() -> None:
    assert decode(TEXT, "run", 1) == WHOLE
    assert TEXT.startswith(b'{\n "schema": "tare.meta/1",\n "format": 1,')


def test_what_is_not_known_is_left_out_or_ignored() -> None:
    kept = (
        "schema",
        "format",
        "run_id",
        "name",
        "command",
        "cwd",
        "host",
        "start_ns",
        "segment_dir",
        "state",
    )
    values = json.loads(TEXT)
    least = {key: values[key] for key in kept} | {"options": {"trace": True}, "new": {"in": ["a later tare"]}}
    read = decode(json.dumps(least).encode(), "run", 1)
    assert (read.tare, read.exit_code, read.ranks, read.environment) == (None, None, None, {})
    assert (read.options.trace, read.options.policy) == (True, "block")


def test_names_that_are_no_text_do_not_spoil_it() -> None:
    assert decode(encode(metadata(name="\udcff", command=["a\udc80"])), "run", 1).name == "?"


def failure(text: bytes) -> str:
    with pytest.raises(CommandError) as caught:
        decode(text, "RUN", 1)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "tare.meta/2", "tare": "9.0"},
         "RUN has tare.meta/2 of tare 9.0, this one reads up to tare.meta/1: install a newer tare"),
        ({"format": 2, "tare": None},
         "RUN has format 2 of tare ?, this one reads up to 1: install a newer tare"),
        ({"schema": "tare.info/1"}, "RUN/meta.json is damaged: its schema is not one of tare"),
        ({"run_id": "../../0123456789"}, "damaged: run_id is not 16 hexadecimal digits"),
        ({"run_id": "0123456789abcdef\n"}, "damaged: run_id is not 16 hexadecimal digits"),
        ({"run_id": "*" * 16}, "damaged: run_id is not 16 hexadecimal digits"),
        ({"run_key": "0"}, "damaged: run_key is not 32 hexadecimal digits"),
        ({"start_ns": 2**63}, "damaged: start_ns is 9223372036854775808"),
        ({"wall_ns": -1}, "damaged: wall_ns is -1"),
        ({"signal": 1000}, "damaged: signal is 1000"),
        ({"state": "dreaming"}, "damaged: Invalid enum value 'dreaming' - at `$.state`"),
        ({"command": "./app"}, "damaged: Expected `array`, got `str` - at `$.command`"),
        ({"options": {"buffer": "x"}}, "damaged: Expected `int | null`, got `str` - at `$.options.buffer`"),
        ({"ranks": [{}]}, "damaged: Object missing required field `world` - at `$.ranks[0]`"),
        ({"name": None}, "damaged: Expected `str`, got `null` - at `$.name`"),
    ],
)  # fmt: skip
def test_each_fault_is_named(change: dict[str, Any], message: str) -> None:
    assert failure(json.dumps(json.loads(TEXT) | change).encode()).endswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "Input data was truncated"),
        (b"[]", "Expected `object`, got `array`"),
        (b'{"a":' * 100_000, "its values lie too deep in one another"),
        (TEXT[:-2] + b',"new":' + DEEP + b"}", "its values lie too deep in one another"),
        (TEXT.replace(b"25.5", b"1e999"), "Number out of range - at `$.cost[...]`"),
    ],
    ids=["empty", "list", "deep", "deep and unknown", "number"],
)  # fmt: skip
def test_odd_json_is_one_line(text: bytes, message: str) -> None:
    assert failure(text) == f"RUN/meta.json is damaged: {message}"


def test_bytes_that_are_no_text_are_one_line() -> None:
    """The wording is that of msgspec, and differs between its versions."""
    message = failure(TEXT.replace(b"./app", b"\xff"))
    assert re.fullmatch(r"RUN/meta\.json is damaged: [^\n]*utf-8[^\n]*", message, re.IGNORECASE)


PLACES = st.integers(0, len(TEXT) - 1)


@given(st.lists(st.tuples(PLACES, st.binary(max_size=3), st.integers(0, 3)), max_size=4))
def test_whatever_is_changed_it_is_read_or_refused(changes: list[tuple[int, bytes, int]]) -> None:
    text = bytearray(TEXT)
    for at, inserted, removed in changes:
        text[at : at + removed] = inserted
    try:
        read = decode(bytes(text), "RUN", 1)
    except CommandError as error:
        assert "\n" not in str(error)
    else:
        assert decode(encode(read), "RUN", 1) == read
        assert read.run_id.isalnum()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(sorted(json.loads(TEXT))), VALUES)
def test_whatever_a_value_is_it_is_read_or_refused(key: str, value: Any) -> None:
    text = json.dumps(json.loads(TEXT) | {key: value}).encode()
    try:
        decode(text, "RUN", 1)
    except CommandError as error:
        assert "\n" not in str(error)
