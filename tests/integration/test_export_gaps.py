"""`tare export` of traces with gaps: what is matched is there, with both ends, and nothing else."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import otf2_trace
import perfetto_trace
import pyarrow as pa
import pytest
import tare as package
from environments import compile_c, openmpi4
from exporting import export
from measured import PROGRAMS, measure

# A spell in two is only counted.
HALF = "--weigh=50%"


@pytest.fixture(
    scope="module",
    params=[
        ("iterations.c", 3, "1500", "8"),
        ("iterations.c", 3, "1500", "8", "early"),
        ("patterns.c", 3, "1", "400"),
    ],
    ids=["iterations", "early", "patterns"],
)
def run(request: pytest.FixtureRequest, tare: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    name, ranks, *arguments = request.param
    folder = tmp_path_factory.mktemp("gaps")
    mpi = openmpi4()
    program = compile_c(mpi, [PROGRAMS / name], folder / "program", "-pthread")
    made = measure(tare, mpi, ranks, [program, *arguments], folder / "run", "--trace", HALF)
    assert made.ended.returncode == 0, made.ended.stderr
    assert len(made.all_events("--function", "tare:loss")) >= 3
    return folder / "run"


def matched(run: Path) -> list[dict[str, Any]]:
    """Messages with both ends, of which it is known which call has completed the receive."""
    return [
        row
        for row in pa.table(package.open(run).messages).to_pylist()
        if row["send_enter_ns"] and row["receive_enter_ns"] and is_seen_complete(row)
    ]


def is_seen_complete(row: dict[str, Any]) -> bool:
    """Receives that failed (a message that was too long) are not shown. Requests under way where a gap begins
    count as completed where they were started."""
    by_itself = row["receive_completion_enter_ns"] == row["receive_enter_ns"]
    is_received = row["receive_completion_leave_ns"] is not None and row["received_bytes"] is not None
    return is_received and not (by_itself and row["receive_function"].startswith("MPI_I"))


def written(tare: Path, run: Path, kind: str, to: Path) -> Path:
    done = export(tare, run, kind, to)
    assert done.returncode == 0
    assert done.stderr.startswith("tare: not all messages are shown: ")
    # All gaps are tare's own, also the one before the spell that the end of the program cuts short.
    assert "its messages are not matched after its first gap" not in done.stderr
    return to


def test_otf2_has_what_is_matched(run: Path, tare: Path, tmp_path: Path) -> None:
    directory = written(tare, run, "otf2", tmp_path / "out")
    trace = otf2_trace.read(directory)
    keys = ("tag", "bytes", "send_enter_ns", "receive_enter_ns", "receive_completion_leave_ns")
    expected = Counter(
        (f"rank {row['source']}", f"rank {row['destination']}", *(row[key] for key in keys))
        for row in matched(run)
    )
    assert expected
    assert (
        Counter((row["source"], row["destination"], *(row[key] for key in keys)) for row in trace.messages)
        == expected
    )
    # Nothing is sent that nobody receives, nor received that nobody sends.
    assert not trace.unsent
    assert trace.records["MpiSend"] + trace.records["MpiIsend"] == len(trace.messages)
    # Of each collective operation all members are there.
    of_all = [row["process"] for row in trace.collectives if row["communicator"] == "MPI_COMM_WORLD"]
    assert len(set(Counter(of_all).values())) <= 1
    listed = subprocess.run(
        ["otf2-print", directory / "traces.otf2"], capture_output=True, text=True, timeout=120, check=True
    )
    assert "rror" not in listed.stderr
    assert re.search(r"MPI_(I?)SEND", listed.stdout)


def test_perfetto_has_what_is_matched(run: Path, tare: Path, tmp_path: Path) -> None:
    slices = perfetto_trace.read(written(tare, run, "perfetto", tmp_path / "out"))
    sent = [flow for one in slices for flow in one.sent]
    received = [flow for one in slices for flow in one.received]
    assert len(sent) == len(set(sent)) == len(matched(run))
    assert Counter(sent) == Counter(received)
