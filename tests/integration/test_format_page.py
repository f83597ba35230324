"""docs/format.md, to the byte: a reader made from the page alone finds what tare's own reader finds."""

from __future__ import annotations

import struct
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import tare as tare_package
from environments import PYTHON, ROOT, MpiEnvironment, compile_c
from format_page import ABSENT, Process, Row, Values, read
from measured import PROGRAMS, measure
from on_mpi import on_openmpi
from tare.analysis.events import described

STENCIL = ROOT / "tests" / "data" / "v1" / "stencil"


def test_a_stored_trace() -> None:
    assert_same(STENCIL)


@on_openmpi
def test_requests_that_are_started_together(mpi: MpiEnvironment, tare: Path, tmp_path: Path) -> None:
    program = compile_c(mpi, [PROGRAMS / "persistent.c"], tmp_path / "persistent")
    measured = measure(tare, mpi, 2, [program, "200"], tmp_path / "run", "--trace", "--buffer", "16K")
    assert any(len(row.started) > 1 for row in assert_same(measured.directory))


@pytest.mark.parametrize("policy", ["block", "drop"])
def test_events_of_the_program(policy: str, tare: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    options = ["--quiet", "--trace", "--buffer", "8K", "--policy", policy]
    program = [str(PYTHON), str(PROGRAMS / "api_calls.py")]
    subprocess.run([tare, "run", *options, "-o", run, "--", *program], check=True, timeout=60)
    assert {type(row.content) for row in assert_same(run)} >= {list, bytes}


def assert_same(run: Path) -> list[Row]:
    """Returns the rows."""
    (file,) = run.glob("*.tare")
    recording = tare_package.open(run)
    found: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    events = recording.events(None, None, None, None, 0)
    for same in described(events, recording.sites, recording.communicators, recording.scopes):
        found[same["rank"], same["thread"]].append(same)
    rows: list[Row] = []
    for process in read(file.read_bytes()):
        by_thread: dict[int, list[Row]] = defaultdict(list)
        for row in process.rows:
            by_thread[row.thread].append(row)
        for thread, of_page in by_thread.items():
            of_page.sort(key=lambda row: row.enter)
            rows += of_page
            of_tare = found.pop((process.rank, thread))
            assert len(of_page) == len(of_tare)
            for row, same in zip(of_page, of_tare, strict=True):
                assert_same_row(process, row, same)
    assert not found
    return rows


def assert_same_row(process: Process, row: Row, same: dict[str, Any]) -> None:
    """`same` is as in docs/json.md."""
    assert abs(process.unix_ns(row.enter) - same["start_ns"]) <= 1
    if row.type:
        assert_same_event(row, same)
        return
    has_rate = (
        process.pairs[-1][1] - process.pairs[0][1] >= 50_000_000
    )  # else tare has read the clock once more
    if not row.function:
        assert same["function"] in ("tare:flush", "tare:loss")
        if has_rate:
            ends = process.unix_ns(row.leave) - process.unix_ns(row.enter)
            assert abs(ends - same["duration_ns"]) <= 1
        return
    if has_rate:
        assert abs(process.duration_ns(row.leave - row.enter) - same["duration_ns"]) <= 1
    assert row.function == same["function"]
    requests = row.started + row.completed
    if row.values["communicator"]:
        assert process.communicators[row.values["communicator"]] == same["communicator"]
    received = [values["bytes"] for _, values in row.completed if values["bytes"] >= 0]
    own = [row.values["bytes"]] if row.values["bytes"] >= 0 else []
    assert same.get("bytes") == (sum(received + own) if received or own else None)
    for name in ("received", "source", "source_tag"):
        assert same.get(name) == there(row.values, name)
    if len(requests) == 1 and "requests" not in same:
        number, values = requests[0]
        assert same["request"] == number
        message = values if values and row.values["tag"] == ABSENT["tag"] else row.values
        assert same.get("tag") == there(message, "tag")
    else:
        assert same.get("tag") == there(row.values, "tag")
        assert same.get("peer", same.get("root")) == there(row.values, "peer")
        assert [(of["request"], of.get("tag"), of.get("bytes")) for of in same.get("requests", [])] == [
            (number, there(values, "tag"), there(values, "bytes")) for number, values in requests
        ]


def there(values: Values, name: str) -> int | None:
    return None if values[name] == ABSENT[name] else values[name]


def assert_same_event(row: Row, same: dict[str, Any]) -> None:
    assert row.type == same["name"]
    if same["kind"] == "raw":
        assert isinstance(row.content, bytes)
        assert row.content.decode(errors="backslashreplace") == same["text"]
    elif same["kind"] in ("region", "phase"):
        assert row.content == [int(same["begin"])]
    elif same["kind"] == "counter":
        assert isinstance(row.content, list)
        (value,) = struct.unpack("<d", struct.pack("<Q", *row.content))
        assert same["value"] in (value, None)
    elif same["kind"] == "packed":
        assert row.content == same["parameters"]
    elif same["name"] == "step":
        assert isinstance(row.content, list)
        assert struct.unpack("<qQd", struct.pack("<3Q", *row.content)) == tuple(same["parameters"])
